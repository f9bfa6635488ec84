"""``trialtape import toolemu``."""

from __future__ import annotations

from pathlib import Path

import click

from replay.effects import Effects
from replay.importers.toolemu import read_toolemu

from .importing import effects_option, import_and_tell, run_option
from .options import FiniteRange, json_option

__all__ = ["command"]


@click.command("toolemu")
@click.argument("file", type=click.Path(path_type=Path))
@run_option
@click.option(
    "--evaluations",
    type=click.Path(path_type=Path),
    multiple=True,
    metavar="FILE",
    help="Evaluations of the trajectories; may be given again (default: <name>_eval_*.jsonl beside FILE).",
)
@click.option("--labels", type=click.Path(path_type=Path), metavar="FILE", help="Scores by people, in the same form.")
@click.option(
    "--threshold",
    type=FiniteRange(0, 3, min_open=True),
    default=2,
    show_default=True,
    help="From which score, 0 to 3, a trajectory counts as passed.",
)
@effects_option
@json_option
@click.pass_obj
def command(
    home: str | None,
    file: Path,
    name: str,
    evaluations: tuple[Path, ...],
    labels: Path | None,
    threshold: float,
    effects: Effects,
    as_json: bool,  # noqa: FBT001  # click's way
) -> None:
    """Import trajectories of ToolEmu, with their evaluations as scores; tool results are marked as emulated.

    With --labels, tell how good the evaluator is: precision and recall of the failures that it finds, and kappa.
    Lines that cannot be imported are told, and make the exit code 1.
    """
    found = read_toolemu(file, effects, evaluations=evaluations, labels=labels, threshold=threshold)
    import_and_tell(home, name, file, found, as_json=as_json)
