"""pass^k of a results file of tau2 under the two conventions that are in use, each named."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final

from attrs import asdict, frozen

from replay.stats import pass_hat_k

__all__ = ["INFRASTRUCTURE", "Convention", "Ended", "conventions"]

INFRASTRUCTURE: Final = "infrastructure_error"


@frozen
class Ended:
    """One simulation, as pass^k sees it.

    Attributes:
        passed: None if it was never scored.
    """

    task: str
    reason: str | None
    passed: bool | None


@frozen
class Convention:
    """pass^k of all tasks.

    Attributes:
        left_out: simulations that do not count.
        unscored: of the counted ones, those that were never scored, and so are taken as failed.
        pass_hat_k: for k from 1 to the fewest trials that a task has; none if nothing counts.
        mean_passed: share of the counted simulations that passed, 0 to 1; None if nothing counts.
    """

    name: str
    counted: int
    left_out: int
    unscored: int
    tasks: int
    pass_hat_k: tuple[float, ...]
    mean_passed: float | None

    def to_dict(self) -> dict[str, Any]:
        """The same as JSON-like data."""
        return {**asdict(self), "pass_hat_k": {str(k): value for k, value in enumerate(self.pass_hat_k, 1)}}

    def __str__(self) -> str:
        told = " ".join(f"{value:.4f}" for value in self.pass_hat_k) or "nothing counts"
        span = f"pass^1..{len(self.pass_hat_k)}" if len(self.pass_hat_k) > 1 else "pass^1"
        unscored = f", {self.unscored} of them never scored and taken as failed" if self.unscored else ""
        return f"{span} {told} ({self.name}; {self.counted} counted{unscored}, {self.left_out} left out)"


def conventions(simulations: Iterable[Ended]) -> tuple[Convention, Convention]:
    """tau2's own convention, and tau-bench's.

    tau2 leaves simulations out that ended in an infrastructure error, and takes what it never scored as failed.
    tau-bench counts every error as a failure. k goes up to the fewest counted trials that any task has, as in tau2.
    """
    every = list(simulations)
    sound = [each for each in every if each.reason != INFRASTRUCTURE]
    return (
        _convention("tau2: infrastructure errors left out", sound, len(every)),
        _convention("tau-bench: every error counts as failed", every, len(every)),
    )


def _convention(name: str, counted: Sequence[Ended], total: int) -> Convention:
    trials: dict[str, int] = {}
    passed: dict[str, int] = {}
    for each in counted:
        trials[each.task] = trials.get(each.task, 0) + 1
        passed[each.task] = passed.get(each.task, 0) + bool(each.passed)
    c, n = list(passed.values()), list(trials.values())
    values = tuple(pass_hat_k(c, n, k) for k in range(1, min(n, default=0) + 1))
    share = sum(c) / sum(n) if n else None
    unscored = sum(each.passed is None for each in counted)
    return Convention(name, len(counted), total - len(counted), unscored, len(n), values, share)
