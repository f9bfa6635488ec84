"""One call in progress: what the adapter holds until the call has ended."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from cassettes.again import Again, Repeatable
from cassettes.errors import TrialStopped
from cassettes.model import (
    Call,
    Cancelled,
    Chunk,
    Error,
    Injected,
    Interaction,
    Origin,
    Outcome,
    Patch,
    Reply,
    Stream,
    Value,
)

from .injecting import Injection, injected_into
from .journal import Journal
from .recording import Context

__all__ = ["Ended", "SessionTicket"]

Ended = Callable[["SessionTicket", Outcome, Reply | None], None]


class SessionTicket:
    """One call in progress; implements `cassettes.recorder.Ticket`.

    Args:
        journal: of the trial that the call belongs to.
        ended: told how the call ended, if it went live.
        parent: the call inside which this one happens.

    Attributes:
        key: of a call that was looked up; empty of others.
        instead: plays the tool, if a model is to.
        extends: the context in which its live answer extends the world; None if it does not.
        injections: what the task puts into its result.
        injected: what of that found its place.
        may_repeat: it is frozen, and may have to be carried out after all.
        again: how, then; it holds on to what the tool was called with. ``is_async``: that is to be awaited.
        plan: what is carried out before it goes live.
        is_repeat: it is such a call, so what is called inside of it is a part of it.
        is_span: the call runs whatever is frozen, and what is inside it is matched.
    """

    __slots__ = (
        "_chunks",
        "_ended",
        "again",
        "answer",
        "arguments",
        "at",
        "call",
        "delay",
        "extends",
        "injected",
        "injections",
        "instead",
        "is_async",
        "is_repeat",
        "is_span",
        "journal",
        "key",
        "may_repeat",
        "origin",
        "parent",
        "plan",
        "started",
        "step",
    )

    def __init__(
        self,
        journal: Journal,
        ended: Ended,
        call: Call,
        step: int,
        started: int,
        at: float,
        parent: SessionTicket | None,
    ) -> None:
        self.journal = journal
        self.call = call
        self.step = step
        self.started = started
        self.at = at
        self.parent = parent
        self.answer: Outcome | None = None
        self.delay = 0.0
        self.origin = Origin()
        self.key = ""
        self.is_span = False
        self.extends: Context | None = None
        self.instead: Callable[[], Outcome] | None = None
        self.injections: tuple[Injection, ...] = ()
        self.injected: Injected | None = None
        self.plan: tuple[Again, ...] = ()
        self.may_repeat = False
        self.again: Repeatable | None = None
        self.is_async = False
        self.is_repeat = False
        self.arguments = journal.arguments(call, step)
        self._ended = ended
        self._chunks: list[Chunk] = []

    def repeatable(self, again: Repeatable, *, is_async: bool) -> None:
        """The call, which is frozen, could be made by ``again``."""
        if self.may_repeat:
            self.again, self.is_async = again, is_async

    def done(self, value: Any, reply: Reply | None = None) -> Any:
        """The call returned ``value``; gives what the caller is to get."""
        told = self.ended_with(Value(value), reply)
        return told.value if isinstance(told, Value) else value

    def failed(self, error: BaseException) -> None:
        """The call raised ``error``."""
        if not isinstance(error, TrialStopped):
            self._ended(self, Error(error), None)

    def cancelled(self) -> None:
        """The caller gave the call up."""
        self._ended(self, Cancelled(), None)

    def chunk(self, data: Any) -> None:
        """The next piece of a stream arrived."""
        self._chunks.append(Chunk(self.journal.now() - self.at, data))

    def closed(
        self,
        head: Any,
        *,
        complete: bool,
        error: BaseException | None = None,
        decode: Callable[[tuple[Any, ...]], Reply | None] | None = None,
    ) -> None:
        """The stream ended."""
        reply = None if decode is None else decode(tuple(chunk.data for chunk in self._chunks))
        self._ended(self, Stream(head, tuple(self._chunks), complete, error), reply)

    def ended_with(self, outcome: Outcome, reply: Reply | None) -> Outcome:
        """The call has ended so, here or in another process; gives what the caller is to get."""
        told = self.told(outcome)
        self._ended(self, told, reply)
        return told

    def told(self, outcome: Outcome) -> Outcome:
        """The outcome as the caller is to get it: with what the task puts into it."""
        if self.injections:
            outcome, self.injected = injected_into(outcome, self.injections)
        return outcome

    def interaction(self, outcome: Outcome, reply: Reply | None, patch: Patch | None) -> Interaction:
        """The call with its outcome, which came just now."""
        ended, now = self.journal.place(), self.journal.now()
        return Interaction(
            step=self.step,
            call=self.call,
            outcome=outcome,
            started=self.started,
            ended=ended,
            at=self.at,
            duration=now - self.at,
            origin=self.origin,
            parent=None if self.parent is None else self.parent.step,
            reply=reply,
            patch=patch,
            injected=self.injected,
        )
