"""What a run tells: while it goes on, and at its end."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Protocol

from attrs import define, field

from cassettes.model import Ending, TrialId
from replay.independence import Leak

__all__ = ["Progress", "RunResult"]


class Progress(Protocol):
    """Told how a run goes on; called from one thread at a time."""

    def planned(self, total: int, done: int) -> None:
        """There are ``total`` trials, ``done`` of which an earlier call finished."""

    def finished(self, trial: TrialId, ending: Ending, passed: bool | None) -> None:  # noqa: FBT001  # a verdict
        """A trial has ended."""

    def replaced(self, trial: TrialId, ending: Ending) -> None:
        """A trial that failed for reasons of infrastructure is tried again."""


@define
class RunResult:
    """What came of a run.

    Attributes:
        endings: how many trials ended how.
        passed: trials that the primary scorer passed.
        replaced: attempts that were set aside.
        problems: trials in which nothing was captured, or not everything could be kept.
        cost: of the live calls of this session; None without prices.
        lingering: trials whose agent was still running when they were given up.
        unattributed: what happened while trials were active and is in no recording, by name: calls that belonged to no
            trial, and processes that a trial started.
        misdeclared: tools that are declared reads, and changed the tracked state, with how often.
        caught_up: frozen writes that were carried out before live calls, with how often.
        leaks: what trials show of each other (see `replay.independence`).
    """

    name: str
    home: Path
    trials: int = 0
    resumed: int = 0
    endings: Counter[str] = field(factory=Counter)
    passed: int = 0
    replaced: int = 0
    problems: list[str] = field(factory=list)
    cost: float | None = None
    lingering: list[str] = field(factory=list)
    unattributed: Counter[str] = field(factory=Counter)
    misdeclared: Counter[str] = field(factory=Counter)
    caught_up: Counter[str] = field(factory=Counter)
    leaks: list[Leak] = field(factory=list)
