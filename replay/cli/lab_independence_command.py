"""``trialtape lab independence``: what the trials of a run show of each other."""

from __future__ import annotations

import sys

import click

from cassettes.errors import BadInput
from replay.home import Home
from replay.leakfile import check_independence, told
from replay.runs import load_run

from .options import json_option
from .output import console, echo_json, say

__all__ = ["command"]


@click.command("independence")
@click.argument("run", metavar="RUN")
@json_option
@click.pass_obj
def command(home: str | None, run: str, as_json: bool) -> None:  # noqa: FBT001  # click's way
    """Look through the trials of RUN for what one shows of another, and keep what is found beside the run.

    Looked for are: another initial state, an answer of the model that an earlier trial got too, a conversation that
    goes on from another trial, a memory carried over, and reads that answer what another trial wrote. `stats` tells it
    beside every number. Exit code 1 if something is found.
    """
    place = Home.find(home)
    load_run(place, run)
    found = check_independence(place, run)
    if not found.trials:
        raise BadInput(f"run {run!r} has no trial yet")
    if as_json:
        echo_json({"run": run, "trials": len(found.trials), "leaks": [leak.to_dict() for leak in found.leaks]})
    else:
        out = console()
        for line in told(found.leaks, most=len(found.leaks)):
            say(out, line)
        say(out, f"{run}: {len(found.broken)} of {len(found.trials)} trials show something of another")
    if found.leaks:
        sys.exit(1)
