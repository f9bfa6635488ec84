"""Gates: is a run good enough, or no worse than another? PASS, FAIL, or undecided."""

from collections.abc import Callable, Sequence
from typing import Literal, TypeAlias

import numpy as np
from attrs import evolve, frozen
from scipy.special import ndtri, stdtrit

from .intervals import Metric, Target, interval
from .paired import FixedDifference, PairedRow
from .sequential import gate_evalues, tasks_to_decide
from .sequential import sequential as taken_in_order
from .tally import Counts, Floats, is_whole
from .told import Told

Verdict: TypeAlias = Literal["PASS", "FAIL", "UNDECIDED"]

_MOST = 1_000_000  # tasks or trials beyond which nothing is proposed


@frozen
class Decision(Told):
    """What a gate found.

    Attributes:
        verdict: PASS if the lower bound reaches the threshold, FAIL if the upper bound stays below it, else UNDECIDED.
        estimate: of what is gated: pass^k, or a difference.
        low: lower bound, one-sided at 1 - alpha; None if there is none (one task, other tasks in question).
        high: upper bound, likewise.
        threshold: on the scale of the estimate.
        alpha: chance of a wrong PASS, and of a wrong FAIL, at most.
        target: "fixed" or "population".
        evidence: of an e-process, that the threshold is exceeded and that it is not; None if bounds decided.
        tasks_used: of an e-process, after how many tasks it stopped; None if bounds decided.
    """

    verdict: Verdict
    estimate: float
    low: float | None
    high: float | None
    threshold: float
    alpha: float
    target: Target
    evidence: tuple[float, float] | None = None
    tasks_used: int | None = None


@frozen
class Feasibility(Told):
    """Whether a gate can pass at all: what it would say if every trial passed.

    Attributes:
        possible: the best case passes.
        best: the lower bound in the best case, or with an e-process its evidence.
        needed: what `best` must reach.
        tasks: fewest tasks with which the best case passes, at the same trials per task; None if none do.
        trials: fewest trials per task, at the same tasks; None if none do.
    """

    possible: bool
    best: float
    needed: float
    tasks: int | None
    trials: int | None


def gate(
    successes: Counts,
    trials: int | Counts,
    k: int,
    at_least: float,
    target: Target,
    *,
    metric: Metric = "pass^k",
    alpha: float = 0.05,
) -> Decision:
    """Is pass^k (or pass@k) at least so much? By one-sided bounds, those of `interval` at level 1 - 2 alpha.

    Args:
        successes: c, passed trials, one int per task.
        trials: n, one int for all tasks or one per task.
        k: 1 to the smallest n.
        at_least: the threshold, between 0 and 1.
        target: "fixed" for these tasks run again, "population" for tasks like these.
        metric: "pass^k" or "pass@k".
        alpha: between 0 and 0.5.

    Raises:
        ValueError: as `interval`; a threshold or alpha outside.
    """
    _check(at_least, alpha)
    found = interval(successes, trials, k, target, level=1 - 2 * alpha, metric=metric)
    return Decision(
        _verdict(found.low, found.high, at_least), found.estimate, found.low, found.high, at_least, alpha, target
    )


def gate_difference(found: FixedDifference | PairedRow, tasks: int, margin: float, *, alpha: float = 0.05) -> Decision:
    """Is the second arm worse by no more than a margin? Non-inferiority, by one-sided bounds of the difference.

    Args:
        found: a difference B - A: a `FixedDifference` (these tasks) or a `PairedRow` (tasks like these).
        tasks: number of pairs.
        margin: how much worse is still good, 0 to 1, 1 excluded.
        alpha: between 0 and 0.5.

    Raises:
        ValueError: a margin or alpha outside.
    """
    _check_margin(margin)
    _check(0.5, alpha)
    target: Target = "fixed" if isinstance(found, FixedDifference) else "population"
    low = high = None
    if found.se is not None:
        quantile = float(ndtri(1 - alpha) if target == "fixed" else stdtrit(tasks - 1, 1 - alpha))
        low = max(-1.0, found.difference - quantile * found.se)
        high = min(1.0, found.difference + quantile * found.se)
    return Decision(_verdict(low, high, -margin), found.difference, low, high, -margin, alpha, target)


def gate_sequential(scores: Floats, at_least: float, *, alpha: float = 0.05) -> Decision:
    """Is the mean score of tasks like these at least so much? By an e-process, which may be stopped at any task.

    Args:
        scores: of each task, 0 to 1, tasks in random order. For a difference of two arms, (1 + d) / 2.
        at_least: the threshold, between 0 and 1.
        alpha: between 0 and 0.5.

    Raises:
        ValueError: as `sequential`.
    """
    _check(at_least, alpha)
    found = taken_in_order(scores, at_least, alpha)
    verdict: Verdict = "UNDECIDED" if found.decided is None else "PASS" if found.decided == "above" else "FAIL"
    mean = float(np.asarray(scores, dtype=np.float64)[: found.used].mean())
    evidence = found.above, found.below
    return Decision(verdict, mean, None, None, at_least, alpha, "population", evidence, found.used)


