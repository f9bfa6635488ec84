"""Means of rewards that are not only 0 or 1."""

import math
from collections.abc import Sequence

from attrs import frozen
from scipy.special import stdtrit

from .tally import require_level
from .told import Told


@frozen
class MeanReward(Told):
    """The mean reward of trials, with tasks as clusters.

    Attributes:
        mean: over all trials, on the scale of the rewards.
        se: cluster-robust standard error; None with one task.
        low: lower end of the t interval; None with one task.
        high: upper end.
        level: between 0 and 1.
        tasks: clusters.
        trials: rewards.
        least: the smallest reward.
        most: the largest.
    """

    mean: float
    se: float | None
    low: float | None
    high: float | None
    level: float
    tasks: int
    trials: int
    least: float
    most: float


def mean_reward(rewards: Sequence[Sequence[float]], *, level: float = 0.95) -> MeanReward:
    """Mean of rewards, with an interval that knows that trials of a task are alike.

    SE = sqrt(T / (T - 1) * sum over tasks of (sum of residuals)^2) / N: Miller 2024 (*Adding Error Bars to Evals*,
    section 2.2) with the usual correction for few clusters; t with T - 1 degrees of freedom. With as many trials of
    each task it is s / sqrt(T) of the task means. It speaks of other tasks like these.

    Args:
        rewards: of each task, one number per trial.
        level: between 0 and 1.

    Raises:
        ValueError: no task; a task without a reward; a reward that is no finite number; a level outside.
    """
    require_level(level)
    if not rewards:
        raise ValueError("there are no tasks")
    for index, of_task in enumerate(rewards):
        if len(of_task) == 0:
            raise ValueError(f"task {index} has no reward")
        for value in of_task:
            if not math.isfinite(value):
                raise ValueError(f"task {index} has the reward {value!r}, which is no finite number")
    flat = [float(value) for of_task in rewards for value in of_task]
    mean = math.fsum(flat) / len(flat)
    se = low = high = None
    tasks = len(rewards)
    if tasks > 1:
        sums = (math.fsum(value - mean for value in of_task) for of_task in rewards)
        se = math.sqrt(tasks / (tasks - 1) * math.fsum(total**2 for total in sums)) / len(flat)
        half = float(stdtrit(tasks - 1, 0.5 + level / 2)) * se
        low, high = mean - half, mean + half
    return MeanReward(mean, se, low, high, level, tasks, len(flat), min(flat), max(flat))
