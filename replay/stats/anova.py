"""How alike the trials of one task are."""

from fractions import Fraction

from attrs import frozen

from .estimators import mean_pass_hat_k
from .tally import Counts, Tally
from .told import Told


@frozen
class Clustering(Told):
    """One-way analysis of variance of the trials' verdicts (0 or 1), tasks as groups.

    Attributes:
        within: mean square inside tasks, 0 to 0.5; None if every task has one trial.
        between: variance between tasks' success probabilities, unbiased, so it may fall below 0; None
            with one task or without `within`.
        icc: ICC(1), between / (between + within), at most 1; None if both are 0 or one is None.
        always: tasks that passed every trial.
        never: tasks that passed no trial.
        flipping: the other tasks.
    """

    within: float | None
    between: float | None
    icc: float | None
    always: int
    never: int
    flipping: int


def clustering(successes: Counts, trials: int | Counts) -> Clustering:
    """Variance inside and between tasks, ICC(1), and how many tasks flip.

    The estimator is that of Fisher's analysis of variance, with the usual effective group size
    (N - sum n^2 / N) / (T - 1) when n differs between tasks.

    Args:
        successes: c, passed trials, one int per task.
        trials: n, one int for all tasks or one per task.

    Raises:
        ValueError: as `Tally.of`.
    """
    return cluster(Tally.of(successes, trials))


def independent_power(successes: Counts, trials: int | Counts, k: int) -> float:
    """(pass^1)^k: what pass^k would be if all tasks were equally hard and trials independent.

    It stands beside pass^k to show how much tasks differ; it is no estimate of pass^k.

    Args:
        successes: c, passed trials, one int per task.
        trials: n, one int for all tasks or one per task.
        k: 1 to the smallest n.

    Returns:
        A proportion, 0 to 1, at most pass^k up to chance.

    Raises:
        ValueError: as `Tally.of`.
    """
    return power_of_pass_1(Tally.of(successes, trials, k=k), k)


def power_of_pass_1(tally: Tally, k: int) -> float:
    """`independent_power` of a tally."""
    return float(mean_pass_hat_k(tally, 1) ** k)


def cluster(tally: Tally) -> Clustering:
    """`clustering` of a tally."""
    within = _mean_square_within(tally)
    between = None if within is None or tally.tasks == 1 else _between(tally, within)
    icc = None
    if within is not None and between is not None and within + between > 0:
        icc = between / (within + between)
    return Clustering(
        within=None if within is None else float(within),
        between=None if between is None else float(between),
        icc=None if icc is None else float(icc),
        always=tally.always,
        never=tally.never,
        flipping=tally.tasks - tally.always - tally.never,
    )


def _mean_square_within(tally: Tally) -> Fraction | None:
    if tally.trials == tally.tasks:
        return None
    squares = sum(
        (Fraction(cell.tasks * cell.successes * (cell.trials - cell.successes), cell.trials) for cell in tally.cells),
        Fraction(0),
    )
    return squares / (tally.trials - tally.tasks)


def _between(tally: Tally, within: Fraction) -> Fraction:
    total = tally.trials
    squares = sum((Fraction(cell.tasks * cell.successes**2, cell.trials) for cell in tally.cells), Fraction(0))
    mean_square = (squares - Fraction(tally.successes**2, total)) / (tally.tasks - 1)
    size = (total - Fraction(sum(cell.tasks * cell.trials**2 for cell in tally.cells), total)) / (tally.tasks - 1)
    return (mean_square - within) / size
