"""What a program reads without calling anybody: the clock and random bytes, and who listens in this context."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Protocol

from .recorder import enclosing

__all__ = ["Observer", "observer", "observing"]


class Observer(Protocol):
    """Listens to what one trial reads; each method returns what the program gets."""

    def clock(self, live: Callable[[], int]) -> int:
        """The clock is read; ``live()`` is the real one, in nanoseconds since 1970."""

    def entropy(self, size: int, live: Callable[[int], bytes]) -> bytes:
        """``size`` random bytes are drawn; ``live(size)`` draws real ones."""


_observer: ContextVar[Observer | None] = ContextVar("trialtape_observer", default=None)


def observer() -> Observer | None:
    """Who listens in this context.

    Nobody inside a live call: what a tool's body or an HTTP client reads meanwhile is not read again in a replay.
    """
    found = _observer.get()
    return None if found is None or enclosing() is not None else found


@contextmanager
def observing(listener: Observer | None) -> Iterator[None]:
    """Make ``listener`` the one of this context, and of those that are copied from it (None: nobody listens)."""
    token = _observer.set(listener)
    try:
        yield
    finally:
        _observer.reset(token)
