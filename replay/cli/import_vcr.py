"""``trialtape import vcr``."""

from __future__ import annotations

import shlex
from pathlib import Path

import click

from cassettes.model import TrialId
from replay.home import Home
from replay.importers.vcr import import_vcr

from .options import json_option
from .output import echo_json, messages

__all__ = ["command"]


@click.command("vcr")
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--run", "name", default="vcr", show_default=True, metavar="NAME", help="The run's name.")
@click.option("--task", metavar="NAME", help="The task's id (default: the file's name without its ending).")
@json_option
@click.pass_obj
def command(home: str | None, file: Path, name: str, task: str | None, as_json: bool) -> None:  # noqa: FBT001  # click's
    """Import a cassette of vcrpy: its exchanges as one trial."""
    trial = TrialId(name, task or file.stem, 0)
    done, interactions = import_vcr(Home.find(home), trial, file)
    models = sum(interaction.call.kind == "model" for interaction in interactions)
    if as_json:
        echo_json({"trial": str(trial), "done": done, "interactions": len(interactions), "model": models})
    say = messages()
    if done == "kept":
        say.print(f"{trial}: already imported", markup=False)
        return
    say.print(f"{trial}: {len(interactions)} exchanges, {models} of them model calls", markup=False)
    say.print(f"  next: trialtape show {shlex.quote(str(trial))}", markup=False)
