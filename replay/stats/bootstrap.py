"""The percentile bootstrap over tasks: what others print, seeded."""

from collections.abc import Sequence

import numpy as np
from attrs import frozen

from .estimators import scores
from .tally import Counts, Floats, Tally, is_whole, require_level, whole_k
from .told import Told

RESAMPLES = 10_000
_CHUNK_ENTRIES = 2_000_000  # 16 MB of counts at a time


@frozen
class TaskBootstrap(Told):
    """Percentile intervals of pass^k over resampled tasks.

    Attributes:
        ks: the values of k asked for, in that order.
        bounds: (low, high) for each k, proportions 0 to 1; None with one task, which resamples to itself.
        level: share of resamples inside, between 0 and 1.
        resamples: B, how many times the tasks were drawn.
        seed: of numpy's default generator.
    """

    ks: tuple[int, ...]
    bounds: tuple[tuple[float, float] | None, ...]
    level: float
    resamples: int
    seed: int


def task_bootstrap(
    successes: Counts,
    trials: int | Counts,
    ks: Sequence[int],
    *,
    resamples: int = RESAMPLES,
    level: float = 0.95,
    seed: int = 0,
) -> TaskBootstrap:
    """Percentile bootstrap (Efron 1979) of pass^k over tasks, for several k at once.

    Tasks are drawn, never trials inside a task: drawing a task's n trials again is centred on (c / n)^k,
    which is above pass^k. A resample is a multinomial draw of the cells of the tally, so the cost does
    not grow with the number of tasks. Tasks that failed or passed throughout give width 0, and what is
    not among the tasks seen cannot be drawn; `interval` corrects for both.

    Args:
        successes: c, passed trials, one int per task.
        trials: n, one int for all tasks or one per task.
        ks: one or more values of k, each 1 to the smallest n.
        resamples: B, at least 1.
        level: share of resamples inside the interval, between 0 and 1.
        seed: same seed, same digits.

    Raises:
        ValueError: as `Tally.of`; no k; resamples below 1; a level outside 0..1.
    """
    if len(ks) == 0:
        raise ValueError("ks is empty: name one k or more")
    for k in ks:
        whole_k(k)
    return bootstrap(Tally.of(successes, trials, k=max(ks)), ks, resamples, level, seed)


def bootstrap(tally: Tally, ks: Sequence[int], resamples: int, level: float, seed: int) -> TaskBootstrap:
    """`task_bootstrap` of a tally."""
    require_level(level)
    if not is_whole(resamples) or resamples < 1:
        raise ValueError(f"resamples must be a whole number of at least 1, got {resamples!r}")
    bounds: tuple[tuple[float, float] | None, ...] = (None,) * len(ks)
    if tally.tasks > 1:
        tasks, table = _distinct_scores(tally, ks)
        means = _resampled_means(tasks, table, resamples, seed)
        lows, highs = np.quantile(means, [(1 - level) / 2, (1 + level) / 2], axis=0)
        bounds = tuple(zip(lows.tolist(), highs.tolist(), strict=True))
    return TaskBootstrap(tuple(ks), bounds, level, resamples, seed)


def _distinct_scores(tally: Tally, ks: Sequence[int]) -> tuple[Floats, Floats]:
    """Tasks of, and scores in, each class of cells that score alike for every k: (R,) and (R, K)."""
    merged: dict[tuple[float, ...], int] = {}
    for cell, row in zip(tally.cells, np.stack([scores(tally, k) for k in ks], axis=1).tolist(), strict=True):
        merged[tuple(row)] = merged.get(tuple(row), 0) + cell.tasks
    return np.array(list(merged.values()), dtype=np.float64), np.array(list(merged))


def _resampled_means(tasks: Floats, table: Floats, resamples: int, seed: int) -> Floats:
    random = np.random.default_rng(seed)
    total = int(tasks.sum())
    chunk = max(1, _CHUNK_ENTRIES // len(tasks))
    means = np.empty((resamples, table.shape[1]))
    for start in range(0, resamples, chunk):
        stop = min(start + chunk, resamples)
        means[start:stop] = random.multinomial(total, tasks / total, size=stop - start) @ table / total
    return means
