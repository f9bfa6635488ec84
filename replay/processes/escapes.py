"""What a trial started whose calls are not seen, less those processes that told that they belong to it."""

from __future__ import annotations

import threading
from collections import Counter

from cassettes.recorder import Unseen

__all__ = ["Escapes"]


class Escapes:
    """Counts by name; safe to use from many threads."""

    def __init__(self) -> None:
        self._others = Unseen()
        self._processes: dict[int, str] = {}
        self._arrived: set[int] = set()
        self._lock = threading.Lock()

    def note(self, name: str, pid: int | None) -> None:
        """Something was started; ``pid`` if it is a process that may yet tell of itself."""
        if pid is None:
            self._others.note(name)
            return
        with self._lock:
            self._processes[pid] = name

    def arrived(self, *pids: int) -> None:
        """A process told that its calls belong to the trial: its own number, and that of the one that started it."""
        with self._lock:
            self._arrived.update(pids)

    @property
    def counts(self) -> Counter[str]:
        """By name, what nothing was heard of."""
        with self._lock:
            silent = Counter(name for pid, name in self._processes.items() if pid not in self._arrived)
        return self._others.counts + silent
