"""How many tasks and trials an experiment needs."""

import math
from collections.abc import Sequence

import numpy as np
from scipy.special import expit, logit, ndtr, ndtri

from .tally import Floats, is_whole, whole_k
from .within import common_trials


def score_variance(p: Sequence[float] | Floats | float, trials: int, k: int) -> Floats:
    """Variance of a task's score C(c, k) / C(n, k) over its trials, given that each passes with chance p.

    Exact: two random k-subsets share s trials with a hypergeometric chance, and pass both with p^(2k - s).

    Args:
        p: chances, 0 to 1.
        trials: n, at least k.
        k: at least 1.

    Returns:
        Variances, 0 to 0.25, in the shape of `p`.

    Raises:
        ValueError: a chance outside 0..1, k below 1, or trials below k.
    """
    whole_k(k)
    if not is_whole(trials) or trials < k:
        raise ValueError(f"k = {k} needs at least as many trials, got {trials!r}")
    chances = _chances("p", p)
    common, shares = common_trials(trials, k)
    second = (shares * chances[..., None] ** (2 * k - common)).sum(axis=-1)
    return np.asarray(np.maximum(second - chances ** (2 * k), 0.0))


def tasks_needed(
    p_a: Sequence[float] | Floats,
    p_b: Sequence[float] | Floats,
    trials: int,
    k: int,
    *,
    weights: Sequence[float] | Floats | None = None,
    alpha: float = 0.05,
    power: float = 0.8,
) -> float:
    """Tasks that a paired comparison needs to find the difference between two agents, tasks as a sample.

    T = ((z_(1 - alpha/2) + z_power) / delta)^2 (Var(pB^k - pA^k) + E Var(h_k | pA) + E Var(h_k | pB)). A fraction:
    round it up.

    Args:
        p_a: chances to pass of a number of tasks under the first agent, 0 to 1.
        p_b: of the same tasks under the second.
        trials: n per task and agent.
        k: 1 to n.
        weights: how often each of these tasks occurs; None: all alike.
        alpha: two-sided level of the test, between 0 and 1.
        power: chance to find the difference, between 0 and 1.

    Returns:
        Tasks, above 0; infinite if the agents do not differ in pass^k.

    Raises:
        ValueError: as `score_variance`; different lengths; weights that are none; alpha or power outside 0..1.
    """
    delta, variance = _difference(p_a, p_b, trials, k, weights)
    for name, value in (("alpha", alpha), ("power", power)):
        if not 0 < value < 1:
            raise ValueError(f"{name} must be between 0 and 1, both excluded, got {value!r}")
    if delta == 0:
        return math.inf
    return float(((ndtri(1 - alpha / 2) + ndtri(power)) / delta) ** 2 * variance)


def power_of_comparison(
    p_a: Sequence[float] | Floats,
    p_b: Sequence[float] | Floats,
    tasks: int,
    trials: int,
    k: int,
    *,
    weights: Sequence[float] | Floats | None = None,
    alpha: float = 0.05,
) -> float:
    """Chance that a paired comparison of so many tasks finds the difference; the converse of `tasks_needed`.

    Args:
        p_a: chances to pass of a number of tasks under the first agent, 0 to 1.
        p_b: of the same tasks under the second.
        tasks: T, at least 1.
        trials: n per task and agent.
        k: 1 to n.
        weights: how often each of these tasks occurs; None: all alike.
        alpha: two-sided level of the test, between 0 and 1.

    Returns:
        A chance, 0 to 1, by the normal approximation.

    Raises:
        ValueError: as `tasks_needed`; tasks below 1.
    """
    delta, variance = _difference(p_a, p_b, trials, k, weights)
    if not is_whole(tasks) or tasks < 1:
        raise ValueError(f"tasks must be a whole number of at least 1, got {tasks!r}")
    if variance == 0:
        return float(delta != 0)
    return float(ndtr(abs(delta) / math.sqrt(variance / tasks) - ndtri(1 - alpha / 2)))


def chance_within_margin(se: float, margin: float, *, alpha: float = 0.05) -> float:
    """Chance that a run exactly as good as its baseline is found to be no worse by more than a margin.

    Args:
        se: standard error of the difference, at least 0.
        margin: how much worse is still good, at least 0.
        alpha: one-sided level, between 0 and 1.

    Returns:
        A chance, 0 to 1, by the normal approximation.

    Raises:
        ValueError: a number outside.
    """
    if not (se >= 0 and margin >= 0 and 0 < alpha < 1):
        raise ValueError(f"se and margin are at least 0, alpha between 0 and 1; got {se!r}, {margin!r}, {alpha!r}")
    return 1.0 if se == 0 else float(ndtr(margin / se - ndtri(1 - alpha)))


