"""``trialtape import tau2``."""

from __future__ import annotations

from pathlib import Path

import click

from replay.effects import Effects
from replay.importers.tau2 import read_tau2

from .importing import effects_option, import_and_tell, run_option
from .options import json_option

__all__ = ["command"]


@click.command("tau2")
@click.argument("path", type=click.Path(path_type=Path))
@run_option
@click.option("--notes", type=click.Path(path_type=Path), metavar="FILE", help="Notes on the simulations, as labels.")
@effects_option
@json_option
@click.pass_obj
def command(
    home: str | None,
    path: Path,
    name: str,
    notes: Path | None,
    effects: Effects,
    as_json: bool,  # noqa: FBT001  # click's way
) -> None:
    """Import results of tau2-bench: results.json, or the folder that holds it with its simulations.

    The reward is the run's primary score, and each of its components a score of its own; reviews and notes are labels.
    Simulations that cannot be imported are told, and make the exit code 1.
    """
    import_and_tell(home, name, path, read_tau2(path, effects, notes), as_json=as_json)
