"""Recorded scores beside re-computed ones, and the trials on which they differ."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from attrs import asdict, frozen

from .scorefile import KeptScore

__all__ = ["Pair", "SideBySide", "latest", "side_by_side"]

_ALIKE = 1e-9


@frozen
class Pair:
    """A trial whose two scores differ; a value of None is unscored."""

    trial: str
    recorded: float | None
    again: float | None
    recorded_passed: bool | None
    again_passed: bool | None


@frozen
class SideBySide:
    """Two scores of the same recordings.

    Attributes:
        recorded: the score that was there, as ``name@version``.
        again: the one that was made now.
        trials: recordings that have both.
        unscored: of these, that are unscored by both.
        differ: of these, where value or verdict differ.
        alone: recordings that have the new score only.
    """

    recorded: str
    again: str
    trials: int
    unscored: int
    differ: tuple[Pair, ...]
    alone: int

    def to_dict(self) -> dict[str, Any]:
        """The same as JSON-like data."""
        return asdict(self)


def latest(scores: Iterable[KeptScore], score: str) -> dict[tuple[str, str | None], KeptScore]:
    """Of each recording the last score of this ``name@version``, or of this name alone."""
    name, _, version = score.partition("@")
    return {(s.trial, s.digest): s for s in scores if s.scorer == name and version in {"", s.version}}


def side_by_side(recorded: Iterable[KeptScore], again: Iterable[KeptScore], score: str, made: str) -> SideBySide:
    """Lay the scores ``made`` now beside those that were kept as ``score``."""
    before, now = latest(recorded, score), latest(again, made)
    both = [(before[key], now[key]) for key in now if key in before]
    differ = [
        Pair(a.trial, a.value, b.value, a.passed, b.passed)
        for a, b in both
        if not _same(a.value, b.value) or a.passed != b.passed
    ]
    return SideBySide(
        recorded=score,
        again=made,
        trials=len(both),
        unscored=sum(a.value is None and b.value is None for a, b in both),
        differ=tuple(differ),
        alone=len(now) - len(both),
    )


def _same(a: float | None, b: float | None) -> bool:
    if a is None or b is None:
        return a is b
    return math.isclose(a, b, rel_tol=0, abs_tol=_ALIKE)
