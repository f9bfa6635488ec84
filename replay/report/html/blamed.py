"""How often a trial passed when it was continued from each of several steps, as bars of a page."""

from __future__ import annotations

from typing import Any

from attrs import frozen

from cassettes.errors import TrialtapeError
from replay.branching.blame import blame
from replay.branching.forks import ForkRun, blame_of, forks_of
from replay.home import Home
from replay.runs import load_run
from replay.view import View

from .charts import Bar
from .shown import one_line, shown

__all__ = ["Blamed", "blamed", "blamed_data", "forked"]


@frozen
class Blamed:
    """The bars of a trial, what they say, and what was frozen behind the fork."""

    bars: tuple[Bar, ...]
    verdict: str
    freeze: tuple[str, ...]


def forked(home: Home) -> frozenset[str]:
    """The trials of which some run holds continuations; runs that cannot be read are passed over."""
    found = set()
    for name in home.runs():
        try:
            fork = ForkRun.of(load_run(home, name))
        except TrialtapeError:
            continue
        if fork is not None:
            found.add(fork.parent)
    return frozenset(found)


def blamed(home: Home, view: View) -> Blamed | None:
    """The bars of a trial from its forks; with everything live behind them, if there are such.

    Returns:
        None if it was never forked, or only with an edited step or under a policy.

    Raises:
        CassetteError: a cassette cannot be read.
    """
    freezes = sorted({fork.freeze for fork in forks_of(home, view) if fork.is_plain})
    if not freezes:
        return None
    read = blame(blame_of(home, view, freezes[0]))
    bars = tuple(
        Bar(
            f"{bar.passed} of {bar.counted} from before step {bar.step}: {bar.label}",
            bar.rate,
            bar.low,
            bar.high,
            bar.step,
        )
        for bar in read.bars
        if bar.rate is not None
    )
    return Blamed(bars, read.verdict, freezes[0])


def blamed_data(found: Blamed) -> dict[str, Any]:
    """The same as the page's script reads it."""
    return {
        "verdict": shown(found.verdict),
        "frozen": shown(", ".join(found.freeze)),
        "bars": [
            {"label": one_line(bar.label), "value": bar.value, "low": bar.low, "high": bar.high, "step": bar.step}
            for bar in found.bars
        ],
    }
