"""Two arms on the same tasks: is the difference in pass^k more than luck?"""

import math
from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
from attrs import frozen
from scipy.special import ndtri, stdtrit

from .estimators import mean_pass_hat_k
from .tally import Counts, Floats, Tally, is_whole, require_level, whole_k
from .told import Told
from .within import WithinModel

FLIPS = 9_999
THINNINGS = 100
_MOST_SINGLE_TASKS = 2_000  # above this, tasks with the same difference flip as one binomial draw
_CHUNK = 1_000
_TIE = 1e-12  # rounding must not turn a tie into a smaller difference

_Whole: TypeAlias = npt.NDArray[np.int64]


@frozen
class PairedRow(Told):
    """The difference B - A in pass^k, tasks as a sample: "on other tasks like these".

    Attributes:
        k: number of trials in question.
        a: pass^k of arm A, 0 to 1.
        b: pass^k of arm B, 0 to 1.
        difference: b - a, -1 to 1, unbiased.
        se: its standard error over tasks; None with one task.
        low: lower end of the paired t interval, -1 to 1; None with one task.
        high: upper end, or None.
        p: two-sided p of the sign-flip test, above 0 to 1; None with one task.
        p_adjusted: the same, adjusted for having looked at all k of the table (max-t); None with one task.
    """

    k: int
    a: float
    b: float
    difference: float
    se: float | None
    low: float | None
    high: float | None
    p: float | None
    p_adjusted: float | None


@frozen
class Paired(Told):
    """The differences for several k, and how they were tested.

    Attributes:
        tasks: number of pairs.
        moved: tasks whose share of passed trials differs between the arms.
        thinned: tasks whose larger arm was thinned for the test, because n differs between the arms.
        level: confidence level of the intervals.
        flips: sign flips per test.
        thinnings: over how many thinnings the test was averaged; 0 if none was needed.
        seed: of flips and thinnings.
        rows: one per k, ascending.
    """

    tasks: int
    moved: int
    thinned: int
    level: float
    flips: int
    thinnings: int
    seed: int
    rows: tuple[PairedRow, ...]


@frozen
class FixedDifference(Told):
    """The difference B - A in pass^k on these very tasks: "if you rerun this suite".

    Attributes:
        k: number of trials in question.
        difference: -1 to 1.
        se: standard error if both arms' trials are drawn again, independently of each other.
        low: lower end of the z interval, -1 to 1.
        high: upper end.
    """

    k: int
    difference: float
    se: float
    low: float
    high: float


