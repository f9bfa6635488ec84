"""``trialtape stats``: pass^k and pass@k with their noise."""

from __future__ import annotations

from typing import Literal

import click

from replay.home import Home
from replay.report.stats_text import bounds_text, curve, head, notes, table
from replay.run_stats import RunStats, run_stats
from replay.runs import load_run
from replay.store import Store

from .ls_command import tell_troubles
from .output import console, echo_json, json_option, say

__all__ = ["command"]


@click.command("stats")
@click.argument("runs", nargs=-1, required=True, metavar="RUN...")
@click.option("--score", metavar="NAME[@VERSION]", help="Which score counts (default: the run's primary one).")
@click.option(
    "--errors",
    type=click.Choice(["exclude", "fail"]),
    default="exclude",
    show_default=True,
    help="Leave trials without a verdict out, or count them as failed.",
)
@click.option("-k", "ks", type=click.IntRange(min=1), multiple=True, help="Only this k; may be given again.")
@json_option
@click.pass_obj
def command(
    home: str | None,
    runs: tuple[str, ...],
    score: str | None,
    ks: tuple[int, ...],
    errors: Literal["exclude", "fail"],
    as_json: bool,  # noqa: FBT001  # click's way
) -> None:
    """Tell pass^k (all of k trials pass) and pass@k (at least one does) for all k, with their noise.

    "If you rerun this suite" holds for these very tasks, "on other tasks like these" for the kind of task.
    """
    place = Home.find(home)
    for run in runs:
        load_run(place, run)
    with Store(place) as store:
        tell_troubles(store.refresh(runs))
        found = [run_stats(store, run, score, errors, ks) for run in runs]
    if as_json:
        echo_json([stats.to_dict() for stats in found] if len(found) > 1 else found[0].to_dict())
        return
    for stats in found:
        _print(stats)


def _print(stats: RunStats) -> None:
    out = console()
    for line in head(stats):
        say(out, line)
    if stats.summary is None:
        for line in bounds_text(stats):
            say(out, line)
        return
    out.print()
    out.print(table(stats, stats.summary))
    out.print()
    for drawn in curve(stats.summary):
        out.print(drawn)
    out.print()
    for line in notes(stats):
        say(out, line)
