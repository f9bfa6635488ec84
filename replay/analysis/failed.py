"""Which trials of a run count as failed, and pass^k with and without some of its trials."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from attrs import frozen

from replay.stats import pass_hat_k

from .reliability import Errors, TrialOutcome, count
from .run_stats import RunStats

__all__ = ["Without", "pass_k_without", "verdicts"]


@frozen
class Without:
    """pass^k with and without some trials.

    Attributes:
        value: with them; ``without`` is None if some task has fewer than k trials left.
        emptied: how many tasks have no trial left, and so are not in ``without``.
    """

    k: int
    value: float
    without: float | None
    emptied: int = 0


def verdicts(outcomes: Mapping[str, TrialOutcome], errors: Errors) -> dict[str, bool]:
    """Whether pass^k counts each trial as passed, under this convention; those that it leaves out are not there."""
    alone = {trial: count([outcome], errors) for trial, outcome in outcomes.items()}
    return {trial: bool(counted.successes[0]) for trial, counted in alone.items() if counted.trials}


def pass_k_without(
    stats: RunStats, outcomes: Mapping[str, TrialOutcome], excused: Collection[str]
) -> tuple[Without, ...]:
    """pass^k of all counted trials, and of those that are not excused; empty where the run has no number."""
    if stats.summary is None:
        return ()
    counted = count(outcomes.values(), stats.errors)
    left = count([outcome for trial, outcome in outcomes.items() if trial not in excused], stats.errors)
    emptied = len({*counted.tasks} - {*left.tasks})
    return tuple(
        Without(
            k,
            float(pass_hat_k(counted.successes, counted.trials, k)),
            float(pass_hat_k(left.successes, left.trials, k)) if left.trials and min(left.trials) >= k else None,
            emptied,
        )
        for k in range(1, min(counted.trials) + 1)
    )
