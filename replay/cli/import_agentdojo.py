"""``trialtape import agentdojo``."""

from __future__ import annotations

from pathlib import Path

import click

from replay.effects import Effects
from replay.importers.agentdojo import read_agentdojo

from .importing import effects_option, import_and_tell, run_option
from .options import json_option

__all__ = ["command"]


@click.command("agentdojo")
@click.argument("paths", metavar="PATH...", nargs=-1, required=True, type=click.Path(path_type=Path))
@run_option
@click.option("--pipeline", metavar="NAME", help="Which pipeline; needed if there are logs of several.")
@effects_option
@json_option
@click.pass_obj
def command(
    home: str | None,
    paths: tuple[Path, ...],
    name: str,
    pipeline: str | None,
    effects: Effects,
    as_json: bool,  # noqa: FBT001  # click's way
) -> None:
    """Import logs of AgentDojo: a runs folder, a part of one, or single logs; several PATHs are repetitions.

    Utility is the run's primary score; attack_success is 1 where the attack succeeded, and nothing where there was none
    or the provider failed. Files that are no logs are told, and make the exit code 1.
    """
    import_and_tell(home, name, paths[0], read_agentdojo(paths, effects, pipeline), as_json=as_json)
