"""Strands: what one thread, task or pool item of a trial does by itself, one call after the other.

Two calls of one strand follow each other because the program says so. Two calls of different strands that happened
to follow each other may come the other way round the next time: threads and tasks are not scheduled twice alike.
"""

from __future__ import annotations

import asyncio
import threading
from contextvars import ContextVar
from typing import Any

from attrs import evolve

from cassettes.model import Call

__all__ = ["Strands", "strand_of"]

_NAME = "strand"

_here: ContextVar[tuple[Strands, tuple[int, int], int] | None] = ContextVar("trialtape_strand", default=None)


class Strands:
    """Numbers the strands of one trial in the order of their first calls; used by one thread at a time."""

    def __init__(self) -> None:
        self._count = 0

    def marked(self, call: Call) -> Call:
        """The call with the number of the strand that makes it; of the first one unchanged."""
        owner = (threading.get_ident(), id(_task()))
        known = _here.get()
        # A copied context brings its maker's strand along, but another thread or task owns the copy.
        if known is None or known[0] is not self or known[1] != owner:
            known = (self, owner, self._count)
            _here.set(known)
            self._count += 1
        return evolve(call, detail={**call.detail, _NAME: known[2]}) if known[2] else call


def strand_of(call: Call) -> int:
    """The strand that made a recorded call."""
    number = call.detail.get(_NAME, 0)
    return number if isinstance(number, int) else 0


def _task() -> asyncio.Task[Any] | None:
    try:
        return asyncio.current_task()
    except RuntimeError:  # no event loop runs here
        return None
