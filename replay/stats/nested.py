"""Shares of the noise: tasks, the outside world, user and model, from nested trials."""

import math
from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise

import numpy as np
from attrs import frozen
from scipy.special import ndtr, stdtrit

from .tally import is_whole, require_level
from .told import Told

RESAMPLES = 10_000


@frozen
class Components(Told):
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
class Components3(Told):
    """The same with the user apart; for scripted or seeded users only.

    Interactions belong to what is frozen last: those of user and outside to the user, those of the model to the rest.

    Attributes:
        user: between users inside a world.
        rest: of trials with one user in one world: the model, with its interactions.
    """

    task: float
    outside: float
    user: float
    rest: float
    total: float


@frozen
class NoiseShare(Told):
    """A source's share of the noise of a rerun, which is the variance of a verdict less that between tasks.

    Attributes:
        estimate: may fall below 0; None if there is no noise at all.
        low: lower end of the percentile interval over tasks; None without noise.
        high: upper end.
        level: between 0 and 1.
    """

    estimate: float | None
    low: float | None
    high: float | None
    level: float


@frozen
class NoiseShares(Told):
    """The noise of a rerun by source; the estimates add up to 1.

    Attributes:
        outside: first order.
        user: with its interactions with the outside.
        rest: the model, with all of its interactions.
    """

    outside: NoiseShare
    user: NoiseShare
    rest: NoiseShare


World = tuple[int, int]
"""Passed trials and trials in one world, or with one user in one world."""


def components_nested(tasks: Sequence[Sequence[World]]) -> Components:
    """Variance by source, from trials in several recorded worlds of each task.

    From agreements of pairs of trials, all U-statistics (Hoeffding 1948): of the same world (S), of different worlds of
    a task (D), of different tasks (X), and the mean (m). task = D - X, outside = S - D, rest = m - S, total = m - X.
    Where numbers differ between tasks, each task is averaged on its own first; a task without a pair of a kind is left
    out of the mean of that kind. Answers that worlds share bias the outside towards 0.

    Args:
        tasks: for each task, of each world the passed trials and the trials.

    Raises:
        ValueError: fewer than 2 tasks; impossible counts; no task with 2 trials in a world, or none with 2 worlds.
    """
    rest, outside, task, total = _parts(_in_worlds(tasks), _IN_WORLDS)
    return Components(task, outside, rest, total)


def components_nested3(tasks: Sequence[Sequence[Sequence[World]]]) -> Components3:
    """Variance by source, from trials that share a user in a world, in several worlds of each task.

    As `components_nested`, with the agreement of pairs with the same user in the same world (U) besides, where S and D
    are of different users: task = D - X, outside = S - D, user = U - S, rest = m - U, total = m - X. Each user belongs
    to one world. Numbers may differ everywhere.

    Args:
        tasks: for each task, of each world, for each of its users the passed trials and the trials.

    Raises:
        ValueError: fewer than 2 tasks; impossible counts; no task with 2 trials of a user, with 2 users in a world, or
            with 2 worlds.
    """
    rest, user, outside, task, total = _parts(_with_users(tasks), _WITH_USERS)
    return Components3(task, outside, user, rest, total)


def outside_share(
    tasks: Sequence[Sequence[World]], *, level: float = 0.95, resamples: int = RESAMPLES, seed: int = 0
) -> NoiseShare:
    """The outside's share of the noise, outside / (outside + rest), with the percentile interval of the task bootstrap.

    Args:
        tasks: as of `components_nested`.
        level: between 0 and 1.
        resamples: at least 1.
        seed: same seed, same digits.

    Raises:
        ValueError: as `components_nested`.
    """
    return _shares(_in_worlds(tasks), _IN_WORLDS, level, resamples, seed)[1]


def noise_shares(
    tasks: Sequence[Sequence[Sequence[World]]], *, level: float = 0.95, resamples: int = RESAMPLES, seed: int = 0
) -> NoiseShares:
    """The shares of outside, user and the rest, each of their sum, with percentile intervals of the task bootstrap.

    Args:
        tasks: as of `components_nested3`.
        level: between 0 and 1.
        resamples: at least 1.
        seed: same seed, same digits.

    Raises:
        ValueError: as `components_nested3`.
    """
    rest, user, outside = _shares(_with_users(tasks), _WITH_USERS, level, resamples, seed)
    return NoiseShares(outside=outside, user=user, rest=rest)


def half_width_without(half_width: float, share: float) -> float:
    """The half-width of a rerun's interval if a share of its variance were gone: half_width sqrt(1 - share).

    Variances add, points do not: 5.3 points with 30% less variance become 4.4, not 3.7.
    """
    return half_width * math.sqrt(max(0.0, 1 - share))


# -- agreements of pairs -----------------------------------------------------------------------------------------------

_Row = tuple[Fraction | None, ...]
"""Of a task: its mean, and how often a pair of its trials both pass: first of pairs that share most, last of those that
share least; None where it has no such pair."""

_IN_WORLDS = ("no task has 2 trials in one world", "no task has trials in 2 worlds")
_WITH_USERS = ("no task has 2 trials of one user in one world", "no task has 2 users in one world", _IN_WORLDS[1])


