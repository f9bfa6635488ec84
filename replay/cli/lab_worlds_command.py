"""``trialtape lab worlds``: how much of a run its recordings can answer."""

from __future__ import annotations

import sys
from collections.abc import Iterable

import click
from rich.progress import track
from rich.table import Table

from cassettes.errors import BadInput
from replay.effects import read_effects
from replay.home import Home
from replay.leave_one_out import Coverage, TrialCoverage
from replay.leave_one_out import leave_one_out as covered_by_others
from replay.recording import Recording
from replay.sources import recordings_of

from .options import json_option
from .output import console, echo_json, messages, say

__all__ = ["command"]

_MOST_LACKING = 8


@click.command("worlds")
@click.argument("run", metavar="RUN")
@click.option(
    "--leave-one-out", is_flag=True, required=True, help="Each trial against the others of its task, all tools frozen."
)
@click.option("--effects", metavar="FILE", help="What tools do, declared in a file; none forgets what they declare.")
@json_option
@click.pass_obj
def command(
    home: str | None,
    run: str,
    effects: str | None,
    *,
    leave_one_out: bool,  # noqa: ARG001  # the only way to ask so far, and it must be asked for
    as_json: bool,
) -> None:
    """Tell how many calls of RUN its other recordings would have answered, by task, and of trials that write.

    So you know before you freeze what a frozen run can answer, and which tools lack recordings or a declared effect.
    """
    tasks = recordings_of(Home.find(home), run, read_effects(effects))
    alone = [task for task, recordings in tasks.items() if len(recordings) == 1]
    if len(alone) == len(tasks):
        raise BadInput(f"every task of run {run!r} has one finished trial only: there is no other to answer for it")
    shown = track(
        tasks.items(), description=run, console=messages(), transient=True, disable=as_json or not sys.stderr.isatty()
    )
    found = Coverage(tuple(trial for _, recordings in shown for trial in _covered(recordings)))
    if as_json:
        document = {"run": run, **found.to_dict(), "alone": alone}
        echo_json({**document, "tasks": {task: coverage.to_dict() for task, coverage in found.by_task()}})
        return
    _tell(run, found, alone)


def _covered(recordings: list[Recording]) -> Iterable[TrialCoverage]:
    return covered_by_others(recordings) if len(recordings) > 1 else ()


def _tell(run: str, found: Coverage, alone: list[str]) -> None:
    out = console()
    total = found.to_dict()
    say(
        out,
        f"{run}: of {total['calls']} calls {total['exact']} exact ({total['own']} own, {total['borrowed']} borrowed), "
        f"{total['stale']} stale, {total['missed']} missed",
    )
    if total["other"]:
        say(out, f"  {total['other']} of the exact answers are other than the trial itself got: the world drifted")
    say(
        out,
        f"  answered whole: {total['whole']} of {total['trials']} trials, {total['whole_with_write']} of the "
        f"{total['with_write']} that write",
    )
    if alone:
        say(out, f"  left out, with one finished trial only: {', '.join(alone)}")
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("task")
    for heading in ("exact", "stale", "missed", "whole", "that write", "lacking most"):
        table.add_column(heading, justify="left" if heading == "lacking most" else "right")
    for task, coverage in found.by_task():
        told = coverage.to_dict()
        most = ", ".join(f"{name} ({number})" for name, number in coverage.lacking.most_common(2))
        table.add_row(
            task,
            f"{told['exact']}/{told['calls']}",
            str(told["stale"]),
            str(told["missed"]),
            f"{told['whole']}/{told['trials']}",
            f"{told['whole_with_write']}/{told['with_write']}",
            most,
        )
    out.print(table)
    lacking = ", ".join(f"{name} ({number})" for name, number in found.lacking.most_common(_MOST_LACKING))
    if lacking:
        say(out, f"calls without an answer: {lacking}")
