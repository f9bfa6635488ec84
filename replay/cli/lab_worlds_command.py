"""``trialtape lab worlds``: how much of a frozen run was answered, and how much of a live one could be."""

from __future__ import annotations

import sys
from collections.abc import Iterable

import click
from rich.progress import track
from rich.table import Table

from cassettes.errors import BadInput
from replay.analysis.reliability import MOST_UNANSWERED
from replay.analysis.run_coverage import Coverage, coverage_by_task, coverage_of_rows
from replay.effects import read_effects
from replay.home import Home
from replay.leave_one_out import Coverage as Answerable
from replay.leave_one_out import TrialCoverage
from replay.leave_one_out import leave_one_out as covered_by_others
from replay.recording import Recording
from replay.runs import load_run
from replay.sources import recordings_of
from replay.store import Store

from .ls_command import tell_troubles
from .options import json_option
from .output import console, echo_json, messages, say

__all__ = ["command"]

_MOST_LACKING = 8
_TRIALS = "SELECT task, ending, coverage, writes FROM trials WHERE run = ?"


@click.command("worlds")
@click.argument("run", metavar="RUN")
@click.option("--leave-one-out", is_flag=True, help="Each trial against the others of its task, of a frozen run, too.")
@click.option("--effects", metavar="FILE", help="What tools do, declared in a file; none forgets what they declare.")
@json_option
@click.pass_obj
def command(
    home: str | None,
    run: str,
    effects: str | None,
    *,
    leave_one_out: bool,
    as_json: bool,
) -> None:
    """Tell how the frozen calls of RUN were answered, by task, and of trials that write.

    Of a live run: how many of its calls its other recordings would have answered, each trial against the others of its
    task, all tools frozen. So you know before you freeze what a frozen run can answer, and which tools lack recordings
    or a declared effect.
    """
    place = Home.find(home)
    source = load_run(place, run).config.get("source")
    if source is None or leave_one_out:
        _could_be_answered(place, run, effects, as_json=as_json)
        return
    if effects is not None:
        raise BadInput(
            f"run {run!r} was frozen with its own effects: --effects goes with a live run or --leave-one-out"
        )
    _was_answered(place, run, source, as_json=as_json)


def _was_answered(home: Home, run: str, source: str, *, as_json: bool) -> None:
    with Store(home) as store:
        tell_troubles(store.refresh([run]))
        rows = list(store.rows(_TRIALS, [run]))
    whole, tasks = coverage_of_rows(rows), coverage_by_task(rows)
    if whole is None:
        raise BadInput(f"run {run!r} has no frozen call yet")
    unanswered = sum(row["ending"] == "unanswered" for row in rows)
    if as_json:
        by_task = {task: coverage.to_dict() for task, coverage in tasks.items()}
        echo_json({"run": run, "source": source, **whole.to_dict(), "unanswered": unanswered, "tasks": by_task})
        return
    out = console()
    say(
        out,
        f"{run}, in the recorded worlds of {source}: of {whole.calls} frozen calls {whole.exact} exact{_rest(whole)}",
    )
    say(out, _whole(*(getattr(whole, name) for name in ("whole", "trials", "whole_with_write", "with_write"))))
    if unanswered > MOST_UNANSWERED * len(rows):
        say(out, f"  {unanswered} of {len(rows)} trials ended unanswered, and not at random: stats tells bounds only")
    table = _table("exact", "other", "whole", "that write")
    for task, coverage in tasks.items():
        other = sum(coverage.others.values())
        table.add_row(
            task,
            f"{coverage.exact}/{coverage.calls}",
            str(other),
            f"{coverage.whole}/{coverage.trials}",
            f"{coverage.whole_with_write}/{coverage.with_write}",
        )
    out.print(table)


def _rest(coverage: Coverage) -> str:
    return "".join(f", {number} {verdict}" for verdict, number in coverage.others.items())


def _could_be_answered(home: Home, run: str, effects: str | None, *, as_json: bool) -> None:
    tasks = recordings_of(home, run, read_effects(effects))
    alone = [task for task, recordings in tasks.items() if len(recordings) == 1]
    if len(alone) == len(tasks):
        raise BadInput(f"every task of run {run!r} has one finished trial only: there is no other to answer for it")
    shown = track(
        tasks.items(), description=run, console=messages(), transient=True, disable=as_json or not sys.stderr.isatty()
    )
    found = Answerable(tuple(trial for _, recordings in shown for trial in _covered(recordings)))
    if as_json:
        document = {"run": run, **found.to_dict(), "alone": alone}
        echo_json({**document, "tasks": {task: coverage.to_dict() for task, coverage in found.by_task()}})
        return
    _tell(run, found, alone)


def _whole(whole: int, trials: int, whole_with_write: int, with_write: int) -> str:
    return f"  answered whole: {whole} of {trials} trials, {whole_with_write} of the {with_write} that write"


def _table(*headings: str) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("task")
    for heading in headings:
        table.add_column(heading, justify="left" if heading == "lacking most" else "right")
    return table


def _covered(recordings: list[Recording]) -> Iterable[TrialCoverage]:
    return covered_by_others(recordings) if len(recordings) > 1 else ()


def _tell(run: str, found: Answerable, alone: list[str]) -> None:
    out = console()
    total = found.to_dict()
    say(
        out,
        f"{run}: of {total['calls']} calls {total['exact']} exact ({total['own']} own, {total['borrowed']} borrowed), "
        f"{total['stale']} stale, {total['missed']} missed"
        + (f", {total['emulated']} made up by a model" if total["emulated"] else ""),
    )
    if total["other"]:
        say(out, f"  {total['other']} of the exact answers are other than the trial itself got: the world drifted")
    say(out, _whole(total["whole"], total["trials"], total["whole_with_write"], total["with_write"]))
    if alone:
        say(out, f"  left out, with one finished trial only: {', '.join(alone)}")
    table = _table("exact", "stale", "missed", "whole", "that write", "lacking most")
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
