"""Numbers corrected for the errors of a judge."""

import math
from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
from attrs import frozen
from scipy.special import ndtri

from .estimators import mean_pass_hat_k
from .judges import JudgeQuality, Share
from .tally import Counts, Floats, Tally, require_level
from .told import Told

_WIDEST = 0.5  # an interval that is wider tells nothing

Verdicts: TypeAlias = Sequence[bool] | Sequence[int] | Sequence[float] | npt.NDArray[Any]
"""One number per trial, 0 or 1."""


@frozen
class Corrected(Told):
    """A pass rate corrected for judge error; proportions, clipped to 0..1.

    Attributes:
        estimate: of the share that people would pass.
        low: lower end.
        high: upper end.
        se: standard error.
        weight: of the judge's verdicts on unlabelled trials: 1 for PPI, 0 if they tell nothing.
    """

    estimate: float
    low: float
    high: float
    se: float
    weight: float


def ppi(
    labels: Verdicts,
    judged: Verdicts,
    unlabelled: Verdicts,
    *,
    tuned: bool = False,
    clusters: tuple[Sequence[str], Sequence[str]] | None = None,
    level: float = 0.95,
) -> Corrected:
    """Share that people would pass, from a few labels and many verdicts of a judge: prediction-powered inference.

    mean of the judge's verdicts on unlabelled trials + mean of (label - verdict) on labelled ones (Angelopoulos et al.
    2023). `tuned` weights the verdicts by how much they tell (PPI++, Angelopoulos, Duchi, Zrnic 2024); that needs about
    100 labels with 10 of each kind.

    Args:
        labels: of people, on the labelled trials, 0 or 1.
        judged: the judge's verdicts on the same trials.
        unlabelled: the judge's verdicts on all other trials.
        tuned: weight them.
        clusters: the task of each labelled, and of each unlabelled trial: trials of a task are not independent, and
            the standard error allows for it. None takes all trials as independent.
        level: between 0 and 1.

    Raises:
        ValueError: fewer than 2 labelled or unlabelled trials; different lengths; numbers outside 0..1.
    """
    require_level(level)
    y, f, rest = (_numbers(name, v) for name, v in (("labels", labels), ("judged", judged), ("unlabelled", unlabelled)))
    if len(y) != len(f) or len(y) < 2 or len(rest) < 2:
        raise ValueError(f"at least 2 labelled and 2 other trials are needed; got {len(y)}, {len(f)} and {len(rest)}")
    weight = 1.0
    if tuned:
        spread = float(f.var(ddof=1)) * (1 + len(y) / len(rest))
        weight = float(np.cov(y, f)[0, 1]) / spread if spread > 0 else 0.0
    errors = y - weight * f
    estimate = weight * float(rest.mean()) + float(errors.mean())
    tasks = (None, None) if clusters is None else clusters
    se = math.sqrt(_variance_of_mean(errors, tasks[0]) + weight**2 * _variance_of_mean(rest, tasks[1]))
    half = float(ndtri(0.5 + level / 2)) * se
    low, high = max(0.0, estimate - half), min(1.0, estimate + half)
    return Corrected(min(max(estimate, 0.0), 1.0), min(low, 1.0), max(high, 0.0), se, weight)


def rogan_gladen(judged: float, sensitivity: float, specificity: float) -> float:
    """Pass rate corrected by a judge's sensitivity and specificity (Rogan and Gladen 1978).

    Only where both come from another project; with labels of your own, `ppi` is better.

    Args:
        judged: share that the judge passes, 0 to 1.
        sensitivity: chance that it passes what people pass.
        specificity: chance that it fails what people fail.

    Returns:
        The corrected share; it may fall outside 0..1.

    Raises:
        ValueError: the judge is no better than chance.
    """
    return (judged + specificity - 1) / _informedness(sensitivity, specificity)


def corrected_pass_hat_k(
    successes: Counts, trials: int | Counts, k: int, sensitivity: float, specificity: float
) -> float:
    """pass^k as people would judge, from the judge's verdicts and its error rates.

    sum over j of C(k, j) (-fp)^(k-j) h_j / J^k, with fp = 1 - specificity, J = sensitivity + specificity - 1 and h_j
    the judge's pass^j. Unbiased if each trial is misjudged independently.

    Args:
        successes: trials that the judge passes, one int per task.
        trials: n, one int for all tasks or one per task.
        k: 1 to the smallest n.
        sensitivity: chance that the judge passes what people pass, 0 to 1.
        specificity: chance that it fails what people fail, 0 to 1.

    Returns:
        An estimate that may fall outside 0..1.

    Raises:
        ValueError: as `Tally.of`; the judge is no better than chance.
    """
    tally = Tally.of(successes, trials, k=k)
    informed = _informedness(sensitivity, specificity)
    wrong = specificity - 1
    judged = [1.0, *(float(mean_pass_hat_k(tally, j)) for j in range(1, k + 1))]
    return math.fsum(math.comb(k, j) * wrong ** (k - j) * judged[j] for j in range(k + 1)) / informed**k