def trials_for_margin(
    p: Sequence[float] | Floats,
    tasks: int,
    k: int,
    margin: float,
    *,
    weights: Sequence[float] | Floats | None = None,
    alpha: float = 0.05,
    power: float = 0.8,
) -> int | None:
    """Fewest trials per task of both runs with which a run as good as its baseline passes a gate with a margin.

    These tasks run again; both runs have so many trials.

    Args:
        p: chances of tasks to pass, 0 to 1.
        tasks: T, at least 1.
        k: at least 1.
        margin: how much worse is still good, above 0.
        weights: how often each of these tasks occurs; None: all alike.
        alpha: one-sided level, between 0 and 1.
        power: wanted chance to pass, between 0 and 1.

    Returns:
        Trials per task, at least k; None if more than 10,000 are needed.

    Raises:
        ValueError: as `score_variance`; a margin of 0 or below.
    """
    if not margin > 0:
        raise ValueError(f"margin must be above 0, got {margin!r}")
    chances = _chances("p", p)
    shares = _shares(chances, weights)
    most = (margin / float(ndtri(1 - alpha) + ndtri(power))) ** 2 * tasks / 2

    def enough(trials: int) -> bool:
        return float(shares @ score_variance(chances, trials, k)) <= most

    if enough(k):
        return k
    low, high = k, 10_000
    if not enough(high):
        return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def shifted(
    p: Sequence[float] | Floats, k: int, delta: float, *, weights: Sequence[float] | Floats | None = None
) -> Floats:
    """The same tasks under an agent that is better (or worse) by `delta` in pass^k: all log-odds moved alike.

    Tasks that always or never pass stay so.

    Args:
        p: chances to pass, 0 to 1.
        k: at least 1.
        delta: wanted change of the mean of p^k, -1 to 1.
        weights: how often each of these tasks occurs; None: all alike.

    Raises:
        ValueError: a chance outside 0..1; k below 1; no such shift exists; the message says how far it may go.
    """
    whole_k(k)
    chances = _chances("p", p)
    shares = _shares(chances, weights)
    now = float(shares @ chances**k)
    ends = [float(shares @ np.where((chances > 0) & (chances < 1), end, chances) ** k) - now for end in (0.0, 1.0)]
    if delta == 0:
        return chances
    if not ends[0] < delta < ends[1]:
        raise ValueError(
            f"pass^{k} can change by {ends[0]:+.3f} to {ends[1]:+.3f} here, both excluded, not by {delta:+}"
        )
    low, high = -60.0, 60.0
    moved = logit(chances)
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if float(shares @ expit(moved + middle) ** k) - now < delta else (low, middle)
    return np.asarray(expit(moved + (low + high) / 2))


def _difference(
    p_a: Sequence[float] | Floats,
    p_b: Sequence[float] | Floats,
    trials: int,
    k: int,
    weights: Sequence[float] | Floats | None,
) -> tuple[float, float]:
    """Mean difference in p^k, and the variance of one task's measured difference."""
    a, b = _chances("p_a", p_a), _chances("p_b", p_b)
    if a.ndim != 1 or a.shape != b.shape or a.size == 0:
        raise ValueError("p_a and p_b need one chance for each of the same tasks, and at least one task")
    shares = _shares(a, weights)
    d = b**k - a**k
    mean = float(shares @ d)
    noise = shares @ (score_variance(a, trials, k) + score_variance(b, trials, k))
    return mean, float(shares @ (d - mean) ** 2 + noise)


def _chances(name: str, p: Sequence[float] | Floats | float) -> Floats:
    chances = np.asarray(p, dtype=np.float64)
    if not ((chances >= 0) & (chances <= 1)).all():
        raise ValueError(f"{name} must hold chances from 0 to 1")
    return chances


def _shares(chances: Floats, weights: Sequence[float] | Floats | None) -> Floats:
    given = np.ones(chances.shape) if weights is None else np.asarray(weights, dtype=np.float64)
    if given.shape != chances.shape or not (given >= 0).all() or given.sum() <= 0:
        raise ValueError("weights must hold one number of at least 0 per task, and not only zeros")
    return np.asarray(given / given.sum())