def paired_differences(
    successes_a: Counts,
    trials_a: int | Counts,
    successes_b: Counts,
    trials_b: int | Counts,
    ks: Sequence[int] | None = None,
    *,
    level: float = 0.95,
    flips: int = FLIPS,
    thinnings: int = THINNINGS,
    seed: int = 0,
) -> Paired:
    """Compare two arms task by task: paired t interval, sign-flip p, and p adjusted over k.

    The test is on d = h_k(B) - h_k(A) of each task, h_k = C(c, k) / C(n, k). Under no difference its sign is as good
    as a coin, so the observed mean is ranked among means with random signs (Fisher 1935). The adjusted p ranks each k
    among the largest studentised mean of all k under the same flips (Westfall and Young 1993).

    Where n differs between the arms of a task, d is lopsided and its sign is no coin: the test would reject far too
    often. The larger arm is then thinned to the smaller n: trials are left out at random (hypergeometric), and p and
    the variance below the interval are averaged over thinnings. The estimates are those of all trials.

    Args:
        successes_a: passed trials of arm A, one int per task.
        trials_a: trials of arm A, one int for all tasks or one per task.
        successes_b: of arm B, the same tasks in the same order.
        trials_b: of arm B.
        ks: values of k, each 1 to the smallest n of both arms; None takes all.
        level: confidence level, between 0 and 1.
        flips: random sign flips, at least 1.
        thinnings: at least 1.
        seed: same seed, same digits.

    Raises:
        ValueError: as `Tally.of`; arms of different lengths; no k; flips or thinnings below 1; a level outside 0..1.
    """
    require_level(level)
    for name, number in (("flips", flips), ("thinnings", thinnings)):
        if not is_whole(number) or number < 1:
            raise ValueError(f"{name} must be a whole number of at least 1, got {number!r}")
    arms, wanted = _arms(successes_a, trials_a, successes_b, trials_b, ks)
    (tally_a, c_a, n_a), (tally_b, c_b, n_b) = arms
    thinned = n_a != n_b
    differences = _differences(c_a, n_a, c_b, n_b, wanted)
    samples = [differences]
    if thinned.any() and len(c_a) > 1:
        random = np.random.default_rng([seed, 1])
        least = np.minimum(n_a, n_b)
        samples = [
            _differences(_thin(random, c_a, n_a, least), least, _thin(random, c_b, n_b, least), least, wanted)
            for _ in range(thinnings)
        ]
    se: list[float | None] = [None] * len(wanted)
    p: list[tuple[float, float] | None] = [None] * len(wanted)
    if len(c_a) > 1:
        variances = np.mean([sample.var(axis=0, ddof=1) for sample in samples], axis=0)
        se = np.sqrt(variances / len(c_a)).tolist()
        p = list(_flip_tests(samples, flips, seed))
    rows = []
    for k, error, tested in zip(wanted, se, p, strict=True):
        a, b = mean_pass_hat_k(tally_a, k), mean_pass_hat_k(tally_b, k)
        ends = _ends(float(b - a), error, float(stdtrit(max(len(c_a) - 1, 1), 0.5 + level / 2)))
        rows.append(PairedRow(k, float(a), float(b), float(b - a), error, *ends, *(tested or (None, None))))
    return Paired(
        tasks=len(c_a),
        moved=int((c_a * n_b != c_b * n_a).sum()),
        thinned=int(thinned.sum()),
        level=level,
        flips=flips,
        thinnings=len(samples) if samples[0] is not differences else 0,
        seed=seed,
        rows=tuple(rows),
    )


def fixed_differences(
    successes_a: Counts,
    trials_a: int | Counts,
    successes_b: Counts,
    trials_b: int | Counts,
    ks: Sequence[int] | None = None,
    *,
    level: float = 0.95,
) -> tuple[FixedDifference, ...]:
    """Difference in pass^k on these very tasks, only trials random: z interval with the model-smoothed variances.

    The variance is the sum of those of both arms, see `interval` (fixed). It treats the arms as independent.

    Args:
        successes_a: passed trials of arm A, one int per task.
        trials_a: trials of arm A, one int for all tasks or one per task.
        successes_b: of arm B, the same tasks in the same order.
        trials_b: of arm B.
        ks: values of k, each 1 to the smallest n of both arms; None takes all.
        level: confidence level, between 0 and 1.

    Raises:
        ValueError: as `paired_differences`.
    """
    require_level(level)
    ((tally_a, *_), (tally_b, *_)), wanted = _arms(successes_a, trials_a, successes_b, trials_b, ks)
    models = [WithinModel.fit(tally, max(wanted)) for tally in (tally_a, tally_b)]
    found = []
    for k in wanted:
        difference = float(mean_pass_hat_k(tally_b, k) - mean_pass_hat_k(tally_a, k))
        se = math.sqrt(sum(model.variance_sum(k) for model in models)) / tally_a.tasks
        low, high = _bounds(difference, se, float(ndtri(0.5 + level / 2)))
        found.append(FixedDifference(k, difference, se, low, high))
    return tuple(found)


_Arm: TypeAlias = tuple[Tally, _Whole, _Whole]


