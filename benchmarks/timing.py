"""Timing that survives a busy machine: the sides take turns, and of the rounds the best (CPU) or the median counts."""

from __future__ import annotations

import gc
import statistics
import time
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import Self

__all__ = ["Cpu", "alternated", "best", "median"]

Side = Callable[[], float]
"""One round of one side: sets itself up, and returns the seconds that count."""


class Cpu:
    """The CPU seconds of this process, all threads, within a block."""

    seconds = 0.0

    def __enter__(self) -> Self:
        self._began = time.process_time()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.seconds += time.process_time() - self._began


def alternated(sides: Mapping[str, Side], rounds: int) -> dict[str, list[float]]:
    """All rounds of all sides, which take turns."""
    found: dict[str, list[float]] = {name: [] for name in sides}
    for _ in range(rounds):
        for name, side in sides.items():
            gc.collect()
            found[name].append(side())
    return found


def best(sides: Mapping[str, Side], rounds: int) -> dict[str, float]:
    """The fastest round of each side: for CPU time, which noise can only lengthen."""
    return {name: min(times) for name, times in alternated(sides, rounds).items()}


def median(sides: Mapping[str, Side], rounds: int) -> dict[str, float]:
    """The median round of each side: for wall time."""
    return {name: statistics.median(times) for name, times in alternated(sides, rounds).items()}
