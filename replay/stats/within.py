"""How far a task's score moves when its trials are drawn again: the variance inside tasks."""

import math

import numpy as np
from attrs import frozen
from scipy.special import betaln, chdtrc, expit, gammaln, xlog1py, xlogy

from .estimators import scores
from .tally import Counts, Floats, Tally

# Prior means and correlations of the beta-binomial: both ends reach far enough for agents that pass
# nearly never or nearly always, and for tasks that are all alike or all decided.
_MEANS, _CORRELATIONS = (
    grid.ravel()
    for grid in np.meshgrid(expit(np.linspace(-5, 5, 41)), expit(np.linspace(-4.5, 4.5, 25)), indexing="ij")
)
_SIZES = 1 / _CORRELATIONS - 1
_GRID_A, _GRID_B = _MEANS * _SIZES, (1 - _MEANS) * _SIZES
_NEGLIGIBLE = 1e-6

_SUPPORT = np.concatenate([[0.0], np.linspace(0.02, 0.98, 49), [0.99, 0.995, 1.0]])
_EM_STEPS = 30

_UNLIKELY = 0.05


def within_se(successes: Counts, trials: int | Counts, k: int) -> float | None:
    """Unbiased standard error of pass^k when the same tasks are run again: a diagnostic.

    The variance of a task's score is estimated by h_k^2 - h_2k, which is never below 0 and has the right
    mean. It exists only if every task has 2k trials or more. As a basis of intervals it covers too
    little, because it is often 0; `interval` smooths with a model instead.

    Args:
        successes: c, passed trials, one int per task.
        trials: n, one int for all tasks or one per task.
        k: 1 to the smallest n.

    Returns:
        A standard error on the scale of pass^k (0 to 1), or None if some task has fewer than 2k trials.

    Raises:
        ValueError: as `Tally.of`.
    """
    return unbiased_within_se(Tally.of(successes, trials, k=k), k)


def unbiased_within_se(tally: Tally, k: int) -> float | None:
    """`within_se` of a tally."""
    if 2 * k > tally.min_trials:
        return None
    variances = scores(tally, k) ** 2 - scores(tally, 2 * k)
    return math.sqrt(max(float(tally.weights @ variances), 0.0)) / tally.tasks


@frozen(eq=False)
class WithinModel:
    """Fitted descriptions of how the tasks' success probabilities p are spread.

    Fitted once for a tally, and asked for the variance at any k. One is smooth (beta-binomial, averaged
    over a grid by its posterior), one is lumpy (a mixture on fixed support points), and where the counts do
    not speak against it, one has all tasks alike. Each is wrong for some agents, in the direction of too
    little variance, hence `variance_sum` takes the largest.

    Attributes:
        tally: what was fitted.
        moments: of the smooth one: for each n, the sum over its tasks of E[p^j | outcome of the task],
            j = 0 .. 2k, shape (2k + 1,).
        mixture: weights of the support points, shape (53,), sum 1.
        alike: the p that all tasks share, 0 to 1; None if they differ by more than chance does.
    """

    tally: Tally
    moments: tuple[tuple[int, Floats], ...]
    mixture: Floats
    alike: float | None

    @classmethod
    def fit(cls, tally: Tally, largest_k: int) -> "WithinModel":
        """Fit the descriptions to a tally, to be asked for k up to the largest."""
        n, c = _columns(tally)
        moments = _moments(tally, _beta_posterior(tally, n, c), 2 * largest_k)
        return cls(tally, moments, _mixture(tally.weights, n, c), _alike(tally))

    @property
    def chances(self) -> tuple[Floats, Floats]:
        """Success probabilities of tasks as the lumpy description has them, and the share of tasks at each."""
        return _SUPPORT, self.mixture

    def variance_sum(self, k: int) -> float:
        """Sum over tasks of Var(h_k | p), k from 1 to the largest; over T^2, that of pass^k."""
        mixture_means = self.tally.tasks * float(self.mixture @ _SUPPORT ** (2 * k))
        mixture = float(self.tally.weights @ scores(self.tally, k) ** 2) - mixture_means
        smooth = sum(_variance(n, moments, k) for n, moments in self.moments)
        return max(smooth, mixture, self._variance_if_alike(k), 0.0)

    def _variance_if_alike(self, k: int) -> float:
        if self.alike is None:
            return 0.0
        powers: Floats = np.power(self.alike, np.arange(2 * k + 1, dtype=np.float64))
        return sum(float(moments[0]) * _variance(n, powers, k) for n, moments in self.moments)


