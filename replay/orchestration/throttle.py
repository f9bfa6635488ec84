"""Shared back-off: when the provider refuses one call for its rate, all trials wait."""

from __future__ import annotations

import threading
import time

from cassettes.model import Outcome, Stream, Value

__all__ = ["Throttle", "status_of"]

_MAX_SECONDS = 60.0


def status_of(outcome: Outcome) -> int | None:
    """The HTTP status of a model call's outcome, if it has one."""
    head = outcome.value if isinstance(outcome, Value) else outcome.head if isinstance(outcome, Stream) else None
    status = head.get("status") if isinstance(head, dict) else None
    return status if isinstance(status, int) else None


class Throttle:
    """When live model calls may go on; shared by the trials of a run."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._open_at = 0.0
        self._refusals = 0

    def delay(self) -> float:
        """Seconds to wait before the next live model call; 0.0 if none."""
        with self._lock:
            return max(0.0, self._open_at - time.monotonic())

    def heed(self, outcome: Outcome) -> None:
        """Learn from a live model call: a 429 closes for as long as the provider says, or twice as long each time."""
        if status_of(outcome) != 429:
            with self._lock:
                self._refusals = 0
            return
        with self._lock:
            self._refusals += 1
            wait = _retry_after(outcome) or 0.5 * 2 ** min(self._refusals, 7)
            self._open_at = max(self._open_at, time.monotonic() + min(wait, _MAX_SECONDS))


def _retry_after(outcome: Outcome) -> float | None:
    head = outcome.value if isinstance(outcome, Value) else outcome.head if isinstance(outcome, Stream) else {}
    for name, value in head.get("headers", ()):
        if name.lower() == "retry-after":
            try:
                return float(value)
            except ValueError:
                return None  # a date: the doubling wait serves
    return None
