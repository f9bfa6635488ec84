"""Confidence intervals of pass^k and pass@k, for two questions that must not be mixed.

"fixed": the tasks are the whole world and only trials are random, "if you rerun this suite".
"population": the tasks are a sample too, "on other tasks like these". The second is wider, often twice.
"""

import math
from typing import Literal, TypeAlias

import numpy as np
from attrs import evolve, frozen
from scipy.special import betaincinv, ndtri, stdtrit

from .estimators import mean_pass_at_k, mean_pass_hat_k, scores
from .tally import Counts, Tally, require_level
from .told import Told
from .within import WithinModel

Target: TypeAlias = Literal["population", "fixed"]
Metric: TypeAlias = Literal["pass^k", "pass@k"]
Method: TypeAlias = Literal[
    "clopper-pearson", "wilson-t", "wilson-z", "exact", "equal split", "wilson-t by cluster", "undefined"
]

FEW_TASKS = 10
FEW_OF_A_KIND = 5
RARE = 0.03
_PSEUDO_TASK = 0.5


@frozen
class Interval(Told):
    """An estimate with its two-sided confidence interval; all three are proportions, 0 to 1.

    Attributes:
        estimate: the unbiased point estimate, never shrunk; low <= estimate <= high.
        low: lower end, or None if undefined (one task says nothing about other tasks).
        high: upper end, or None if undefined.
        level: confidence level, between 0 and 1.
        target: "fixed" or "population".
        method: how the ends were found.
        few_events: too few tasks, or too few of a kind, for the level to be relied on; see `interval`.
    """

    estimate: float
    low: float | None
    high: float | None
    level: float
    target: Target
    method: Method
    few_events: bool


def interval(
    successes: Counts,
    trials: int | Counts,
    k: int,
    target: Target = "population",
    *,
    level: float = 0.95,
    metric: Metric = "pass^k",
) -> Interval:
    """Confidence interval of pass^k or pass@k.

    population: Wilson (1927) interval with Student's t on the T task scores; its lower end is computed
    with half an always-failing task added, its upper end with half an always-passing one, since the few
    broken tasks of a reliable agent are often not in the sample. If n = k for every task, scores are 0
    or 1 and the interval is that of Clopper and Pearson (1934). One task: undefined.

    fixed: Wilson interval around the estimate, with the variance inside tasks as smoothed by
    `WithinModel`. It has no t: its variance is a model's. If all trials passed, the lower end is exact,
    (alpha / 2)^(k / (n T)), with the smallest n; if all failed, the upper end is the largest value with
    failures spread evenly over some of the tasks. Otherwise the lower end is no higher than if only the tasks
    that always passed had been run, with the rest as observed, and the upper end no lower than by those that
    always failed.

    pass@k is 1 - pass^k of the failures, and so is its interval.

    `few_events` is set with fewer than 10 tasks, fewer than 5 that passed all their trials, or fewer than
    5 that failed one or more; for the fixed target also if pass^k is below 0.03, where coverage was
    measured to fall under 0.91 at level 0.95. For pass@k, k > 1, read "failed" and "passed" exchanged.

    Args:
        successes: c, passed trials, one int per task.
        trials: n, one int for all tasks or one per task.
        k: 1 to the smallest n.
        target: what is random, see above.
        level: confidence level, between 0 and 1.
        metric: "pass^k" or "pass@k".

    Raises:
        ValueError: as `Tally.of`; an unknown target or metric; a level outside 0..1.
    """
    tally = Tally.of(successes, trials, k=k)
    require_level(level)
    if target not in {"population", "fixed"}:
        raise ValueError(f'target must be "population" or "fixed", got {target!r}')
    if metric not in {"pass^k", "pass@k"}:
        raise ValueError(f'metric must be "pass^k" or "pass@k", got {metric!r}')
    if metric == "pass^k" or k == 1:  # pass@1 is pass^1, to the last digit
        return _of_pass_hat_k(tally, k, target, level)
    mirrored = _of_pass_hat_k(tally.mirrored(), k, target, level)
    estimate = float(mean_pass_at_k(tally, k))
    if mirrored.low is None or mirrored.high is None:
        return evolve(mirrored, estimate=estimate)
    # The estimate is rounded from the exact one, so it may differ from 1 - its mirror by the last bit.
    low, high = min(1 - mirrored.high, estimate), max(1 - mirrored.low, estimate)
    return evolve(mirrored, estimate=estimate, low=low, high=high)


def _of_pass_hat_k(tally: Tally, k: int, target: Target, level: float) -> Interval:
    if target == "population":
        return population_interval(tally, k, level)
    return fixed_interval(WithinModel.fit(tally, k), k, level)


