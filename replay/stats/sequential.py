"""Evidence that may be looked at after every task: e-processes for a mean."""

import math
from collections.abc import Sequence
from typing import Literal, TypeAlias

import numpy as np
from attrs import frozen

from .tally import Floats

_BETS = np.linspace(0.05, 0.95, 10)

Side: TypeAlias = Literal["above", "below"]


@frozen
class Sequential:
    """What an e-process had found when it was stopped.

    Attributes:
        threshold: the mean in question, between 0 and 1.
        alpha: chance of a wrong verdict on either side, at most, however often one looks.
        above: evidence that the mean is above the threshold, after the last task used; 1 is none.
        below: evidence that it is below.
        used: tasks used, in the order given.
        decided: "above", "below", or None if the tasks ran out first.
    """

    threshold: float
    alpha: float
    above: float
    below: float
    used: int
    decided: Side | None


def gate_evalues(scores: Sequence[float] | Floats, threshold: float, side: Side = "above") -> Floats:
    """Evidence after each task that the mean of scores is above (or below) a threshold.

    The mean over ten bets of prod(1 + bet (x_t - threshold)), bets spread evenly over what cannot ruin. Under a mean at
    the threshold or on its other side, the chance that it ever reaches 1 / alpha is at most alpha (Ville 1939), for any
    distribution of scores in 0..1 and any rule of stopping (Waudby-Smith and Ramdas 2024).

    Args:
        scores: one per task, 0 to 1, tasks in random order.
        threshold: between 0 and 1, both excluded.
        side: what there is evidence for.

    Raises:
        ValueError: no scores; a score outside 0..1; a threshold outside; an unknown side.
    """
    values = _checked(scores, threshold)
    if side not in {"above", "below"}:
        raise ValueError(f'side must be "above" or "below", got {side!r}')
    sign = 1.0 if side == "above" else -1.0
    bets = _BETS / (threshold if side == "above" else 1 - threshold)
    logs = np.cumsum(np.log1p(sign * bets[:, None] * (values - threshold)), axis=1)
    largest = logs.max(axis=0)
    return np.asarray(np.exp(np.minimum(largest + np.log(np.exp(logs - largest).mean(axis=0)), 700.0)))


def sequential(scores: Sequence[float] | Floats, threshold: float, alpha: float = 0.05) -> Sequential:
    """Go through tasks in the order given, and stop as soon as one side has evidence of 1 / alpha.

    Args:
        scores: one per task, 0 to 1, tasks in random order.
        threshold: between 0 and 1, both excluded.
        alpha: between 0 and 1.

    Raises:
        ValueError: as `gate_evalues`; alpha outside 0..1.
    """
    if not 0 < alpha < 1:
        raise ValueError(f"alpha must be between 0 and 1, both excluded, got {alpha!r}")
    above, below = gate_evalues(scores, threshold, "above"), gate_evalues(scores, threshold, "below")
    stops = np.flatnonzero(np.maximum(above, below) >= 1 / alpha)
    last = int(stops[0]) if stops.size else len(above) - 1
    decided: Side | None = None
    if stops.size:
        decided = "above" if above[last] >= below[last] else "below"
    return Sequential(threshold, alpha, float(above[last]), float(below[last]), last + 1, decided)


def tasks_to_decide(threshold: float, alpha: float = 0.05, score: float = 1.0) -> int:
    """The fewest tasks after which evidence for "above" reaches 1 / alpha if every score is the same: at best 1.

    Args:
        threshold: between 0 and 1, both excluded.
        alpha: between 0 and 1.
        score: of every task, above the threshold and at most 1.

    Raises:
        ValueError: a threshold, a score or alpha outside.
    """
    _checked([score], threshold)
    if score <= threshold:
        raise ValueError(f"evidence for more than {threshold} needs a score above it, got {score!r}")
    if not 0 < alpha < 1:
        raise ValueError(f"alpha must be between 0 and 1, both excluded, got {alpha!r}")
    growth = np.log1p(_BETS / threshold * (score - threshold))
    enough = 1
    while _log_mean(growth * enough) < -math.log(alpha):
        enough *= 2
    low = enough // 2
    while enough - low > 1:
        middle = (enough + low) // 2
        low, enough = (low, middle) if _log_mean(growth * middle) >= -math.log(alpha) else (middle, enough)
    return enough


def _log_mean(logs: Floats) -> float:
    return float(logs.max() + np.log(np.exp(logs - logs.max()).mean()))


def _checked(scores: Sequence[float] | Floats, threshold: float) -> Floats:
    if not 0 < threshold < 1:
        raise ValueError(f"threshold must be between 0 and 1, both excluded, got {threshold!r}")
    values = np.asarray(scores, dtype=np.float64)
    if values.ndim != 1 or values.size == 0:
        raise ValueError("scores must be a sequence with one number per task, and there must be some")
    wrong = ~((values >= 0) & (values <= 1))
    if wrong.any():
        index = int(np.argmax(wrong))
        raise ValueError(f"task {index}: a score must be from 0 to 1, got {values[index]}")
    return values
