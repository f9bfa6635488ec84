"""Tasks that come in groups: pairs of a user task and an attack are no independent tasks, as a user task has many."""

import math
from collections.abc import Hashable, Sequence

import numpy as np
from attrs import evolve, frozen
from scipy.special import stdtrit

from .intervals import FEW_OF_A_KIND, FEW_TASKS, Interval, interval, wilson
from .tally import Counts, Floats, Tally, is_whole, require_level
from .told import Told

FLIPS = 9_999


@frozen
class ClusteredDifference(Told):
    """The mean of paired differences B - A, with clusters as a sample: "on other tasks like these".

    Attributes:
        a: the mean of arm A, on the scale of the scores.
        b: of arm B.
        difference: b - a.
        se: cluster-robust standard error; None with one cluster.
        low: lower end of the t interval; None with one cluster.
        high: upper end.
        p: two-sided p of the sign-flip test over clusters, above 0 to 1; None with one cluster.
        level: of the interval.
        pairs: tasks.
        clusters: groups of them, that are independent of each other.
    """

    a: float
    b: float
    difference: float
    se: float | None
    low: float | None
    high: float | None
    p: float | None
    level: float
    pairs: int
    clusters: int


def clustered_interval(
    successes: Counts, trials: int | Counts, k: int, clusters: Sequence[Hashable], *, level: float = 0.95
) -> Interval:
    """Confidence interval of pass^k on other tasks like these, where tasks of a cluster are alike.

    With a cluster for each task it is that of `interval`. Else Wilson's (1927), with the cluster-robust variance
    G / (G - 1) * sum over clusters of (sum of residuals)^2 / T^2 (Liang and Zeger 1986) and Student's t with G - 1
    degrees of freedom; if all tasks scored alike, as if each cluster were one task.

    Args:
        successes: passed trials, one int per task.
        trials: n, one int for all tasks or one per task.
        k: 1 to the smallest n.
        clusters: of each task, what names its cluster.
        level: between 0 and 1.

    Raises:
        ValueError: as `interval`; another number of clusters than of tasks.
    """
    plain = interval(successes, trials, k, "population", level=level)
    groups = _groups(clusters, len(successes))
    number = len({*groups.tolist()})
    if number == len(successes):
        return plain
    scores = _scores(successes, trials, k)
    few = number < FEW_TASKS or min(int((scores == 1).sum()), int((scores < 1).sum())) < FEW_OF_A_KIND
    if number == 1:
        return evolve(plain, low=None, high=None, method="undefined", few_events=few)
    variance = _robust_variance(scores, groups)
    low, high = wilson(plain.estimate, variance, float(stdtrit(number - 1, 0.5 + level / 2)), size_if_certain=number)
    low, high = min(low, plain.estimate), max(high, plain.estimate)
    return evolve(plain, low=low, high=high, method="wilson-t by cluster", few_events=few)


def clustered_difference(
    a: Sequence[float],
    b: Sequence[float],
    clusters: Sequence[Hashable],
    *,
    level: float = 0.95,
    flips: int = FLIPS,
    seed: int = 0,
) -> ClusteredDifference:
    """Compare two arms on the same tasks: a t interval by cluster, and p by sign flips of whole clusters.

    Under no difference the sign of a cluster's summed difference is as good as a coin (Fisher 1935), so the observed
    mean is ranked among means with random signs: among all of them where these are no more than ``flips``.

    Args:
        a: a score per task in arm A, such as pass^k or a mean reward; any scale.
        b: of arm B, the same tasks in the same order.
        clusters: of each task, what names its cluster.
        level: of the interval, between 0 and 1.
        flips: random sign flips, at least 1.
        seed: same seed, same digits.

    Raises:
        ValueError: no tasks; different lengths; a score that is no finite number; flips below 1; a level outside 0..1.
    """
    require_level(level)
    if not is_whole(flips) or flips < 1:
        raise ValueError(f"flips must be a whole number of at least 1, got {flips!r}")
    if not len(a) == len(b) or not len(a):
        raise ValueError(f"pairs need the same tasks in both arms, and at least one; got {len(a)} and {len(b)}")
    first, second = (np.asarray(scores, dtype=np.float64) for scores in (a, b))
    if not (np.isfinite(first).all() and np.isfinite(second).all()):
        raise ValueError("a score is no finite number")
    differences = second - first
    groups = _groups(clusters, len(first))
    number = len({*groups.tolist()})
    mean = math.fsum(differences.tolist()) / len(differences)
    means = (math.fsum(first.tolist()) / len(first), math.fsum(second.tolist()) / len(second))
    if number == 1:
        return ClusteredDifference(*means, mean, None, None, None, None, level, len(first), 1)
    se = math.sqrt(_robust_variance(differences, groups))
    half = float(stdtrit(number - 1, 0.5 + level / 2)) * se
    p = _flip_test(np.bincount(groups, differences).astype(np.float64), flips, seed)
    return ClusteredDifference(*means, mean, se, mean - half, mean + half, p, level, len(first), number)


def holm(ps: Sequence[float]) -> list[float]:
    """P values adjusted for having made several tests (Holm 1979), in the order given; at most 1.

    Raises:
        ValueError: a p is outside 0..1.
    """
    if any(not 0 <= p <= 1 for p in ps):
        raise ValueError("a p is a number from 0 to 1")
    adjusted = [0.0] * len(ps)
    largest = 0.0
    for rank, place in enumerate(sorted(range(len(ps)), key=ps.__getitem__)):
        largest = max(largest, min(1.0, (len(ps) - rank) * ps[place]))
        adjusted[place] = largest
    return adjusted


def _flip_test(sums: Floats, flips: int, seed: int) -> float:
    observed = abs(float(sums.sum()))
    tie = 1e-12 * max(1.0, float(np.abs(sums).sum()))  # rounding must not turn a tie into a smaller difference
    if 2 ** (len(sums) - 1) <= flips:  # all of them; a sign for all clusters at once changes no distance from 0
        ways = np.arange(2 ** (len(sums) - 1))[:, None] >> np.arange(len(sums)) & 1
        return float((np.abs((1.0 - 2.0 * ways) @ sums) >= observed - tie).mean())
    signs = np.random.default_rng(seed).choice(np.array([-1.0, 1.0]), (flips, len(sums)))
    hits = int((np.abs(signs @ sums) >= observed - tie).sum())
    return (hits + 1) / (flips + 1)


def _robust_variance(scores: Floats, groups: np.ndarray[tuple[int], np.dtype[np.int64]]) -> float:
    """Of the mean of scores that are independent between groups only."""
    sums = np.bincount(groups, scores - scores.mean())
    return float(len(sums) / (len(sums) - 1) * (sums**2).sum() / len(scores) ** 2)


def _groups(clusters: Sequence[Hashable], tasks: int) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    if len(clusters) != tasks:
        raise ValueError(f"clusters of {len(clusters)} tasks, but {tasks} tasks")
    numbers: dict[Hashable, int] = {}
    return np.array([numbers.setdefault(name, len(numbers)) for name in clusters], dtype=np.int64)


def _scores(successes: Counts, trials: int | Counts, k: int) -> Floats:
    """C(c, k) / C(n, k) of each task."""
    Tally.of(successes, trials, k=k)
    tried = np.broadcast_to(np.asarray(trials), np.shape(successes))
    pairs = zip(np.asarray(successes).tolist(), tried.tolist(), strict=True)
    return np.array([math.comb(c, k) / math.comb(n, k) for c, n in pairs])