def _arms(
    successes_a: Counts, trials_a: int | Counts, successes_b: Counts, trials_b: int | Counts, ks: Sequence[int] | None
) -> tuple[tuple[_Arm, _Arm], list[int]]:
    """Both arms checked, as tally, passed and tried trials per task; and the k asked for, ascending."""
    if ks is not None and len(ks) == 0:
        raise ValueError("ks is empty: name one k or more")
    for k in ks or ():
        whole_k(k)
    largest = 1 if ks is None else max(ks)
    arms = [
        (Tally.of(passed, tried, k=largest), np.asarray(passed, dtype=np.int64), tried)
        for passed, tried in ((successes_a, trials_a), (successes_b, trials_b))
    ]
    lengths = [len(passed) for _, passed, _ in arms]
    if lengths[0] != lengths[1]:
        raise ValueError(f"arm A has {lengths[0]} tasks, but arm B {lengths[1]}: pairs need the same tasks in both")
    first, second = (
        (tally, passed, np.broadcast_to(np.asarray(tried, dtype=np.int64), passed.shape))
        for tally, passed, tried in arms
    )
    wanted = range(1, min(first[0].min_trials, second[0].min_trials) + 1) if ks is None else sorted({*ks})
    return (first, second), [int(k) for k in wanted]


def _differences(c_a: _Whole, n_a: _Whole, c_b: _Whole, n_b: _Whole, ks: Sequence[int]) -> Floats:
    """h_k(B) - h_k(A) of each task, shape (tasks, ks)."""
    return np.stack([_scores(c_b, n_b, k) - _scores(c_a, n_a, k) for k in ks], axis=1)


def _scores(c: _Whole, n: _Whole, k: int) -> Floats:
    found = np.empty(len(c))
    for trials in np.unique(n).tolist():
        table = np.array([math.comb(passed, k) / math.comb(trials, k) for passed in range(trials + 1)])
        of_these = n == trials
        found[of_these] = table[c[of_these]]
    return found


def _thin(random: np.random.Generator, c: _Whole, n: _Whole, least: _Whole) -> _Whole:
    return random.hypergeometric(c, n - c, least)


def _flip_tests(samples: Sequence[Floats], flips: int, seed: int) -> list[tuple[float, float]]:
    """Plain and adjusted p for each k, averaged over the samples of differences, (tasks, ks) each."""
    tasks, ks = samples[0].shape
    random = np.random.default_rng(seed)
    observed = [np.abs(sample.mean(axis=0)) for sample in samples]
    squares = [np.where((mean_square := (s**2).mean(axis=0)) > 0, mean_square, 1.0) for s in samples]
    hits = np.zeros((len(samples), ks))
    largest_hits = np.zeros((len(samples), ks))
    grouped = None if tasks <= _MOST_SINGLE_TASKS else [np.unique(s, axis=0, return_counts=True) for s in samples]
    for start in range(0, flips, _CHUNK):
        size = min(_CHUNK, flips - start)
        signs = random.choice(np.array([-1.0, 1.0]), (size, tasks)) if grouped is None else None
        for i, sample in enumerate(samples):
            if signs is not None:
                means = np.abs(signs @ sample) / tasks
            else:
                assert grouped is not None
                values, counts = grouped[i]
                means = np.abs((2.0 * random.binomial(counts, 0.5, (size, len(counts))) - counts) @ values) / tasks
            hits[i] += (means >= observed[i] - _TIE).sum(axis=0)
            # mean^2 over the mean square grows with |t|, and the mean square is the same for all flips.
            largest = (means**2 / squares[i]).max(axis=1)
            largest_hits[i] += (largest[:, None] >= observed[i] ** 2 / squares[i] - _TIE).sum(axis=0)
    plain, adjusted = (((counted + 1) / (flips + 1)).mean(axis=0).tolist() for counted in (hits, largest_hits))
    return list(zip(plain, adjusted, strict=True))


def _ends(centre: float, se: float | None, quantile: float) -> tuple[float | None, float | None]:
    return (None, None) if se is None else _bounds(centre, se, quantile)


def _bounds(centre: float, se: float, quantile: float) -> tuple[float, float]:
    return max(-1.0, centre - quantile * se), min(1.0, centre + quantile * se)