def corrected_by_labels(
    successes: Counts,
    trials: int | Counts,
    k: int,
    quality: JudgeQuality,
    *,
    level: float = 0.95,
    draws: int = 2_000,
    seed: int = 0,
) -> Share | None:
    """`corrected_pass_hat_k` with error rates from labels, and what their uncertainty makes of it.

    Sensitivity and specificity are drawn from their posteriors (Beta, Jeffreys' prior). The division by J^k blows up
    where the judge is hardly better than chance, so nothing is told if the interval is wider than a half.

    Args:
        successes: trials that the judge passes, one int per task.
        trials: n, one int for all tasks or one per task.
        k: 1 to the smallest n.
        quality: of the judge, from labels.
        level: of the interval, between 0 and 1.
        draws: at least 1.
        seed: same seed, same digits.

    Returns:
        The corrected pass^k, 0 to 1 and no more than that of a smaller k, with an interval for the error rates alone
        (not for tasks and trials); None if the labels do not tell it.

    Raises:
        ValueError: as `Tally.of`.
    """
    tally = Tally.of(successes, trials, k=k)
    if quality.recall.estimate is None or quality.specificity.estimate is None:
        return None
    if quality.recall.estimate + quality.specificity.estimate <= 1:
        return None
    random = np.random.default_rng(seed)
    sensitivity = random.beta(quality.tp + 0.5, quality.fn + 0.5, draws)
    specificity = random.beta(quality.tn + 0.5, quality.fp + 0.5, draws)
    informed = sensitivity + specificity - 1
    judged = [1.0, *(float(mean_pass_hat_k(tally, j)) for j in range(1, k + 1))]
    values = np.ones(draws)
    for of in range(1, k + 1):
        total = sum(math.comb(of, j) * (specificity - 1) ** (of - j) * judged[j] for j in range(of + 1))
        # A judge's errors may make the sum rise with k, and pass^k cannot. So it is the least so far, in each draw.
        values = np.minimum(values, np.clip(total / np.where(informed > 0, informed, 1.0) ** of, 0.0, 1.0))
    # Draws in which the judge is no better than chance could be anything.
    values = np.where(informed > 0, values, math.inf)
    ends = np.quantile(values, [(1 - level) / 2, (1 + level) / 2], method="nearest")
    low, high = (min(max(float(end), 0.0), 1.0) for end in ends)
    if not np.isfinite(ends).all() or high - low > _WIDEST:
        return None
    rates = quality.recall.estimate, quality.specificity.estimate
    estimate = min(corrected_pass_hat_k(successes, trials, j, *rates) for j in range(1, k + 1))
    clipped = min(max(estimate, 0.0), 1.0)
    return Share(clipped, min(low, clipped), max(high, clipped), quality.tp + quality.fp + quality.fn + quality.tn)


def labels_needed(
    labels: Verdicts,
    judged: Verdicts,
    half_width: float,
    *,
    unlabelled: Verdicts | None = None,
    clusters: tuple[Sequence[str], Sequence[str]] | None = None,
    level: float = 0.95,
) -> int | None:
    """Labels after which the interval of `ppi` is about so wide.

    Labels shrink the part of the variance that is of labelled trials; that of the judge's verdicts on the others stays.

    Args:
        labels: of people, so far.
        judged: the judge's verdicts on the same trials.
        half_width: wanted, above 0.
        unlabelled: the judge's verdicts on all other trials; None takes them as so many that they add nothing.
        clusters: as of `ppi`.
        level: between 0 and 1.

    Returns:
        About so many labels in all; None if no number of labels suffices: only more trials, or tasks, do.

    Raises:
        ValueError: fewer than 2 labels; different lengths; a half-width of 0 or below.
    """
    require_level(level)
    y, f = _numbers("labels", labels), _numbers("judged", judged)
    if len(y) != len(f) or len(y) < 2 or not half_width > 0:
        raise ValueError(f"at least 2 labels, and a half-width above 0, are needed; got {len(y)} and {half_width!r}")
    # With no disagreement seen, the rule of three bounds what there may be.
    tasks = (None, None) if clusters is None else clusters
    unseen = 3 / len(y) * (1 - min(3 / len(y), 0.5)) if (y == f).all() else 0.0
    variance = max(len(y) * _variance_of_mean(y - f, tasks[0]), unseen)
    stays = 0.0 if unlabelled is None else _variance_of_mean(_numbers("unlabelled", unlabelled), tasks[1])
    room = (half_width / float(ndtri(0.5 + level / 2))) ** 2 - stays
    return max(2, math.ceil(variance / room)) if room > 0 else None


def _variance_of_mean(values: Floats, tasks: Sequence[str] | None) -> float:
    """Of independent values, or, with tasks, of values that are independent between tasks only (Liang, Zeger 1986)."""
    if tasks is None:
        return float(values.var(ddof=1)) / len(values)
    if len(tasks) != len(values):
        raise ValueError(f"clusters name {len(tasks)} tasks for {len(values)} trials")
    sums: dict[str, float] = {}
    for task, residual in zip(tasks, (values - values.mean()).tolist(), strict=True):
        sums[task] = sums.get(task, 0.0) + residual
    groups = len(sums)
    correction = groups / (groups - 1) if groups > 1 else 1.0
    return correction * math.fsum(total**2 for total in sums.values()) / len(values) ** 2


def _informedness(sensitivity: float, specificity: float) -> float:
    informed = sensitivity + specificity - 1
    if not (0 <= sensitivity <= 1 and 0 <= specificity <= 1) or informed <= 0:
        raise ValueError(
            f"sensitivity {sensitivity!r} and specificity {specificity!r}: such a judge is no better than chance, and "
            "nothing can be corrected"
        )
    return informed


def _numbers(name: str, values: Verdicts) -> Floats:
    numbers = np.asarray(values, dtype=np.float64)
    if numbers.ndim != 1 or not ((numbers >= 0) & (numbers <= 1)).all():
        raise ValueError(f"{name} must hold one number from 0 to 1 per trial")
    return numbers