def gate_difference_sequential(
    differences: Sequence[float] | Floats, margin: float, *, alpha: float = 0.05
) -> Decision:
    """Is the second arm worse by no more than a margin, on tasks like these? By an e-process.

    The evidence is that of `gate_sequential` on (1 + d) / 2.

    Args:
        differences: B - A of each task, -1 to 1, tasks in random order.
        margin: how much worse is still good, 0 to 1, 1 excluded.
        alpha: between 0 and 0.5.

    Raises:
        ValueError: as `gate_sequential`; a margin outside.
    """
    _check_margin(margin)
    halved = (1 + np.asarray(differences, dtype=np.float64)) / 2
    found = gate_sequential(halved, (1 - margin) / 2, alpha=alpha)
    return evolve(found, estimate=2 * found.estimate - 1, threshold=-margin)


def feasibility_of_difference(tasks: int, margin: float, *, alpha: float = 0.05) -> Feasibility:
    """Whether `gate_difference_sequential` can pass with so many tasks: if B passes all trials, and A none.

    Args:
        tasks: planned tasks, at least 1.
        margin: 0 to 1, 1 excluded.
        alpha: between 0 and 0.5.

    Raises:
        ValueError: numbers outside.
    """
    _check_margin(margin)
    return feasibility(tasks, 1, 1, (1 - margin) / 2, "population", alpha=alpha, sequential=True)


def tasks_if_alike(margin: float, *, alpha: float = 0.05) -> int | None:
    """After how many tasks `gate_difference_sequential` passes if both arms do the same on every task.

    Args:
        margin: 0 to 1, 1 excluded; with 0 that never happens, and the answer is None.
        alpha: between 0 and 0.5.

    Raises:
        ValueError: numbers outside.
    """
    _check_margin(margin)
    _check(0.5, alpha)
    return tasks_to_decide((1 - margin) / 2, alpha, 0.5) if margin else None


def feasibility(
    tasks: int,
    trials: int,
    k: int,
    at_least: float,
    target: Target,
    *,
    metric: Metric = "pass^k",
    alpha: float = 0.05,
    sequential: bool = False,
) -> Feasibility:
    """Whether a gate on pass^k can pass with so many tasks and trials, before anything is run.

    Args:
        tasks: planned tasks, at least 1.
        trials: planned trials per task, at least k.
        k: at least 1.
        at_least: the threshold, between 0 and 1.
        target: "fixed" or "population".
        metric: "pass^k" or "pass@k".
        alpha: between 0 and 0.5.
        sequential: decided by an e-process instead of bounds; "population" only.

    Raises:
        ValueError: numbers outside; an e-process for the fixed target.
    """
    _check(at_least, alpha)
    if not is_whole(tasks) or not is_whole(trials) or tasks < 1 or trials < k:
        raise ValueError(f"at least 1 task and k = {k} trials are needed, got {tasks} and {trials}")
    if sequential:
        if target != "population":
            raise ValueError("an e-process speaks of tasks like these: its target is the population")
        fewest = tasks_to_decide(at_least, alpha)
        evidence = float(gate_evalues(np.ones(tasks), at_least)[-1])
        return Feasibility(tasks >= fewest, evidence, 1 / alpha, fewest if fewest <= _MOST else None, None)

    def best(t: int, n: int) -> float:
        return interval(np.full(t, n), n, k, target, level=1 - 2 * alpha, metric=metric).low or 0.0

    now = best(tasks, trials)
    return Feasibility(
        possible=now >= at_least,
        best=now,
        needed=at_least,
        tasks=_fewest(lambda t: best(t, trials) >= at_least, 1),
        trials=_fewest(lambda n: best(tasks, n) >= at_least, k) if target == "fixed" else None,
    )


def _fewest(enough: Callable[[int], bool], least: int) -> int | None:
    """The smallest number from `least` on that is enough, if more never hurts."""
    high = least
    while not enough(high):
        if high >= _MOST:
            return None
        high *= 2
    low = max(least - 1, high // 2)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def _verdict(low: float | None, high: float | None, threshold: float) -> Verdict:
    if low is not None and low >= threshold:
        return "PASS"
    return "FAIL" if high is not None and high < threshold else "UNDECIDED"


def _check_margin(margin: float) -> None:
    if not 0 <= margin < 1:
        raise ValueError(f"margin must be from 0 to 1, 1 excluded, got {margin!r}")


def _check(at_least: float, alpha: float) -> None:
    if not 0 < at_least < 1:
        raise ValueError(f"the threshold must be between 0 and 1, both excluded, got {at_least!r}")
    if not 0 < alpha < 0.5:
        raise ValueError(f"alpha must be between 0 and 0.5, both excluded, got {alpha!r}")
