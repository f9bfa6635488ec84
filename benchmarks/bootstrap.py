"""The seeded task bootstrap of pass^k."""

from __future__ import annotations

import math
from time import perf_counter

import numpy as np
from scipy import stats

from replay.stats.bootstrap import task_bootstrap

from .rows import Row, Target
from .timing import median

__all__ = ["rows"]


def rows(tasks: int = 125_000, trials: int = 8, resamples: int = 10_000, few: int = 20, rounds: int = 3) -> list[Row]:
    """Resample ``tasks`` tasks of ``trials`` trials; scipy only ``few`` times, for one k."""
    random = np.random.default_rng(5)
    successes = random.binomial(trials, random.beta(2, 1, tasks))
    counts = [int(c) for c in successes]
    ks = range(1, trials + 1)

    def ours() -> float:
        began = perf_counter()
        task_bootstrap(counts, trials, ks, resamples=resamples)
        return perf_counter() - began

    def theirs() -> float:
        scores = _pass_hat_k(trials, min(4, trials))[successes]
        began = perf_counter()
        stats.bootstrap((scores,), np.mean, n_resamples=few, batch=10, method="percentile", rng=random)
        return (perf_counter() - began) * resamples / few

    found = median({"ours": ours, "scipy": theirs}, rounds)
    return [
        Row(
            f"{resamples:,} bootstrap resamples, {len(ks)} values of k, {tasks * trials:,} trials",
            found["ours"],
            "s",
            found["scipy"],
            "scipy, one k, extrapolated",
            Target("<", 0.2),
            note=f"{tasks:,} tasks x {trials} trials; scipy.stats.bootstrap (percentile, batch 10) drew {few} "
            f"resamples of one k, multiplied to {resamples:,}; ours from Python lists of counts, checked and tallied",
        )
    ]


def _pass_hat_k(trials: int, k: int) -> np.ndarray:
    """The score of a task by its passed trials, 0 to ``trials``."""
    return np.array([math.comb(c, k) / math.comb(trials, k) for c in range(trials + 1)])
