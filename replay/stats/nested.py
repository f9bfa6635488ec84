"""Shares of the noise: tasks, the outside world, and model and user, from nested trials."""

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from attrs import frozen

from .tally import is_whole, require_level

RESAMPLES = 10_000


@frozen
class Components:
    """Variance of a verdict (0 or 1) by source; unbiased, so each may fall below 0.

    Attributes:
        task: between tasks.
        outside: between recorded worlds of a task (first order).
        rest: inside a world: model and user, with their interactions.
        total: of a verdict of a random task; 0 to 0.25.
    """

    task: float
    outside: float
    rest: float
    total: float


@frozen
class Components3:
    """The same with the user apart; for scripted or seeded users only.

    Attributes:
        user: between user scripts inside a world.
        rest: inside a script: the model, with its interactions.
    """

    task: float
    outside: float
    user: float
    rest: float
    total: float


@frozen
class OutsideShare:
    """The outside's share of the noise of a rerun: outside / (outside + rest).

    Attributes:
        estimate: may fall below 0; None if there is no noise at all.
        low: lower end of the percentile interval over tasks; None with one task or without noise.
        high: upper end.
        level: between 0 and 1.
    """

    estimate: float | None
    low: float | None
    high: float | None
    level: float


World = tuple[int, int]
"""Passed trials and trials in one world."""


def components_nested(tasks: Sequence[Sequence[World]]) -> Components:
    """Variance by source, from trials in several recorded worlds of each task.

    From agreements of pairs of trials, all U-statistics: of the same world (S), of different worlds of a task (D), of
    different tasks (X), and the mean (m). task = D - X, outside = S - D, rest = m - S, total = m - X. Where numbers
    differ between tasks, each task is averaged on its own first; a task without a pair of a kind is left out of the
    mean of that kind. Answers that worlds share bias the outside towards 0.

    Args:
        tasks: for each task, of each world the passed trials and the trials.

    Raises:
        ValueError: fewer than 2 tasks; impossible counts; no task with 2 trials in a world, or none with 2 worlds.
    """
    rows = [_task(index, worlds) for index, worlds in enumerate(tasks)]
    if len(rows) < 2:
        raise ValueError(f"at least 2 tasks are needed to tell tasks apart, got {len(rows)}")
    return _components(rows)


def outside_share(
    tasks: Sequence[Sequence[World]], *, level: float = 0.95, resamples: int = RESAMPLES, seed: int = 0
) -> OutsideShare:
    """The outside's share of the noise, with the percentile interval of the task bootstrap.

    Args:
        tasks: as of `components_nested`.
        level: between 0 and 1.
        resamples: at least 1.
        seed: same seed, same digits.

    Raises:
        ValueError: as `components_nested`.
    """
    require_level(level)
    found = components_nested(tasks)
    noise = found.outside + found.rest
    if noise <= 0:
        return OutsideShare(None, None, None, level)
    # outside = S - D and noise = m - D: both are means over tasks, so resampling needs sums only.
    table = np.array(
        [[math.nan if part is None else float(part) for part in row] for row in map(_task, range(len(tasks)), tasks)]
    )[:, :3]
    random = np.random.default_rng(seed)
    known = ~np.isnan(table)
    values = np.where(known, table, 0.0)
    drawn = random.multinomial(len(tasks), np.full(len(tasks), 1 / len(tasks)), size=resamples)
    with np.errstate(invalid="ignore", divide="ignore"):
        means = (drawn @ values) / (drawn @ known.astype(np.float64))
        shares = (means[:, 0] - means[:, 1]) / (means[:, 2] - means[:, 1])
    shares = shares[np.isfinite(shares)]
    low, high = np.quantile(shares, [(1 - level) / 2, (1 + level) / 2]) if shares.size else (math.nan, math.nan)
    return OutsideShare(found.outside / noise, float(low), float(high), level)


def components_nested3(tasks: Sequence[Sequence[Sequence[World]]]) -> Components3:
    """The same with user scripts inside worlds: of each task, world and script the passed trials and the trials.

    Balanced data only: as many worlds, scripts and trials everywhere.

    Raises:
        ValueError: unbalanced or too few data, impossible counts.
    """
    shape = {(len(worlds), len(scripts), n) for worlds in tasks for scripts in worlds for _, n in scripts}
    if len(tasks) < 2 or len(shape) != 1 or min(next(iter(shape))) < 2:
        raise ValueError("2 tasks or more are needed, each with as many worlds, scripts and trials, 2 or more of each")
    (worlds, scripts, n) = next(iter(shape))
    passed = np.array([[[c for c, _ in script] for script in world] for world in tasks], dtype=np.float64)
    if not ((passed >= 0) & (passed <= n)).all():
        raise ValueError("a script has more passed trials than trials")
    by_world, by_task = passed.sum(axis=2), passed.sum(axis=(1, 2))
    means = by_task / (worlds * scripts * n)
    same = float((passed * (passed - 1)).sum(axis=(1, 2)).mean()) / (worlds * scripts * n * (n - 1))
    other_script = float((by_world**2 - (passed**2).sum(axis=2)).sum(axis=1).mean())
    other_script /= worlds * scripts * (scripts - 1) * n * n
    other_world = float((by_task**2 - (by_world**2).sum(axis=1)).mean()) / (worlds * (worlds - 1) * (scripts * n) ** 2)
    cross = float(means.sum() ** 2 - (means**2).sum()) / (len(tasks) * (len(tasks) - 1))
    mean = float(means.mean())
    return Components3(
        task=other_world - cross,
        outside=other_script - other_world,
        user=same - other_script,
        rest=mean - same,
        total=mean - cross,
    )


_Row = tuple[Fraction | None, Fraction | None, Fraction]  # same world, different worlds, mean


def _task(index: int, worlds: Sequence[World]) -> _Row:
    for c, n in worlds:
        if not (is_whole(c) and is_whole(n) and 0 <= c <= n and n >= 1):
            raise ValueError(f"task {index}: {c} passed of {n} trials in a world is impossible")
    if not worlds:
        raise ValueError(f"task {index} has no world")
    pairs = sum(n * (n - 1) for _, n in worlds)
    passed, trials = sum(c for c, _ in worlds), sum(n for _, n in worlds)
    others = trials**2 - sum(n * n for _, n in worlds)
    return (
        Fraction(sum(c * (c - 1) for c, _ in worlds), pairs) if pairs else None,
        Fraction(passed**2 - sum(c * c for c, _ in worlds), others) if others else None,
        Fraction(passed, trials),
    )


def _components(rows: Sequence[_Row]) -> Components:
    same = _mean([row[0] for row in rows], "no task has 2 trials in one world")
    other = _mean([row[1] for row in rows], "no task has trials in 2 worlds")
    means = [row[2] for row in rows]
    mean = sum(means, Fraction(0)) / len(means)
    cross = (sum(means, Fraction(0)) ** 2 - sum((m * m for m in means), Fraction(0))) / (len(means) * (len(means) - 1))
    return Components(float(other - cross), float(same - other), float(mean - same), float(mean - cross))


def _mean(values: Sequence[Fraction | None], otherwise: str) -> Fraction:
    known = [value for value in values if value is not None]
    if not known:
        raise ValueError(otherwise)
    return sum(known, Fraction(0)) / len(known)


def half_width_without(half_width: float, share: float) -> float:
    """The half-width of a rerun's interval if a share of its variance were gone: half_width sqrt(1 - share).

    Variances add, points do not: 5.3 points with 30% less variance become 4.4, not 3.7.
    """
    return half_width * math.sqrt(max(0.0, 1 - share))
