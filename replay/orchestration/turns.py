"""Which of many things to do is next, where some must wait for others: chains one by one, side by side."""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Callable, Hashable, Iterable
from typing import Generic, TypeVar

__all__ = ["Turns"]

T = TypeVar("T")


class Turns(Generic[T]):
    """Hands things out, always the first that need not wait; of each chain one at a time.

    Args:
        things: in the order in which they are wanted.
        chain_of: things with the same chain follow each other: the next waits until the one before was ``finished``.
    """

    def __init__(self, things: Iterable[T], chain_of: Callable[[T], Hashable]) -> None:
        self._things = list(things)
        self._chain_of = chain_of
        self._behind: dict[Hashable, deque[int]] = {}
        self._ready: list[int] = []  # a heap of places in the list
        for place, thing in enumerate(self._things):
            chain = chain_of(thing)
            if chain in self._behind:
                self._behind[chain].append(place)
            else:
                self._behind[chain] = deque()
                self._ready.append(place)

    @property
    def is_over(self) -> bool:
        """True if everything was handed out."""
        return not self._ready and not any(self._behind.values())

    def next(self) -> T | None:
        """The next thing that need not wait, or None."""
        return self._things[heapq.heappop(self._ready)] if self._ready else None

    def finished(self, thing: T) -> None:
        """The one behind it in its chain need not wait any more."""
        behind = self._behind[self._chain_of(thing)]
        if behind:
            heapq.heappush(self._ready, behind.popleft())

    def keep(self, wanted: Callable[[T], bool]) -> None:
        """Forget what was not handed out and is not wanted any more."""
        for chain, places in self._behind.items():
            self._behind[chain] = deque(place for place in places if wanted(self._things[place]))
        ready, self._ready = self._ready, []
        for place in ready:
            if wanted(self._things[place]):
                heapq.heappush(self._ready, place)
            else:
                self.finished(self._things[place])
