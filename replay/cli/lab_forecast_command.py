"""``trialtape lab forecast``: a run's reliability as days of production."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

import click
from rich.table import Table

from replay.analysis.forecasting import Forecast, forecast
from replay.home import Home
from replay.plural import number
from replay.report.stats_text import not_counted_lines
from replay.runs import load_run
from replay.stats import Extrapolation
from replay.store import Store

from .ls_command import tell_troubles
from .options import errors_option, json_option, score_option
from .output import console, echo_json, say

__all__ = ["command"]


@click.command("forecast")
@click.argument("run", metavar="RUN")
@click.option(
    "--runs-per-day", "per_day", type=click.IntRange(min=1), required=True, metavar="N", help="Requests a day."
)
@click.option("-k", "ks", type=click.IntRange(min=1), multiple=True, help="Also this k; may be given again.")
@score_option
@errors_option
@json_option
@click.pass_obj
def command(
    home: str | None,
    run: str,
    per_day: int,
    ks: tuple[int, ...],
    score: str | None,
    errors: Literal["exclude", "fail"],
    as_json: bool,  # noqa: FBT001  # click's way
) -> None:
    """Tell the chance of a day without a failure, expected failures, and pass^k beyond the trials that were made.

    Where the trials do not tell, no number is given, but what would be needed.
    """
    place = Home.find(home)
    load_run(place, run)
    with Store(place) as store:
        tell_troubles(store.refresh([run]))
        found = forecast(store, run, per_day, ks=ks, score=score, errors=errors)
    if as_json:
        echo_json(found.to_dict())
        return
    out = console()
    for line in _lines(found):
        say(out, line)
    out.print()
    out.print(_nines(found))


def _lines(found: Forecast) -> Iterator[str]:
    yield f"{found.run}: {number(found.tasks, 'task')}, {number(found.trials, 'trial')} counted, score {found.score}"
    yield from not_counted_lines(found.not_counted)
    yield ""
    requests = number(found.per_day, "request")
    yield f"{requests} a day, each a task like these, drawn anew (pass^1 {found.pass_1.estimate:.3f}):"
    yield f"  a day without a failure   {_chance(found.clean_day)}"
    low, high = found.failures[1:]
    ends = "" if low is None or high is None else f", {low:.1f} to {high:.1f}"
    yield f"  expected failures a day   {found.failures[0]:.1f}{ends}"
    yield ""
    yield "k requests that are all the same task (pass^k):"
    for one in found.repeated:
        yield f"  k = {one.k:<6} {_told(one, found.most_k)}"


def _chance(values: tuple[float, float | None, float | None]) -> str:
    first, low, high = values
    ends = "undefined" if low is None or high is None else f"[{low:.3g}, {high:.3g}]"
    return f"{first:.3g}   on other tasks like these 95% {ends}"


def _told(one: Extrapolation, n: int) -> str:
    match one.basis:
        case "counted":
            return f"{one.estimate:.3f}   counted"
        case "model":
            return (
                f"{one.estimate:.3f}   model-based (beta-binomial); without assumptions {one.low:.3f} to {one.high:.3f}"
            )
        case "bounds":
            do = "does" if n == 1 else "do"
            return f"{one.low:.3f} to {one.high:.3f}   no number: {number(n, 'trial')} per task {do} not tell more"
        case _:
            return (
                f"not identified ({one.low:.3f} to {one.high:.3f}): needs about {one.trials_needed} trials of each "
                f"task; of one task, {one.clean_needed} trials without a failure show that it is above a half"
            )


def _nines(found: Forecast) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in ("chance to pass", "clean day", "failures a day", "trials without a failure\nto claim it of a task"):
        table.add_column(heading, justify="right")
    for nine in found.nines:
        table.add_row(f"{nine.chance:g}", f"{nine.clean_day:.3g}", f"{nine.failures:.3g}", str(nine.trials_needed))
    return table
