"""``trialtape import taubench``."""

from __future__ import annotations

from pathlib import Path

import click

from replay.effects import Effects
from replay.importers.taubench import read_results

from .importing import effects_option, import_and_tell, run_option
from .options import json_option

__all__ = ["command"]


@click.command("taubench")
@click.argument("file", type=click.Path(path_type=Path))
@run_option
@effects_option
@json_option
@click.pass_obj
def command(home: str | None, file: Path, name: str, effects: Effects, as_json: bool) -> None:  # noqa: FBT001  # click's way
    """Import a results file of tau-bench: one cassette per trial, its reward as the run's primary score.

    Records that are broken or ambiguous are told one by one; those that cannot be imported make the exit code 1.
    """
    import_and_tell(home, name, file, read_results(file, effects).findings, as_json=as_json)