def _in_worlds(tasks: Sequence[Sequence[World]]) -> list[_Row]:
    rows: list[_Row] = []
    for index, worlds in enumerate(tasks):
        _check(index, worlds, "in a world")
        rows.append((_mean_of(worlds), _ratio([_inside(world) for world in worlds]), _ratio([_between(worlds)])))
    return _enough(rows)


def _with_users(tasks: Sequence[Sequence[Sequence[World]]]) -> list[_Row]:
    rows: list[_Row] = []
    for index, worlds in enumerate(tasks):
        users = [user for world in worlds for user in world]
        _check(index, users, "of a user")
        sums = [(sum(c for c, _ in world), sum(n for _, n in world)) for world in worlds]
        same, others = [_inside(user) for user in users], [_between(world) for world in worlds]
        rows.append((_mean_of(users), _ratio(same), _ratio(others), _ratio([_between(sums)])))
    return _enough(rows)


def _check(index: int, cells: Sequence[World], where: str) -> None:
    for c, n in cells:
        if not (is_whole(c) and is_whole(n) and 0 <= c <= n and n >= 1):
            raise ValueError(f"task {index}: {c} passed of {n} trials {where} is impossible")
    if not cells:
        raise ValueError(f"task {index} has no world")


def _enough(rows: list[_Row]) -> list[_Row]:
    if len(rows) < 2:
        raise ValueError(f"at least 2 tasks are needed to tell tasks apart, got {len(rows)}")
    return rows


def _inside(cell: World) -> World:
    """Ordered pairs of different trials of a cell: that both pass, and all."""
    c, n = cell
    return c * (c - 1), n * (n - 1)


def _between(cells: Sequence[World]) -> World:
    """Ordered pairs of trials of different cells: that both pass, and all."""
    passed, trials = sum(c for c, _ in cells), sum(n for _, n in cells)
    return passed**2 - sum(c * c for c, _ in cells), trials**2 - sum(n * n for _, n in cells)


def _ratio(pairs: Sequence[World]) -> Fraction | None:
    whole = sum(n for _, n in pairs)
    return Fraction(sum(c for c, _ in pairs), whole) if whole else None


def _mean_of(cells: Sequence[World]) -> Fraction:
    return Fraction(sum(c for c, _ in cells), sum(n for _, n in cells))


# -- what they come to -------------------------------------------------------------------------------------------------


def _parts(rows: Sequence[_Row], otherwise: Sequence[str]) -> list[float]:
    """The variances, from that of what is frozen last to that between tasks, and their sum.

    Raises:
        ValueError: no task has a pair of some kind; ``otherwise`` says so.
    """
    means = [row[0] for row in rows if row[0] is not None]
    mean = sum(means, Fraction(0)) / len(means)
    cross = (sum(means, Fraction(0)) ** 2 - sum((m * m for m in means), Fraction(0))) / (len(means) * (len(means) - 1))
    levels = [mean, *(_mean([row[i] for row in rows], why) for i, why in enumerate(otherwise, 1)), cross]
    return [*(float(above - below) for above, below in pairwise(levels)), float(mean - cross)]


def _mean(values: Sequence[Fraction | None], otherwise: str) -> Fraction:
    known = [value for value in values if value is not None]
    if not known:
        raise ValueError(otherwise)
    return sum(known, Fraction(0)) / len(known)


def _shares(
    rows: Sequence[_Row], otherwise: Sequence[str], level: float, resamples: int, seed: int
) -> list[NoiseShare]:
    """Of the variances but that between tasks, each of their sum."""
    require_level(level)
    parts = _parts(rows, otherwise)[:-2]
    noise = sum(parts)
    if noise <= 0:
        return [NoiseShare(None, None, None, level)] * len(parts)
    # Parts are differences of means over tasks, so resampling needs sums only.
    table = np.array([[math.nan if value is None else float(value) for value in row] for row in rows])
    known = ~np.isnan(table)
    tasks = len(rows)
    drawn = np.random.default_rng(seed).multinomial(tasks, np.full(tasks, 1 / tasks), size=resamples)
    with np.errstate(invalid="ignore", divide="ignore"):
        means = (drawn @ np.where(known, table, 0.0)) / (drawn @ known.astype(np.float64))
        shares = -np.diff(means, axis=1) / (means[:, :1] - means[:, -1:])
    shares = shares[np.isfinite(shares).all(axis=1)]
    if not len(shares):
        return [NoiseShare(part / noise, None, None, level) for part in parts]
    tail = _expanded_tail(level, tasks)
    low, high = np.quantile(shares, [tail, 1 - tail], axis=0)
    return [NoiseShare(part / noise, float(low[place]), float(high[place]), level) for place, part in enumerate(parts)]


def _expanded_tail(level: float, tasks: int) -> float:
    """What to cut off at each end: less than (1 - level) / 2, as much less as few tasks make too narrow.

    The percentile interval of a mean is short by sqrt((T - 1) / T) and by the normal's quantile in place of Student's t
    (Hesterberg 2015: What teachers should know about the bootstrap, section 4.4, "expanded percentile interval").
    """
    return float(ndtr(-math.sqrt(tasks / (tasks - 1)) * stdtrit(tasks - 1, (1 + level) / 2)))
