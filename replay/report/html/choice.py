"""Which trials of a run a report lists, and of which it holds the steps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Literal

from attrs import frozen

from .facts import TrialFacts
from .map import MOST_CELLS

__all__ = ["MOST_FAILING", "MOST_WHOLE", "Choice", "Wanted", "chosen"]

Wanted = Literal["all", "failing", "none"]

MOST_WHOLE: Final = 400  # trials of a run whose report holds all of them unasked
MOST_FAILING: Final = 2_000


@frozen
class Choice:
    """What goes into the page.

    Attributes:
        listed: trials with a line of their own.
        opened: the numbers of those whose steps are in the page.
        told: what is left out and how to have it; None if nothing is.
    """

    listed: tuple[TrialFacts, ...]
    opened: frozenset[int]
    told: str | None


def chosen(trials: Sequence[TrialFacts], wanted: Wanted | None) -> Choice:
    """Choose by what was asked for; by the size of the run if nothing was.

    Args:
        trials: all of the run, by task and index.
        wanted: None takes all trials of a small run, and those that did not pass of a large one.
    """
    failing = [trial for trial in trials if trial.sign.name != "passed"]
    listed = list(trials) if len(trials) <= MOST_CELLS else failing[:MOST_FAILING]
    if wanted == "none":
        return Choice(tuple(listed), frozenset(), _told(trials, failing, listed, []))
    if wanted == "all":
        return Choice(tuple(trials), frozenset(trial.number for trial in trials), None)
    opened = list(trials) if wanted is None and len(trials) <= MOST_WHOLE else failing[:MOST_FAILING]
    return Choice(tuple(listed), frozenset(trial.number for trial in opened), _told(trials, failing, listed, opened))


def _told(
    trials: Sequence[TrialFacts], failing: Sequence[TrialFacts], listed: Sequence[TrialFacts], opened: Sequence[object]
) -> str | None:
    if len(opened) == len(trials):
        return None
    if not opened:
        held = "This page holds the steps of no trial"
    elif len(opened) < len(failing):
        held = f"This page holds the steps of the first {len(opened)} of the {len(failing)} trials that did not pass"
    else:
        held = f"This page holds the steps of the {len(failing)} trials that did not pass, not of the other trials"
    fewer = "" if len(listed) == len(trials) else f", and lists {len(listed)} of {len(trials)}"
    return f"{held}{fewer}. A report made with --trials all holds those of every trial."
