"""Unbiased point estimates of pass^k and pass@k."""

import math
from fractions import Fraction
from itertools import groupby

import numpy as np

from .tally import Counts, Floats, Tally, require


def pass_hat_k(successes: Counts, trials: int | Counts, k: int) -> float:
    """Chance that k trials of a task all pass, on average over tasks: mean of C(c, k) / C(n, k).

    Yao et al. 2024 (tau-bench), section 3. Computed in whole numbers and rounded once, so n may be large.

    Args:
        successes: c, passed trials, one int per task.
        trials: n, one int for all tasks or one per task.
        k: 1 to the smallest n.

    Returns:
        A proportion, 0 to 1.

    Raises:
        ValueError: as `Tally.of`; in particular a task with fewer than k trials is refused, never left out.
    """
    return float(mean_pass_hat_k(Tally.of(successes, trials, k=k), k))


def pass_at_k(successes: Counts, trials: int | Counts, k: int) -> float:
    """Chance that at least one of k trials of a task passes, on average: mean of 1 - C(n - c, k) / C(n, k).

    Chen et al. 2021 (HumanEval), equation 1. Computed in whole numbers and rounded once.

    Args:
        successes: c, passed trials, one int per task.
        trials: n, one int for all tasks or one per task.
        k: 1 to the smallest n.

    Returns:
        A proportion, 0 to 1.

    Raises:
        ValueError: as `Tally.of`; in particular a task with fewer than k trials is refused, never left out.
    """
    return float(mean_pass_at_k(Tally.of(successes, trials, k=k), k))


def mean_pass_hat_k(tally: Tally, k: int) -> Fraction:
    """pass^k of a tally, exactly.

    Raises:
        ValueError: k is below 1, or a task has fewer than k trials.
    """
    require(tally, k)
    total = Fraction(0)
    for trials, cells in groupby(tally.cells, lambda cell: cell.trials):
        # Whole numbers as long as the denominator is shared: adding fractions costs a gcd each.
        total += Fraction(sum(cell.tasks * math.comb(cell.successes, k) for cell in cells), math.comb(trials, k))
    return total / tally.tasks


def mean_pass_at_k(tally: Tally, k: int) -> Fraction:
    """pass@k of a tally, exactly: a task has no pass among k trials if its failures fill all k.

    Raises:
        ValueError: k is below 1, or a task has fewer than k trials.
    """
    return 1 - mean_pass_hat_k(tally.mirrored(), k)


def scores(tally: Tally, k: int) -> Floats:
    """h_k = C(c, k) / C(n, k) of every cell, in the order of the cells: shape (cells,), 0 to 1.

    Raises:
        ValueError: k is below 1, or a task has fewer than k trials.
    """
    require(tally, k)
    # Dividing whole numbers rounds once and does not overflow, however many digits they have.
    return np.array([math.comb(cell.successes, k) / math.comb(cell.trials, k) for cell in tally.cells])