def _variance(n: int, moments: Floats, k: int) -> float:
    """Var(h_k | p) of a task with n trials, from the moments E[p^j]; of several tasks, from sums of theirs."""
    # h_k^2 is the share of pairs of k-subsets that pass whole. A pair that has s trials in common
    # spans 2k - s trials, so E[h_k^2 | p] = sum over s of P(s in common) p^(2k - s).
    common, chances = common_trials(n, k)
    return float(chances @ moments[2 * k - common] - moments[2 * k])


def smooth_spreads(tally: Tally) -> tuple[Floats, Floats, Floats]:
    """Beta(a, b) spreads of the tasks' success probabilities, and the posterior weight of each; three equal shapes."""
    n, c = _columns(tally)
    return _beta_posterior(tally, n, c)


def lumpy_spreads(tally: Tally, times: int, random: np.random.Generator) -> tuple[Floats, Floats]:
    """Mixtures as of `WithinModel`, each fitted to tasks drawn anew: how far the fit itself may be off.

    Returns:
        The support points, shape (53,), and the weights, shape (times, 53).
    """
    n, c = _columns(tally)
    drawn = random.multinomial(tally.tasks, tally.weights / tally.tasks, size=times).astype(np.float64)
    return _SUPPORT, np.array([_mixture(weights, n, c) for weights in drawn])


def _columns(tally: Tally) -> tuple[Floats, Floats]:
    """Trials and successes of the cells, each of shape (cells, 1)."""
    cells = tally.cells
    return np.array([[float(cell.trials)] for cell in cells]), np.array([[float(cell.successes)] for cell in cells])


def common_trials(n: int, k: int) -> tuple["np.ndarray[tuple[int], np.dtype[np.int64]]", Floats]:
    """How many trials two random k-subsets of n share, and the chance of each: hypergeometric."""
    common = np.arange(max(0, 2 * k - n), k + 1)
    pairs = math.comb(n, k)
    chances = [math.comb(k, s) * math.comb(n - k, k - s) / pairs for s in common.tolist()]
    return common, np.array(chances)


def _moments(tally: Tally, grid: tuple[Floats, Floats, Floats], largest: int) -> tuple[tuple[int, Floats], ...]:
    # E[p^j] of Beta(a, b) is a product of j ratios. One cell at a time, to bound the memory.
    a, b, posterior = (column[:, None] for column in grid)
    steps = np.arange(largest)
    sums: dict[int, Floats] = {}
    for cell in tally.cells:
        moments = np.ones(largest + 1)
        ratios = (a + cell.successes + steps) / (a + b + cell.trials + steps)
        moments[1:] = posterior[:, 0] @ np.cumprod(ratios, axis=1)
        sums[cell.trials] = sums.get(cell.trials, 0.0) + cell.tasks * moments
    return tuple(sums.items())


def _log_choose(n: Floats, c: Floats) -> Floats:
    return np.asarray(gammaln(n + 1) - gammaln(c + 1) - gammaln(n - c + 1))


def _beta_posterior(tally: Tally, n: Floats, c: Floats) -> tuple[Floats, Floats, Floats]:
    log_likelihoods = _log_choose(n, c) + betaln(_GRID_A + c, _GRID_B + n - c) - betaln(_GRID_A, _GRID_B)
    joint = tally.weights @ log_likelihoods
    weights = np.exp(joint - joint.max())
    weights /= weights.sum()
    keep = weights > _NEGLIGIBLE
    return _GRID_A[keep], _GRID_B[keep], weights[keep] / weights[keep].sum()


def _mixture(tasks: Floats, n: Floats, c: Floats) -> Floats:
    """Weights of the support points for so many tasks of each outcome; outcomes without a task do no harm."""
    likelihoods = np.exp(_log_choose(n, c) + xlogy(c, _SUPPORT) + xlog1py(n - c, -_SUPPORT))
    weights = np.full(len(_SUPPORT), 1 / len(_SUPPORT))
    for _ in range(_EM_STEPS):
        expected = np.maximum(likelihoods @ weights, np.finfo(np.float64).tiny)
        weights = weights * ((tasks / expected) @ likelihoods) / tasks.sum()
    return weights


def _alike(tally: Tally) -> float | None:
    """The p of all tasks, unless the index of dispersion (Fisher 1925; Cochran 1954) is too large for one p."""
    p = tally.successes / tally.trials
    if (
        tally.tasks < 2 or not 0 < p < 1
    ):  # one task shows no likeness; without a failure, or a pass, there is no variance
        return None
    squares = sum(cell.tasks * (cell.successes - cell.trials * p) ** 2 / cell.trials for cell in tally.cells)
    return p if chdtrc(tally.tasks - 1, squares / (p * (1 - p))) >= _UNLIKELY else None
