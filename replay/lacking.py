"""What the real thing lacks: the writes that recordings answered, and which of them may be carried out after all.

Nothing is called here. A write is missing from where it was answered until it has been carried out. What is carried out
goes in the order in which the trial made the writes, and takes with it every earlier one whose place among them may
matter; so the real thing is never brought into an order of writes that the trial did not make.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterable, Sequence
from typing import Any, Final, Literal

from attrs import define, field

from cassettes.model import Call, Interaction, Origin, Outcome
from cassettes.shapes import PLACEHOLDER
from cassettes.values import Opaque, unpack

from .recording import PastWrite
from .resources import clash, touches
from .selector import Selector
from .strands import acts_elsewhere
from .tickets import SessionTicket

__all__ = ["FrozenWrite", "Lacking"]

_RECORDED: Final = frozenset({"own", "borrowed", "extended"})


@define(eq=False)
class FrozenWrite:
    """A write that was answered without the real thing.

    Attributes:
        past: its key, and the digest of its outcome.
        ticket: its call in this trial.
        outcome: what came back, before anything was put into it.
        origin: who answered.
        changed: it changed the tracked state, as recorded.
        raced: its place among the other writes is not known.
        state: ``broken`` if it failed while it was carried out.
        loop: that of the task which carries it out, if it is one.
        over: set once it has been carried out, or has failed.
        overtaken: the step of a live write that may clash with it, and came first.
    """

    past: PastWrite
    ticket: SessionTicket
    outcome: Outcome
    origin: Origin
    changed: bool = False
    raced: bool = False
    state: Literal["missing", "doing", "done", "broken"] = "missing"
    loop: asyncio.AbstractEventLoop | None = None
    over: threading.Event = field(factory=threading.Event)
    overtaken: int | None = None

    @property
    def call(self) -> Call:
        """What was asked."""
        return self.past.call

    @property
    def told(self) -> str:
        """Its name and its step."""
        return f"{self.call.name} (step {self.ticket.step})"

    def arguments(self) -> tuple[dict[str, Any], str | None]:
        """A copy of what it was called with, and the class in it that cannot be made again, if there is one."""
        unknown: list[Opaque] = []
        found: dict[str, Any] = unpack(self.ticket.arguments.plain, unknown.append)
        return found, unknown[0].name if unknown else None


class Lacking:
    """The writes of one trial that the real thing lacks; used by one thread at a time.

    Args:
        permitted: selectors of what may be carried out.
    """

    def __init__(self, permitted: Sequence[Selector] = ()) -> None:
        self._permitted = tuple(permitted)
        self._writes: list[FrozenWrite] = []

    def add(self, past: PastWrite, ticket: SessionTicket, kept: Interaction, *, raced: bool) -> None:
        """A write was answered without the real thing."""
        changed, raced = kept.patch is not None, raced or kept.origin.verdict == "raced"
        self._writes.append(FrozenWrite(past, ticket, kept.returned, kept.origin, changed, raced))
        self._writes.sort(key=lambda write: write.past.started)

    def noticed_by(self, call: Call) -> list[FrozenWrite]:
        """Those that are missing, and ``call`` may notice that; in start order."""
        return [write for write in self._missing if touches(write.call, call)]

    def permits(self, writes: Iterable[FrozenWrite]) -> bool:
        """True if each of them was named as one that may be carried out."""
        return all(any(selector.matches(write.call) for selector in self._permitted) for write in writes)

    def closed(self, writes: Iterable[FrozenWrite]) -> list[FrozenWrite]:
        """The writes with every earlier one that is missing, and must not come after one of them; in start order."""
        found = {id(write): write for write in writes}
        open_ends = list(found.values())
        while open_ends:
            later = open_ends.pop()
            for write in self._missing:
                before = write.past.started < later.past.started
                if before and id(write) not in found and clash(write.call, later.call):
                    found[id(write)] = write
                    open_ends.append(write)
        return [write for write in self._missing if id(write) in found]

    def obstacle(self, plan: Sequence[FrozenWrite], ticket: SessionTicket, *, tracked: bool) -> str | None:
        """Why the plan cannot be carried out before the call of ``ticket``; None if it can."""
        if ticket.call.kind != "tool":
            return f"only a tool can wait until they are carried out, and {ticket.call.name} is none"
        if acts_elsewhere():
            return f"{ticket.call.name} is called in another process, where they cannot be carried out"
        return next((why for write in plan if (why := self._obstacle_of(write, tracked=tracked)) is not None), None)

    def overtaken(self, ticket: SessionTicket, plan: Sequence[FrozenWrite], *, tracked: bool) -> list[FrozenWrite]:
        """What is carried out before a write goes live: ``plan``, and what else must not come after it.

        If the rest cannot be carried out, it never will be: the live write comes first.
        """
        behind = [write for write in self._missing if write in plan or clash(write.call, ticket.call)]
        whole = self.closed(behind)
        if self.obstacle(whole, ticket, tracked=tracked) is None:
            return whole
        for write in whole:
            if write not in plan and write.overtaken is None:
                write.overtaken = ticket.step
        return list(plan)

    @property
    def _missing(self) -> list[FrozenWrite]:
        return [write for write in self._writes if write.state != "done"]

    def _obstacle_of(self, write: FrozenWrite, *, tracked: bool) -> str | None:
        if not self.permits([write]):
            if write.call.kind != "tool":
                return f"{write.told} is no tool, and only tools can be carried out again"
            return f"{write.told} may not be carried out: permit it with --catch-up tool:{write.call.name}"
        reason = (
            _how_answered(write)
            or _state(write, tracked=tracked)
            or _arguments(write)
            or (None if write.overtaken is None else f"the write of step {write.overtaken} went live before it")
            or ("it failed before" if write.state == "broken" else None)
        )
        return None if reason is None else f"{write.told} cannot be carried out: {reason}"


def _how_answered(write: FrozenWrite) -> str | None:
    if write.origin.verdict == "emulated":
        return "its outcome was made up"
    if write.raced:
        return "it overlapped with other writes, and nobody knows which came first"
    if write.origin.verdict not in _RECORDED:
        return "it had no recorded answer"
    if write.ticket.again is None:
        return "it was not called in this process, as a function that @tt.tool declares"
    return None


def _state(write: FrozenWrite, *, tracked: bool) -> str | None:
    if write.changed or (tracked and not write.call.external):
        return "its change of the tracked state has been made already, as recorded, and would be made twice"
    return None


def _arguments(write: FrozenWrite) -> str | None:
    if PLACEHOLDER.search(write.ticket.arguments.plain):
        return "a secret in its arguments was removed from the recording"
    _, unknown = write.arguments()
    return None if unknown is None else f"its arguments hold a {unknown}, which cannot be made again"
