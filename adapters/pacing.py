"""When the pieces of a recorded stream are handed out: at once, or as long after the call as they came then."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterable

from cassettes.model import Outcome, Paced

__all__ = ["AT_ONCE", "Pace", "pace_of"]


class Pace:
    """Waits until a piece is due, counted from now.

    Args:
        times: of the pieces, in seconds after the call; none: each is due at once.
    """

    def __init__(self, times: Iterable[float] = ()) -> None:
        self._times = tuple(times)
        self._began = time.monotonic() if self._times else 0.0

    def wait(self, place: int) -> None:
        """Wait for a piece."""
        if (left := self._left(place)) > 0:
            time.sleep(left)

    async def wait_async(self, place: int) -> None:
        """Wait for a piece, while other tasks go on."""
        if (left := self._left(place)) > 0:
            await asyncio.sleep(left)

    def _left(self, place: int) -> float:
        return self._began + self._times[place] - time.monotonic() if place < len(self._times) else 0.0


AT_ONCE = Pace()


def pace_of(answer: Outcome | None) -> Pace:
    """The pace of a recorded answer, from now on; pieces that are empty do not count."""
    return Pace(chunk.at for chunk in answer.chunks if chunk.data) if isinstance(answer, Paced) else AT_ONCE
