"""Which of many things to do is next, where some must wait for others: chains one by one, side by side."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable, Iterable
from typing import Generic, TypeVar

__all__ = ["Turns"]

T = TypeVar("T")


class Turns(Generic[T]):
    """Hands things out in their order; of each chain one at a time.

    Args:
        things: in the order in which they are wanted.
        chain_of: things with the same chain follow each other: the next waits until the one before was ``finished``.
    """

    def __init__(self, things: Iterable[T], chain_of: Callable[[T], Hashable]) -> None:
        self._chain_of = chain_of
        self._behind: dict[Hashable, deque[T]] = {}
        self._ready: deque[T] = deque()
        for thing in things:
            chain = chain_of(thing)
            if chain in self._behind:
                self._behind[chain].append(thing)
            else:
                self._behind[chain] = deque()
                self._ready.append(thing)

    @property
    def is_over(self) -> bool:
        """True if everything was handed out."""
        return not self._ready and not any(self._behind.values())

    def next(self) -> T | None:
        """The next thing that need not wait, or None."""
        return self._ready.popleft() if self._ready else None

    def finished(self, thing: T) -> None:
        """The one behind it in its chain need not wait any more."""
        behind = self._behind[self._chain_of(thing)]
        if behind:
            self._ready.append(behind.popleft())
