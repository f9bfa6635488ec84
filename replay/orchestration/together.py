"""What runs share that are carried out together: money, back-off, the word to stop, and who is told."""

from __future__ import annotations

import threading
from collections.abc import Sequence

from cassettes.errors import BadInput, BudgetReached, Interrupted, TrialtapeError
from cassettes.model import Ending, Interaction, TrialId
from replay.analysis.reliability import TrialOutcome

from .budget import Budget
from .progress import Progress
from .throttle import Throttle

__all__ = ["Together"]


class Together:
    """Safe to use from many threads.

    Args:
        budget: of all runs.
        progress: told of each trial, from one thread at a time.

    Attributes:
        throttle: closes for the trials of all runs.
        stop: why no trial is begun any more.
        outcomes: of the trials that have ended, those of earlier sessions too.
    """

    def __init__(self, budget: Budget, progress: Progress | None) -> None:
        self.throttle = Throttle()
        self.stop: TrialtapeError | None = None
        self.outcomes: dict[TrialId, TrialOutcome] = {}
        self._budget = budget
        self._progress = progress
        self._lock = threading.Lock()

    @property
    def costs(self) -> bool:
        """True if costs are told."""
        return self._budget.cost is not None

    @property
    def is_interrupted(self) -> bool:
        """True if the user interrupted."""
        return isinstance(self.stop, Interrupted)

    def interrupt(self) -> None:
        """The user interrupted."""
        with self._lock:
            self.stop = Interrupted("interrupted")

    def pay(self, calls: Sequence[Interaction]) -> float:
        """What these calls cost; what cannot be paid, or has no known price, stops all runs."""
        with self._lock:
            before = self._budget.cost or 0.0
            try:
                self._budget.spend(calls)
            except (BadInput, BudgetReached) as error:
                self.stop = self.stop or error
            return (self._budget.cost or 0.0) - before

    def planned(self, total: int, done: int) -> None:
        """There are so many trials in all runs."""
        if self._progress is not None:
            self._progress.planned(total, done)

    def has_ended(self, trial: TrialId, ending: Ending, passed: bool | None) -> None:  # noqa: FBT001  # a verdict
        """A trial has its ending, and its verdict if it has one."""
        with self._lock:
            self.outcomes[trial] = TrialOutcome(trial.task, trial.index, ending.status, ending.cause, passed)

    def finished(self, trial: TrialId, ending: Ending, passed: bool | None) -> None:  # noqa: FBT001  # a verdict
        """Tell that a trial of this session has ended."""
        with self._lock:
            if self._progress is not None:
                self._progress.finished(trial, ending, passed)

    def replaced(self, trial: TrialId, ending: Ending) -> None:
        """Tell that a trial is tried again."""
        with self._lock:
            if self._progress is not None:
                self._progress.replaced(trial, ending)
