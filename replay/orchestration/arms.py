"""An arm of an A/B run: one file of TOML that says in what its agent differs from the suite's own.

Every key may be left out::

    run = "prompt-b"                  # the run's name; else that of the file
    agent = "agents/short.py:agent"   # another agent
    policy = "frozen.toml"            # as of --policy

    [settings]                        # as of the suite, of which they replace some
    model = "gpt-5-mini"
    temperature = 0.2

    [files]                           # settings whose value is the text of a file
    prompt = "prompts/short.md"

    [env]                             # of a program: environment variables
    MODEL = "gpt-5-mini"

Files are found from the place where the arm's file lies.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Final

from attrs import evolve, field, frozen

from cassettes.errors import BadInput
from replay.processes.commands import Command
from replay.toml_files import read_toml

from .loading import load_agent, load_name
from .suite import Suite
from .variant import Variant

__all__ = ["Arm", "refuse_shadowed", "suite_of_arm", "variant_of_arm"]

_KEYS: Final = ("run", "agent", "policy", "settings", "files", "env")
_TEXTS: Final = ("run", "agent", "policy")
_TABLES: Final = ("settings", "files", "env")


@frozen
class Arm:
    """What an arm says.

    Attributes:
        file: that says it, for errors.
        run: the name of its run.
        agent: ``FILE.py:NAME`` of its agent; None for the suite's.
        policy: the file of its policy, if it has one of its own.
        settings: which replace those of the suite.
        env: environment variables of a program.
    """

    file: Path
    run: str
    agent: str | None = None
    policy: Path | None = None
    settings: Mapping[str, Any] = field(factory=dict)
    env: Mapping[str, str] = field(factory=dict)

    @classmethod
    def read(cls, place: str | Path) -> Arm:
        """The arm in a file.

        Raises:
            BadInput: there is no such file, or it says what cannot be understood; file and key are named.
        """
        path = Path(place)
        document = read_toml(path, 'keys such as run = "prompt-b", or a table [settings]')
        _check_shape(document, path)
        texts = {name: text for name, text in document.get("env", {}).items() if not isinstance(text, str)}
        if texts:
            raise BadInput(f"{path}: [env] {next(iter(texts))}: an environment variable is a text, in quotes")
        files = {name: _text_in(path, name, file) for name, file in document.get("files", {}).items()}
        twice = [name for name in files if name in document.get("settings", {})]
        if twice:
            raise BadInput(f"{path}: {twice[0]!r} stands in [settings] and in [files]; leave it out of one of them")
        return cls(
            file=path,
            run=document.get("run", path.stem),
            agent=None if "agent" not in document else str(path.parent / document["agent"]),
            policy=None if "policy" not in document else path.parent / document["policy"],
            settings={**document.get("settings", {}), **files},
            env=document.get("env", {}),
        )


def suite_of_arm(suite: Suite, arm: Arm) -> Suite:
    """The suite with the arm's agent.

    Raises:
        BadInput: there is no such agent, or the suite's is a program, which an arm cannot exchange.
    """
    if arm.agent is None:
        return suite
    if isinstance(suite.agent, Command):
        raise BadInput(f"{arm.file}: agent goes with a suite; here the agent is the program behind --")
    return evolve(suite, agent=load_agent(arm.agent))


def variant_of_arm(suite: Suite, arm: Arm) -> Variant:
    """What the arm's agent is given.

    Raises:
        BadInput: the suite has no such setting, or one of another kind; or the arm says what this agent is not given.
    """
    if isinstance(suite.agent, Command):
        if arm.settings:
            raise BadInput(f"{arm.file}: a program is given [env]; it has no trial to read [settings] or [files] from")
        return Variant(env=arm.env)
    if arm.env:
        raise BadInput(
            f"{arm.file}: [env] goes with a program behind --: both arms of a suite run in one process, which has one "
            "environment. Read what differs as trial.settings, and say it in [settings]"
        )
    for name, value in arm.settings.items():
        _check_setting(suite.settings, name, value, arm.file)
    try:
        return Variant({**suite.settings, **arm.settings}, agent=arm.agent)
    except BadInput as error:
        raise BadInput(f"{arm.file}: {error}") from error


def refuse_shadowed(suite: Suite, arms: Sequence[Arm], origin: str | None) -> None:
    """See that no arm's agent would import a module of the other's: Python has one of each name in a process.

    Args:
        suite: whose agent an arm has that names none.
        arms: two.
        origin: where the suite was loaded from.

    Raises:
        BadInput: the folders of both agents hold modules of the same name.
    """
    if isinstance(suite.agent, Command) or origin is None:
        return
    files = [load_name(arm.agent or origin)[0].resolve() for arm in arms]
    folders = [_import_folder(file) for file in files]
    if folders[0] == folders[1]:
        return
    shared = _modules(folders[0], files[0]) & _modules(folders[1], files[1])
    if shared:
        raise BadInput(
            f"the agents of {arms[0].file} and {arms[1].file} lie in {folders[0]} and {folders[1]}, which both hold a "
            f"module {min(shared)!r}; in one process one of them would stand for both. Give the modules other names, "
            "or run the agents as programs behind --"
        )


def _import_folder(file: Path) -> Path:
    """Where the imports of a file are found from: above the packages that it lies in."""
    folder = file.parent
    while (folder / "__init__.py").exists():
        folder = folder.parent
    return folder


def _modules(folder: Path, but: Path) -> set[str]:
    """The names that can be imported from a folder, less that of one file, which is loaded by its place."""
    files = {path.stem for path in folder.glob("*.py") if path != but}
    return files | {path.parent.name for path in folder.glob("*/__init__.py")}


def _check_shape(document: Mapping[str, Any], path: Path) -> None:
    for key, value in document.items():
        if key not in _KEYS:
            raise BadInput(f"{path}: unknown key {key!r}; {_near(key, _KEYS)}There are {', '.join(_KEYS)}")
        if key in _TEXTS and not (isinstance(value, str) and value):
            raise BadInput(f"{path}: {key} is a text, not {value!r}")
        if key in _TABLES and not isinstance(value, dict):
            raise BadInput(f"{path}: {key} is a table, such as [{key}], not {value!r}")


def _text_in(path: Path, name: str, file: Any) -> str:
    if not isinstance(file, str):
        raise BadInput(f"{path}: [files] {name} is the name of a file, in quotes, not {file!r}")
    try:
        return (path.parent / file).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(f"{path}: [files] {name}: {path.parent / file} cannot be read: {error}") from error


def _check_setting(known: Mapping[str, Any], name: str, value: Any, file: Path) -> None:
    if name not in known:
        there = f"It has {', '.join(known)}" if known else "It has none: tt.Suite(..., settings={...}) names them"
        raise BadInput(f"{file}: the suite has no setting {name!r}; {_near(name, known)}{there}")
    wanted, given = _kind(known[name]), _kind(value)
    if wanted not in {given, "nothing"}:
        raise BadInput(f"{file}: the setting {name!r} is {wanted} in the suite, and {given} here: {value!r}")


def _near(name: str, known: Iterable[str]) -> str:
    close = get_close_matches(name, list(known), n=1)
    return f"did you mean {close[0]!r}? " if close else ""


def _kind(value: Any) -> str:
    match value:
        case None:
            return "nothing"
        case bool():
            return "true or false"
        case int() | float():
            return "a number"
        case str():
            return "a text"
        case list():
            return "a list"
        case _:
            return "a map"
