"""pass^k of trials that share worlds: never pooled as if they were independent.

Trials in one recorded world get the same answers from outside, so they agree more often than live ones. A live-like
pass^k therefore draws its k trials from k different worlds; one within a world says what holds "given this world".
"""

from __future__ import annotations

from collections.abc import Sequence
from math import comb

import numpy as np
from attrs import frozen

from .bootstrap import RESAMPLES
from .tally import Floats
from .told import Told

__all__ = ["WorldRow", "WorldSummary", "pass_hat_k_across", "pass_hat_k_within", "world_summary"]

WorldCounts = Sequence[Sequence[int]]
"""Per task, per world."""


@frozen
class WorldRow(Told):
    """One k.

    Attributes:
        across: of k trials in k different worlds, proportion 0 to 1; None if a task has fewer worlds.
        low, high: its percentile bootstrap over tasks; None with one task.
        within: of k trials in one world; None if a world has fewer trials.
    """

    k: int
    across: float | None
    low: float | None
    high: float | None
    within: float | None


@frozen
class WorldSummary(Told):
    """pass^k of a run whose trials share worlds.

    Attributes:
        worlds: the fewest and the most worlds that a task has.
        trials: the fewest and the most counted trials in a world.
        rows: k from 1 to the larger of the fewest worlds and the fewest trials in a world.
        level: of the intervals; ``resamples`` of tasks, drawn with ``seed``.
    """

    worlds: tuple[int, int]
    trials: tuple[int, int]
    rows: tuple[WorldRow, ...]
    level: float
    resamples: int
    seed: int


def pass_hat_k_across(successes: Sequence[int], trials: Sequence[int], k: int) -> float:
    """The chance that one trial in each of k different worlds of one task passes, averaged over the choices of worlds.

    e_k(c_1/n_1, ..., c_R/n_R) / comb(R, k), with e_k the elementary symmetric polynomial: the mean over all choices
    of k worlds of the product of their pass rates, unbiased as the trials in different worlds are independent.

    Args:
        successes: c, passed trials, one int per world.
        trials: n, one int per world, each at least 1.
        k: 1 to the number of worlds.

    Raises:
        ValueError: k is outside, or a world has no trial.
    """
    if not 1 <= k <= len(trials):
        raise ValueError(f"k = {k} needs at least {k} worlds, there are {len(trials)}")
    _check(successes, trials)
    sums = [1.0, *[0.0] * k]
    for passed, number in zip(successes, trials, strict=True):
        for size in range(k, 0, -1):
            sums[size] += sums[size - 1] * passed / number
    return sums[k] / comb(len(trials), k)


def pass_hat_k_within(successes: Sequence[int], trials: Sequence[int], k: int) -> float:
    """comb(c, k) / comb(n, k), averaged over the worlds of one task: k trials that share a world all pass.

    Raises:
        ValueError: a world has fewer than k trials, or there is none.
    """
    _check(successes, trials)
    if k < 1 or min(trials) < k:
        raise ValueError(f"k = {k} needs {k} trials in every world, one has {min(trials)}")
    return sum(comb(c, k) / comb(n, k) for c, n in zip(successes, trials, strict=True)) / len(trials)


def world_summary(
    successes: WorldCounts, trials: WorldCounts, *, level: float = 0.95, resamples: int = RESAMPLES, seed: int = 0
) -> WorldSummary:
    """pass^k across and within worlds, averaged over tasks, for all k that every task allows.

    Args:
        successes: per task and world, passed trials.
        trials: per task and world, counted trials, each at least 1; worlds without one are left out before.
        level: share of resamples inside the intervals.
        resamples: B, how often the tasks are drawn.
        seed: same seed, same digits.

    Raises:
        ValueError: no task, or a task without a world.
    """
    if not trials or not all(trials):
        raise ValueError("at least one task, with at least one world each, is needed")
    worlds = [len(of_task) for of_task in trials]
    numbers = [number for of_task in trials for number in of_task]
    across, within = min(worlds), min(numbers)
    pairs = list(zip(successes, trials, strict=True))
    values = np.array([[pass_hat_k_across(c, n, k) for k in range(1, across + 1)] for c, n in pairs])
    bounds = _bounds(values, level, resamples, seed)
    rows = []
    for k in range(1, max(across, within) + 1):
        low, high = bounds[k - 1] if bounds is not None and k <= across else (None, None)
        mean = float(values[:, k - 1].mean()) if k <= across else None
        inside = float(np.mean([pass_hat_k_within(c, n, k) for c, n in pairs])) if k <= within else None
        rows.append(WorldRow(k, mean, low, high, inside))
    return WorldSummary((min(worlds), max(worlds)), (min(numbers), max(numbers)), tuple(rows), level, resamples, seed)


def _bounds(values: Floats, level: float, resamples: int, seed: int) -> list[tuple[float, float]] | None:
    tasks = len(values)
    if tasks < 2:
        return None
    drawn = np.random.default_rng(seed).multinomial(tasks, np.full(tasks, 1 / tasks), size=resamples)
    means = drawn @ values / tasks
    tail = (1 - level) / 2
    low, high = np.quantile(means, [tail, 1 - tail], axis=0)
    return [(float(a), float(b)) for a, b in zip(low, high, strict=True)]


def _check(successes: Sequence[int], trials: Sequence[int]) -> None:
    if not trials or any(not 0 <= c <= n or n < 1 for c, n in zip(successes, trials, strict=True)):
        raise ValueError("each world needs at least one trial, and no more successes than trials")
