"""What a run's numbers mean in production, at so many requests a day."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from attrs import asdict, frozen

from cassettes.errors import BadInput
from replay.runs import load_run
from replay.stats import Extrapolation, Interval, clean_trials, extrapolate, interval
from replay.store import Store

from .outcomes import outcomes_of, refuse_shared_worlds, refuse_unanswered
from .reliability import Errors, NotCounted, count

__all__ = ["Forecast", "Nine", "forecast", "nines"]

_NINES = (0.9, 0.95, 0.99, 0.995, 0.999, 0.9999)


@frozen
class Nine:
    """What a chance to pass means.

    Attributes:
        chance: of one request.
        clean_day: that a whole day has no failure.
        failures: expected a day.
        trials_needed: trials, none of which may fail, to claim that chance of one task, at 95%.
    """

    chance: float
    clean_day: float
    failures: float
    trials_needed: int


@frozen
class Forecast:
    """A run's reliability as days of production.

    Attributes:
        per_day: requests a day.
        pass_1: interval of pass^1 on tasks like these.
        clean_day: chance that a day of mixed requests has no failure, each a task drawn anew: (pass^1)^per_day, for the
            estimate, the low and the high end of ``pass_1``.
        failures: expected a day, for the estimate, the high and the low end.
        repeated: for each k, pass^k: k requests that are all the same task.
        nines: what other chances would mean.
        not_counted: trials and tasks that say nothing here.
    """

    run: str
    score: str
    per_day: int
    tasks: int
    trials: int
    most_k: int
    pass_1: Interval
    clean_day: tuple[float, float | None, float | None]
    failures: tuple[float, float | None, float | None]
    repeated: tuple[Extrapolation, ...]
    nines: tuple[Nine, ...]
    not_counted: NotCounted

    def to_dict(self) -> dict[str, Any]:
        """The same as JSON-like data."""
        return asdict(self)


def forecast(
    store: Store,
    run: str,
    per_day: int,
    *,
    ks: Sequence[int] = (),
    score: str | None = None,
    errors: Errors = "exclude",
) -> Forecast:
    """Forecast days of production.

    Args:
        store: an index that is up to date.
        run: the run's name.
        per_day: requests a day, at least 1.
        ks: further k of pass^k; those of n, 2n and per_day are always told.
        score: which score counts; None takes the primary one.
        errors: the convention for trials without a verdict.

    Raises:
        BadInput: nothing counts, or too many trials ended unanswered.
    """
    file = load_run(store.home, run)
    found = outcomes_of(store, file, score)
    refuse_shared_worlds(file, found)
    counted = count(found.trials.values(), errors)
    if not counted.tasks:
        raise BadInput(f"run {run!r}: no trial can be counted by {found.score}")
    refuse_unanswered(found, errors, "no number holds")
    one = interval(counted.successes, counted.trials, 1, "population")
    n = min(counted.trials)
    ends = (one.estimate, one.low, one.high)
    return Forecast(
        run=run,
        score=found.score,
        per_day=per_day,
        tasks=len(counted.tasks),
        trials=sum(counted.trials),
        most_k=n,
        pass_1=one,
        clean_day=_each(ends, lambda p: p**per_day),
        failures=_each((one.estimate, one.high, one.low), lambda p: per_day * (1 - p)),
        repeated=tuple(extrapolate(counted.successes, counted.trials, k) for k in sorted({n, 2 * n, per_day, *ks})),
        nines=nines(per_day),
        not_counted=counted.not_counted,
    )


def nines(per_day: int) -> tuple[Nine, ...]:
    """What round chances mean at so many requests a day."""
    return tuple(Nine(p, p**per_day, per_day * (1 - p), clean_trials(p)) for p in _NINES)


def _each(
    values: tuple[float, float | None, float | None], of: Callable[[float], float]
) -> tuple[float, float | None, float | None]:
    first, low, high = values
    return of(first), None if low is None else of(low), None if high is None else of(high)
