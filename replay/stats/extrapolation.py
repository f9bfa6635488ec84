"""pass^k for more trials than were made: bounds without assumptions, and a model only beside them."""

import math
from importlib import import_module
from typing import Any, Literal, TypeAlias

import numpy as np
from attrs import frozen
from scipy.special import betaincinv, betaln

from .estimators import mean_pass_hat_k
from .tally import Counts, Floats, Tally, require_level, whole_k
from .told import Told

Basis: TypeAlias = Literal["counted", "model", "bounds", "not identified"]

_SUPPORT = np.unique(np.concatenate([np.linspace(0, 1, 41), 1 - np.logspace(-4, -1.3, 25)]))
_WIDEST = 0.5
_TINY = 1e-9
_STEEPEST = 20.0  # of the logarithms of a and b: where all tasks are alike the fit would go on for ever


@frozen
class Extrapolation(Told):
    """pass^k for any k, as far as it is known; proportions, 0 to 1.

    Attributes:
        k: number of trials in question.
        basis: "counted" if every task has k trials: `estimate` is the usual one. "model" for k up to 2n: `estimate` is
            that of a beta-binomial fit, to be shown with the bounds only. "bounds" beyond, and where that fit gives
            more than was counted for k = n: no estimate. "not identified": the bounds say next to nothing.
        estimate: or None.
        low: lower bound without assumptions on how tasks are spread; None where "counted".
        high: upper bound.
        level: of the bounds, between 0 and 1.
        trials_needed: of "not identified": trials per task from which pass^k begins to be; else None.
        clean_needed: of the same: trials of one task, none of which may fail, to claim pass^k of a half; else None.
    """

    k: int
    basis: Basis
    estimate: float | None
    low: float | None
    high: float | None
    level: float
    trials_needed: int | None = None
    clean_needed: int | None = None


def extrapolate(successes: Counts, trials: int | Counts, k: int, *, level: float = 0.95) -> Extrapolation:
    """pass^k beyond the trials that were made, by what can be known of it.

    With the smallest n: k <= n is counted; n < k <= 2n gets the number of a beta-binomial model and bounds; beyond 2n
    no number is given. The bounds hold for any spread of tasks: the extremes of E[p^k] over all mixtures whose outcomes
    are compatible with those counted (a linear program over a Bonferroni box of Clopper-Pearson intervals). They are
    not identified if they are 0.5 wide or more, or if the upper one equals that of k = n: tasks that never fail cannot
    be excluded then.

    Args:
        successes: c, passed trials, one int per task.
        trials: n, one int for all tasks or one per task; where they differ, tasks are thinned to the smallest.
        k: at least 1; larger than n is the point.
        level: of the bounds, between 0 and 1.

    Raises:
        ValueError: as `Tally.of`, less that k may be larger than n; a level outside 0..1.
    """
    whole_k(k)
    require_level(level)
    tally = Tally.of(successes, trials)
    n = tally.min_trials
    if k <= n:
        return Extrapolation(k, "counted", float(mean_pass_hat_k(tally, k)), None, None, level)
    low, high = assumption_free_bounds(tally, k, level)
    if k <= 2 * n:
        model = beta_pass_hat_k(*beta_fit(tally), k)
        if model <= float(mean_pass_hat_k(tally, n)):
            return Extrapolation(k, "model", model, low, high, level)
        return Extrapolation(k, "bounds", None, low, high, level)  # pass^k does not rise with k, so the model is wrong
    at_n = assumption_free_bounds(tally, n, level)[1]
    if high - low >= _WIDEST or high >= at_n - 1e-3:
        return Extrapolation(
            k, "not identified", None, low, high, level, math.ceil(k / 2), clean_trials(0.5 ** (1 / k))
        )
    return Extrapolation(k, "bounds", None, low, high, level)


