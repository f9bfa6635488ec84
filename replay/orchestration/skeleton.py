"""A suite to begin with: it works as it is, and is there to be changed."""

from __future__ import annotations

from importlib import resources
from pathlib import Path

from cassettes.errors import BadInput
from replay.home import writing

__all__ = ["write_suite"]


def write_suite(path: Path) -> tuple[Path, Path, Path]:
    """Write a suite, and beside it the file of its tasks and a stand-in for a model.

    Args:
        path: of the suite; a Python file.

    Raises:
        BadInput: it is no Python file, or its name is none that Python can import; one of the three is there already,
            and nothing was written.
        RecordingFailed: the folder cannot be written.
    """
    if path.suffix != ".py" or not path.stem.isidentifier():
        raise BadInput(f"{path} is no Python module; the suite needs a name such as suite.py")
    tasks = path.with_name(f"{path.stem}_tasks.yaml")
    stand_in = path.with_name(f"{path.stem}_standin.py")
    for file in (path, tasks, stand_in):
        if file.exists():
            raise BadInput(f"{file} exists already; nothing was written")
    suite = _template("suite.py.txt").replace("@TASKS@", tasks.name).replace("@STANDIN@", stand_in.stem)
    with writing(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        for file, text in ((tasks, _template("tasks.yaml")), (stand_in, _template("standin.py.txt")), (path, suite)):
            with file.open("x", encoding="utf-8") as new:
                new.write(text)
    return path, tasks, stand_in


def _template(name: str) -> str:
    return resources.files(__package__).joinpath("starter", name).read_text(encoding="utf-8")
