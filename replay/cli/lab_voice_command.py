"""``trialtape lab voice``: how a voice agent takes turns."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from typing import Any

import click
from rich.progress import track

from replay.home import Home
from replay.report.voice_text import voice_lines, voice_table
from replay.voice.panel import voice_of

from .options import json_option
from .output import console, echo_json, messages, say

__all__ = ["command"]


@click.command("voice")
@click.argument("run", metavar="RUN")
@json_option
@click.pass_obj
def command(
    home: str | None,
    run: str,
    as_json: bool,  # noqa: FBT001  # click's way
) -> None:
    """Tell how the agent of RUN takes turns in recorded voice conversations: latencies, interruptions, selectivity.

    The measures are those of tau2-bench's voice panel, from the ticks of imported simulations.
    """

    def shown(trials: Sequence[Any]) -> Iterable[Any]:
        quiet = as_json or not sys.stderr.isatty()
        return track(trials, description=run, console=messages(), transient=True, disable=quiet)

    found = voice_of(Home.find(home), run, shown)
    if as_json:
        echo_json(found.to_dict())
    else:
        out = console()
        out.print(voice_table(found))
        out.print()
        for line in voice_lines(found):
            say(out, line)
    if found.unknown:
        sys.exit(1)