def population_interval(tally: Tally, k: int, level: float) -> Interval:
    """Interval of pass^k for tasks like these, see `interval`."""
    estimate = float(mean_pass_hat_k(tally, k))
    few_events = few_of_a_kind(tally)
    if tally.tasks == 1:
        return Interval(estimate, None, None, level, "population", "undefined", few_events)
    if tally.max_trials == k:
        low, high = _clopper_pearson(tally.always, tally.tasks, level)
        return Interval(estimate, low, high, level, "population", "clopper-pearson", few_events)
    values = scores(tally, k)
    sums = float(tally.weights @ values), float(tally.weights @ values**2)
    low, _ = _wilson_t(*sums, tally.tasks, failing=_PSEUDO_TASK, passing=0.0, level=level)
    _, high = _wilson_t(*sums, tally.tasks, failing=0.0, passing=_PSEUDO_TASK, level=level)
    low, high = min(low, estimate), max(high, estimate)
    return Interval(estimate, low, high, level, "population", "wilson-t", few_events)


def fixed_interval(model: WithinModel, k: int, level: float) -> Interval:
    """Interval of pass^k for these tasks run again, see `interval`."""
    tally = model.tally
    estimate = float(mean_pass_hat_k(tally, k))
    few_events = few_of_a_kind(tally) or estimate < RARE
    tail = (1 - level) / 2
    # Tasks of one kind bound the ends as a suite of nothing else would: one task of another kind is no more certainty.
    lowest, highest = estimate - _loss_of_always(tally, k, tail), estimate + _gain_of_never(tally, k, tail)
    if tally.always == tally.tasks:
        return Interval(estimate, lowest, 1.0, level, "fixed", "exact", few_events)
    if tally.never == tally.tasks:
        return Interval(estimate, 0.0, highest, level, "fixed", "equal split", few_events)
    variance = model.variance_sum(k) / tally.tasks**2
    low, high = wilson(estimate, variance, float(ndtri(1 - tail)), size_if_certain=tally.tasks)
    return Interval(estimate, min(low, lowest), max(high, highest), level, "fixed", "wilson-z", few_events)


def few_of_a_kind(tally: Tally) -> bool:
    """Fewer than 10 tasks, fewer than 5 that passed all their trials, or fewer than 5 that failed one or more."""
    return tally.tasks < FEW_TASKS or tally.always < FEW_OF_A_KIND or tally.tasks - tally.always < FEW_OF_A_KIND


def wilson(estimate: float, variance: float, z: float, size_if_certain: float) -> tuple[float, float]:
    """Wilson's interval for an estimate in 0..1 of any variance, by its effective sample size."""
    bernoulli = estimate * (1 - estimate)
    size = bernoulli / variance if variance > 0 and bernoulli > 0 else size_if_certain
    shrink = 1 + z * z / size
    centre = (estimate + z * z / (2 * size)) / shrink
    half = z * math.sqrt(bernoulli / size + z * z / (4 * size * size)) / shrink
    return max(0.0, centre - half), min(1.0, centre + half)


def _wilson_t(
    total: float, squares: float, tasks: int, *, failing: float, passing: float, level: float
) -> tuple[float, float]:
    weight = tasks + failing + passing
    mean = (total + passing) / weight
    variance = max((squares + passing) / weight - mean * mean, 0.0) / (weight - 1)
    return wilson(mean, variance, float(stdtrit(tasks - 1, 0.5 + level / 2)), size_if_certain=tasks)


def _clopper_pearson(successes: int, tasks: int, level: float) -> tuple[float, float]:
    tail = (1 - level) / 2
    low = 0.0 if successes == 0 else float(betaincinv(successes, tasks - successes + 1, tail))
    high = 1.0 if successes == tasks else float(betaincinv(successes + 1, tasks - successes, 1 - tail))
    return low, high


def _loss_of_always(tally: Tally, k: int, tail: float) -> float:
    """How much lower pass^k may be if tasks that passed all their trials do not always: 0 to 1.

    The mean of their p^k is at least the k-th power of the geometric mean of p.
    """
    certain = [cell for cell in tally.cells if cell.successes == cell.trials]
    if not certain:
        return 0.0
    return tally.always / tally.tasks * float(-np.expm1(math.log(tail) * k / (certain[0].trials * tally.always)))


def _gain_of_never(tally: Tally, k: int, tail: float) -> float:
    """How much higher, if tasks that failed all their trials do not always: 0 to 1.

    The largest, over j, if j of them share one p, the others never pass, and all fail with the chance ``tail``.
    """
    certain = [cell for cell in tally.cells if cell.successes == 0]
    if not certain:
        return 0.0
    able = np.arange(1, tally.never + 1)
    chance = -np.expm1(math.log(tail) / (certain[0].trials * able))
    return float((able * chance**k / tally.tasks).max())
