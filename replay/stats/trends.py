"""Runs over nights: how much nights differ, and alarms that stay valid however often one looks."""

import math
from collections.abc import Sequence
from typing import Literal, TypeAlias

import numpy as np
from attrs import frozen
from scipy.special import ndtri, stdtr, stdtrit

from .told import Told

Alarm: TypeAlias = Literal["down", "up"]

REFERENCE = 5
_SHIFTS = np.array([0.5, 1.0, 2.0])  # in standard deviations of a night; a mixture needs no guess which it is
_FARTHEST = 8.0


@frozen
class TrendPoint(Told):
    """One night.

    Attributes:
        value: what was measured.
        se: its standard error inside the night, from trials.
        low: where 95% of such nights lie, judged by those before it; None for nights of the reference.
        high: likewise.
        evidence_down: that the level has fallen since; 0 is none, the alarm comes at `apart`.
        evidence_up: that it has risen.
        alarm: "down", "up", or None. After an alarm the chart begins anew with the next night.
    """

    value: float
    se: float
    low: float | None
    high: float | None
    evidence_down: float
    evidence_up: float
    alarm: Alarm | None


@frozen
class Trend(Told):
    """All nights, oldest first.

    Attributes:
        mean: of the nights since the last alarm, weighted.
        between_sd: standard deviation between these nights beyond what trials explain, at least 0; None with one night.
        apart: nights between false alarms on one side, on average at least.
        reference: nights that only tell how nights differ, after the start and after each alarm.
        points: one per night.
    """

    mean: float
    between_sd: float | None
    apart: float
    reference: int
    points: tuple[TrendPoint, ...]


def trend(
    values: Sequence[float], errors: Sequence[float], *, apart: float = 1_000.0, reference: int = REFERENCE
) -> Trend:
    """Chart nights, and tell when the level has changed.

    Each night is predicted from those before it: their weighted mean, with the variance inside nights (from trials) and
    between nights (DerSimonian and Laird 1986). What is off the prediction is standardised (by Student's t, as the
    variance between few nights is itself uncertain), and such residuals are independent while nothing changes (Brown,
    Durbin, Evans 1975). They are bet on by Shiryaev-Roberts statistics for shifts of 0.5, 1 and 2 standard deviations,
    averaged: the mean time to a false alarm is at least `apart` nights (Pollak 1987), looks included.

    Args:
        values: one per night, oldest first.
        errors: standard error of each, at least 0.
        apart: nights between false alarms, on average at least, on each side; above 1.
        reference: at least 3.

    Raises:
        ValueError: no night; different lengths; numbers that are none.
    """
    if len(values) == 0 or len(values) != len(errors):
        raise ValueError(f"one value and one error per night are needed, got {len(values)} and {len(errors)}")
    if not all(math.isfinite(v) and math.isfinite(e) and e >= 0 for v, e in zip(values, errors, strict=True)):
        raise ValueError("values must be finite, and errors at least 0")
    if not apart > 1 or reference < 3:
        raise ValueError(f"apart must be above 1 and reference at least 3, got {apart!r} and {reference!r}")
    points: list[TrendPoint] = []
    start = 0
    down, up = np.zeros(len(_SHIFTS)), np.zeros(len(_SHIFTS))
    for night, (value, se) in enumerate(zip(values, errors, strict=True)):
        before = night - start
        low = high = None
        if before >= reference:
            mean, of_mean, between = _pooled(values[start:night], errors[start:night])
            spread = math.sqrt(max(se**2 + between + of_mean, 1e-12))
            quantile = float(stdtrit(before - 1, 0.975))
            low, high = mean - quantile * spread, mean + quantile * spread
            z = float(np.clip(ndtri(stdtr(before - 1, (value - mean) / spread)), -_FARTHEST, _FARTHEST))
            down = (1 + down) * np.exp(-_SHIFTS * z - _SHIFTS**2 / 2)
            up = (1 + up) * np.exp(_SHIFTS * z - _SHIFTS**2 / 2)
        fallen, risen = float(down.mean()), float(up.mean())
        alarm: Alarm | None = None
        if max(fallen, risen) >= apart:
            alarm = "down" if fallen >= risen else "up"
            start = night + 1
            down, up = np.zeros(len(_SHIFTS)), np.zeros(len(_SHIFTS))
        points.append(TrendPoint(value, se, low, high, fallen, risen, alarm))
    last = slice(start if start < len(values) else len(values) - 1, None)
    mean, _, between = _pooled(values[last], errors[last])
    alone = len(values[last]) < 2
    return Trend(mean, None if alone else math.sqrt(between), apart, reference, tuple(points))


def _pooled(values: Sequence[float], errors: Sequence[float]) -> tuple[float, float, float]:
    """Weighted mean, its variance, and the variance between nights (DerSimonian and Laird)."""
    x, v = np.asarray(values, dtype=np.float64), np.maximum(np.asarray(errors, dtype=np.float64) ** 2, 1e-12)
    w = 1 / v
    between = 0.0
    if len(x) > 1:
        off = float(w @ (x - (w @ x) / w.sum()) ** 2)
        between = max(0.0, (off - (len(x) - 1)) / float(w.sum() - (w**2).sum() / w.sum()))
    w = 1 / (v + between)
    return float(w @ x / w.sum()), float(1 / w.sum()), between
