"""Strands: what one thread, task or pool item of a trial does by itself, one call after the other.

Two calls of one strand follow each other because the program says so. Two calls of different strands that happened
to follow each other may come the other way round the next time: threads and tasks are not scheduled twice alike.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Hashable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from attrs import evolve

from cassettes.model import Call

__all__ = ["Strands", "acts_elsewhere", "elsewhere", "strand_of"]

_NAME = "strand"

_here: ContextVar[tuple[Strands, tuple[int, int], int] | None] = ContextVar("trialtape_strand", default=None)
_elsewhere: ContextVar[Hashable] = ContextVar("trialtape_strand_elsewhere", default=None)


class Strands:
    """Numbers the strands of one trial in the order in which they are first asked for."""

    def __init__(self) -> None:
        self._count = 0
        self._lock = threading.Lock()
        self._others: dict[Hashable, int] = {}

    def marked(self, call: Call) -> Call:
        """The call with the number of the strand that makes it; of the first one unchanged."""
        number = self.number()
        return evolve(call, detail={**call.detail, _NAME: number}) if number else call

    def number(self) -> int:
        """The number of the strand that asks, or of the one for which it acts."""
        other = _elsewhere.get()
        if other is not None:
            with self._lock:
                number = self._others.setdefault(other, self._count)
                self._count += number == self._count
                return number
        owner = (threading.get_ident(), id(_task()))
        known = _here.get()
        # A copied context brings its maker's strand along, but another thread or task owns the copy.
        if known is None or known[0] is not self or known[1] != owner:
            with self._lock:
                known = (self, owner, self._count)
                self._count += 1
            _here.set(known)
        return known[2]


@contextmanager
def elsewhere(strand: Hashable) -> Iterator[None]:
    """Calls in this block are made for ``strand``, which is in another process."""
    token = _elsewhere.set(strand)
    try:
        yield
    finally:
        _elsewhere.reset(token)


def acts_elsewhere() -> bool:
    """True if this context acts for a strand in another process."""
    return _elsewhere.get() is not None


def strand_of(call: Call) -> int:
    """The strand that made a recorded call."""
    number = call.detail.get(_NAME, 0)
    return number if isinstance(number, int) else 0


def _task() -> asyncio.Task[Any] | None:
    try:
        return asyncio.current_task()
    except RuntimeError:  # no event loop runs here
        return None
