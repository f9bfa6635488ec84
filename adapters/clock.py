"""The clock, as time-machine patches it: time, datetime, date, and what is made of them.

Each reading asks who listens in its context, so that trials in other threads and tasks, and code that belongs to no
trial, keep the real time.
"""

from __future__ import annotations

from importlib.metadata import version
from typing import Final

from time_machine import Traveller, escape_hatch, travel, traveller_stack

from cassettes.ambient import observer

__all__ = ["CLOCK", "ClockAdapter"]


class _Traveller(Traveller):
    """Stands where time-machine looks for the time."""

    def __init__(self) -> None:
        super().__init__(0, None, tick=False)

    def time_ns(self) -> int:
        listener = observer()
        return _real() if listener is None else listener.clock(_real)


def _real() -> int:
    return escape_hatch.time.time_ns()


class ClockAdapter:
    """Lets the trial of a context say what time it is."""

    name = "clock"

    def __init__(self) -> None:
        self._travel: travel | None = None
        self._mine: Traveller | None = None

    def versions(self) -> dict[str, str]:
        """The version of time-machine, which patches the clock."""
        return {"time-machine": version("time-machine")}

    def install(self) -> None:
        """Start to travel, with our own traveller. A second call does nothing."""
        if self._travel is not None:
            return
        self._travel = travel(0, tick=False)
        self._travel.start()
        self._mine = traveller_stack[-1] = _Traveller()

    def uninstall(self) -> None:
        """Back to the real clock; journeys that the program began meanwhile, and did not end, are its own."""
        if self._travel is None:
            return
        if self._mine in traveller_stack and traveller_stack[-1] is not self._mine:
            traveller_stack.remove(self._mine)  # stop() takes the last one away: keep the program's own
            traveller_stack.append(self._mine)
        self._travel.stop()
        self._travel = self._mine = None

    def patched(self) -> list[str]:
        """The dotted names that are patched right now."""
        names = ("time.time", "time.time_ns", "time.gmtime", "time.localtime", "time.strftime", "time.clock_gettime")
        made_of_it = ("datetime.datetime.now", "datetime.datetime.utcnow", "datetime.date.today", "uuid.uuid1")
        return [] if self._travel is None else [*names, *made_of_it]


CLOCK: Final = ClockAdapter()
