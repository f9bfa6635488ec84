"""``trialtape lab trend``: runs over nights."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Literal

import click
from rich.text import Text

from replay.analysis.nights import Nights, matching_runs, nights_of
from replay.home import Home
from replay.plural import number
from replay.stats import TrendPoint
from replay.store import Store

from .ls_command import tell_troubles
from .options import FiniteRange, errors_option, json_option, score_of_each_option
from .output import console, echo_json, say

__all__ = ["command"]

_WIDTH = 40


@click.command("trend")
@click.argument("patterns", nargs=-1, required=True, metavar="PATTERN...")
@click.option("-k", type=click.IntRange(min=1), default=1, show_default=True, help="Of pass^k.")
@click.option(
    "--false-alarm-every",
    "apart",
    type=FiniteRange(min=10),
    default=1_000,
    show_default=True,
    metavar="N",
    help="Nights between false alarms, on average at least, on each side.",
)
@score_of_each_option
@errors_option
@json_option
@click.pass_obj
def command(
    home: str | None,
    patterns: tuple[str, ...],
    k: int,
    apart: float,
    score: str | None,
    errors: Literal["exclude", "fail"],
    as_json: bool,  # noqa: FBT001  # click's way
) -> None:
    """Chart the runs whose names match PATTERN (such as 'nightly-*') over time; exit code 1 if the last night alarms.

    Nights differ by more than their trials explain, and the chart allows for it. Alarms stay valid however often one
    looks.
    """
    with Store(Home.find(home)) as store:
        runs = matching_runs(store, patterns)
        tell_troubles(store.refresh(runs))
        found = nights_of(store, runs, k=k, apart=apart, score=score, errors=errors)
    last = found.trend.points[-1].alarm
    if as_json:
        echo_json({**found.to_dict(), "alarm": last})
    else:
        out = console()
        for line in _lines(found):
            say(out, line)
    sys.exit(0 if last is None else 1)


def _lines(found: Nights) -> Iterator[str | Text]:
    nights, tasks = len(found.nights), len(found.tasks)
    alike = f"{number(tasks, 'task')} that {'is' if tasks == 1 else 'are'} the same in all"
    yield f"pass^{found.k} over {number(nights, 'night')}, {alike}, score {found.score}"
    if found.other_tasks:
        yield f"  not in the chart: {', '.join(found.other_tasks)}"
    for one in found.left_out:
        yield f"  left out: {one.run}, {one.why}"
    for night in found.nights:
        if night.left_out:
            yield f"  left out of {night.run}: {', '.join(f'{n} {reason}' for reason, n in night.left_out.items())}"
    yield ""
    width = max(len(night.run) for night in found.nights)
    models: tuple[str, ...] | None = None
    for night, point in zip(found.nights, found.trend.points, strict=True):
        changed = f"  now {', '.join(night.models)}" if models is not None and night.models != models else ""
        alarm = {"down": "  ALARM: fallen", "up": "  ALARM: risen", None: ""}[point.alarm]
        models = night.models
        yield Text(
            f"{night.run:<{width}}  {point.value:.3f} {_bar(point)}{alarm}{changed}", "bold red" if alarm else ""
        )
    yield ""
    before = number(found.trend.reference, "night")
    yield f"● a night   ─ where 95% of such nights lie, judged by those before (after {before})"
    if found.trend.between_sd is not None:
        typical = found.trend.points[-1].se
        yield (
            f"nights differ by a standard deviation of {found.trend.between_sd:.3f} beyond what trials explain "
            f"({typical:.3f} in the last night)"
        )
    last = found.trend.points[-1]
    yield (
        f"evidence after the last night: {last.evidence_down:.3g} that it has fallen, {last.evidence_up:.3g} that it "
        f"has risen; {found.trend.apart:g} alarms"
    )
    yield f"false alarms: on each side one in {found.trend.apart:g} nights or fewer, looks included"


def _bar(point: TrendPoint) -> str:
    cells = [" "] * (_WIDTH + 1)
    if point.low is not None and point.high is not None:
        for place in range(_place(point.low), _place(point.high) + 1):
            cells[place] = "─"
    cells[_place(point.value)] = "●"
    return "│" + "".join(cells) + "│"


def _place(value: float) -> int:
    return round(min(max(value, 0.0), 1.0) * _WIDTH)