def beta_fit(tally: Tally) -> tuple[float, float]:
    """The parameters of the beta distribution that fits the tasks' chances best (maximum likelihood)."""
    c = np.array([cell.successes for cell in tally.cells], dtype=np.float64)
    n = np.array([cell.trials for cell in tally.cells], dtype=np.float64)

    def loss(logs: Floats) -> float:
        a, b = np.exp(np.clip(logs, -_STEEPEST, _STEEPEST))
        return -float(tally.weights @ (betaln(a + c, b + n - c) - betaln(a, b)))

    found = _optimize().minimize(
        loss, [0.0, 0.0], method="Nelder-Mead", options={"xatol": 1e-9, "fatol": 1e-11, "maxiter": 8000}
    )
    a, b = np.exp(np.clip(found.x, -_STEEPEST, _STEEPEST))
    return float(a), float(b)


def beta_pass_hat_k(a: float, b: float, k: int) -> float:
    """E[p^k] of Beta(a, b)."""
    return float(np.exp(betaln(a + k, b) - betaln(a, b)))


def assumption_free_bounds(tally: Tally, k: int, level: float) -> tuple[float, float]:
    """Bounds of E[p^k] for any spread of tasks, see `extrapolate`."""
    n = tally.min_trials
    cells = _thinned(tally, n)
    tasks, tail = tally.tasks, (1 - level) / (n + 1) / 2
    # A thinned count is no whole number; the Clopper-Pearson ends are continuous in it.
    low = np.where(cells > _TINY, betaincinv(np.maximum(cells, _TINY), tasks - cells + 1, tail), 0.0)
    high = np.where(cells < tasks - _TINY, betaincinv(cells + 1, np.maximum(tasks - cells, _TINY), 1 - tail), 1.0)
    outcomes = np.arange(n + 1)
    ways = np.array([math.comb(n, c) for c in range(n + 1)], dtype=np.float64)
    chances = ways[:, None] * _SUPPORT ** outcomes[:, None] * (1 - _SUPPORT) ** (n - outcomes[:, None])
    limits = {
        "A_ub": np.vstack([chances, -chances]),
        "b_ub": np.concatenate([high, -low]),
        "A_eq": np.ones((1, len(_SUPPORT))),
        "b_eq": [1.0],
        "bounds": (0, None),
        "method": "highs",
    }
    linprog = _optimize().linprog
    least, most = (linprog(sign * _SUPPORT**k, **limits) for sign in (1.0, -1.0))
    if least.fun is None or most.fun is None:
        return 0.0, 1.0  # no mixture on the support is compatible: nothing is claimed
    return max(0.0, float(least.fun)), min(1.0, -float(most.fun))


def clean_trials(at_least: float, *, level: float = 0.95) -> int:
    """Trials of one task, all passed, after which its chance to pass is at least so much: ln(1 - level) / ln(p).

    Args:
        at_least: chance to be claimed, between 0 and 1.
        level: one-sided, between 0 and 1.

    Raises:
        ValueError: a chance or level outside.
    """
    require_level(level)
    if not 0 < at_least < 1:
        raise ValueError(f"a chance must be between 0 and 1, both excluded, got {at_least!r}")
    return math.ceil(math.log(1 - level) / math.log(at_least) - 1e-9)


def bounds_from_pass_1(pass_1: float, k: int) -> tuple[float, float]:
    """What pass^1 alone says of pass^k: at least its k-th power (all tasks alike), at most itself (all or nothing).

    Args:
        pass_1: 0 to 1.
        k: at least 1.

    Returns:
        The lowest and the highest pass^k that are compatible: by Jensen's inequality, and since p^k <= p.

    Raises:
        ValueError: a number outside.
    """
    whole_k(k)
    if not 0 <= pass_1 <= 1:
        raise ValueError(f"pass^1 must be from 0 to 1, got {pass_1!r}")
    return pass_1**k, pass_1


def _optimize() -> Any:
    """scipy.optimize, which takes as long to load as all the rest together."""
    return import_module("scipy.optimize")


def _thinned(tally: Tally, n: int) -> Floats:
    """Expected tasks by passed trials, had each task n trials: hypergeometric."""
    cells = np.zeros(n + 1)
    for cell in tally.cells:
        ways = math.comb(cell.trials, n)
        for c in range(n + 1):
            if c <= cell.successes and n - c <= cell.trials - cell.successes:
                cells[c] += (
                    cell.tasks * math.comb(cell.successes, c) * math.comb(cell.trials - cell.successes, n - c) / ways
                )
    return cells
