"""The recorder in a child process: each call is asked of, and told to, the trial that the process belongs to.

What `decode` reads of a stream is read here, where the stream is; the trial gets a call's outcome as a whole, when it
has ended. What the child does after its trial has ended is treated as what a thread does that outlived it.
"""

from __future__ import annotations

import json
import logging
import os
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from contextvars import Context
from secrets import token_hex
from typing import Any, Final

from attrs import asdict, evolve, frozen

from cassettes.again import Again, Repeatable
from cassettes.ambient import observing
from cassettes.errors import Refused, TrialStopped
from cassettes.model import Call, Cancelled, Chunk, Error, Outcome, Reply, Stream, Value
from cassettes.recorder import Invitation, current, enclosing, entered, listening
from replay.actors import acting_as, current_actor
from replay.patching import patched
from replay.strands import Strands

from .line import Gone, Line
from .wire import answer_from, call_said, end_said, halt_from

__all__ = ["ProxyRecorder", "ProxyTicket", "TrialInvitation"]

_log = logging.getLogger("trialtape")

_VARIABLE: Final = "TRIALTAPE_INVITATION"
_MOST_LINES: Final = 8  # trials to which a process stays connected between its work for them


@frozen
class TrialInvitation:
    """Lets a child process call a trial; implements `cassettes.recorder.Invitation`.

    Attributes:
        address: the path of the trial's socket.
        token: what the trial lets in.
        recording: nothing is frozen, so no connection has to be asked for.
        actor: on whose behalf the work was handed over.
        outer: the number of the live call inside which it was, if any.
    """

    address: str
    token: str
    recording: bool
    actor: str = "agent"
    outer: int | None = None

    @contextmanager
    def joined(self) -> Iterator[None]:
        """Calls in this block are calls of the trial, and each other's strand or not as they would be there."""
        _stay_patched()
        recorder = ProxyRecorder(self)
        with ExitStack() as stack:
            stack.enter_context(observing(None))
            stack.enter_context(acting_as(self.actor))
            stack.enter_context(listening(recorder))
            if self.outer is not None:
                stack.enter_context(entered(ProxyTicket(recorder, self.outer)))
            yield

    @contextmanager
    def joined_by_program(self) -> Iterator[None]:
        """The same for a process that was started as a program, and tells the trial that it belongs to it."""
        with self.joined():
            recorder = current()
            if isinstance(recorder, ProxyRecorder):
                recorder.arrived()
            yield

    def to_environ(self) -> dict[str, str]:
        """The same as a variable of the environment, for processes that are no Python functions."""
        return {_VARIABLE: json.dumps(asdict(self))}

    @classmethod
    def from_environ(cls, environ: Mapping[str, str]) -> TrialInvitation | None:
        """The inverse of `to_environ`; None if nobody invited this process."""
        text = environ.get(_VARIABLE)
        return None if not text else cls(**json.loads(text))


class ProxyTicket:
    """One call in progress here; implements `cassettes.recorder.Ticket`.

    Args:
        recorder: whom the call belongs to.
        number: by which the trial knows it; None if it is not recorded.

    Attributes:
        recorder, number: the same.
    """

    __slots__ = ("_began", "_chunks", "answer", "delay", "instead", "number", "plan", "recorder", "step")

    def __init__(
        self,
        recorder: ProxyRecorder,
        number: int | None,
        step: int = -1,
        delay: float = 0.0,
        answer: Outcome | None = None,
    ) -> None:
        self.recorder = recorder
        self.number = number
        self.step = step
        self.delay = delay
        self.answer = answer
        self.instead: Callable[[], Outcome] | None = None  # the trial's own process plays tools
        self.plan: tuple[Again, ...] = ()  # the trial refuses what would need one
        self._began = time.perf_counter()
        self._chunks: list[Chunk] = []

    def repeatable(self, again: Repeatable, *, is_async: bool) -> None:
        """The trial cannot reach the tools of this process."""

    def done(self, value: Any, reply: Reply | None = None) -> Any:
        """The call returned ``value``; gives what the caller is to get, which the trial knows."""
        told = self.recorder.ended(self, Value(value), reply)
        return told.value if isinstance(told, Value) else value

    def failed(self, error: BaseException) -> None:
        """The call raised ``error``."""
        if not isinstance(error, TrialStopped):
            self.recorder.ended(self, Error(error), None)

    def cancelled(self) -> None:
        """The caller gave the call up."""
        self.recorder.ended(self, Cancelled(), None)

    def chunk(self, data: Any) -> None:
        """The next piece of a stream arrived."""
        self._chunks.append(Chunk(time.perf_counter() - self._began, data))

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
        self.recorder.ended(self, Stream(head, tuple(self._chunks), complete, error), reply)


class ProxyRecorder:
    """Stands for the trial in a child process; implements `cassettes.recorder.Recorder`."""

    def __init__(self, invitation: TrialInvitation) -> None:
        self._invitation = invitation
        self._line = _line_to(invitation.address, invitation.token)
        self._item = Context().run(token_hex, 8)  # in no context: a trial may freeze what is drawn in its own
        self._strands = Strands()

    def begin(self, call: Call) -> ProxyTicket:
        """Ask the trial how the call is answered.

        Raises:
            TrialStopped: the trial was stopped, now or before; or it has ended, and calls are frozen.
        """
        place = [self._item, self._strands.number()]
        try:
            _, number, step, delay, packed, is_paced = self._ask(
                ["begin", current_actor(), self._outer(), place, *call_said(call)]
            )
        except Gone:
            return self._too_late(call)
        answer, unknown = answer_from(packed, is_paced)
        if unknown:
            self._ask(["unknown", unknown[0].name])
        return ProxyTicket(self, number, step, delay, answer)

    def connecting(self, address: Any) -> None:
        """A connection is about to be opened: while calls are frozen, only inside a live call.

        Raises:
            TrialStopped: no live call is open in this context.
        """
        if self._invitation.recording or self._enclosing() is not None:
            return
        try:
            self._ask(["connecting", address, self._outer()])
        except Gone:
            raise TrialStopped(Refused(f"a connection to {address} was opened after its trial had ended")) from None

    def escaped(self, name: str, pid: int | None = None) -> None:
        """Something was started whose calls are not seen, unless it is a process that says otherwise."""
        with suppress(Gone):
            self._ask(["escaped", name, self._outer(), pid])

    def arrived(self) -> None:
        """This process, which was started like any other program, belongs to the trial."""
        with suppress(Gone):
            self._ask(["arrived", os.getpid(), os.getppid()])

    def invitation(self) -> Invitation:
        """For processes that this one starts."""
        return evolve(self._invitation, actor=current_actor(), outer=self._outer())

    def ended(self, ticket: ProxyTicket, outcome: Outcome, reply: Reply | None) -> Outcome | None:
        """A live call has ended; gives what the caller is to get, if that is something else.

        Raises:
            TrialStopped: it could not be recorded.
        """
        if ticket.number is None:
            return None
        try:
            _, *told = self._ask(["end", ticket.number, *end_said(outcome, reply)])
        except Gone:  # as a thread's call that ends after its trial
            return None
        return answer_from(told[0], is_paced=False)[0] if told else None

    def _enclosing(self) -> ProxyTicket | None:
        """The live call of this trial inside which this context is."""
        outer = enclosing()
        return outer if isinstance(outer, ProxyTicket) and outer.recorder is self else None

    def _outer(self) -> int | None:
        outer = self._enclosing()
        return None if outer is None else outer.number

    def _ask(self, message: list[Any]) -> list[Any]:
        answer = self._line.ask(message)
        if answer[0] == "stopped":
            raise TrialStopped(halt_from(answer[1]))
        return answer

    def _too_late(self, call: Call) -> ProxyTicket:
        name = f"{call.kind} {call.name}"
        if not self._invitation.recording:
            raise TrialStopped(Refused(f"{name} was called after its trial had ended")) from None
        _log.warning("%s was called by process %s after its trial had ended; it is not recorded", name, os.getpid())
        return ProxyTicket(self, None)


# -- this process as a child ------------------------------------------------------------------------------------------


class _Process:
    """What this process keeps until its end."""

    lock = threading.Lock()
    patches: ExitStack | None = None
    joined: ExitStack | None = None
    lines: OrderedDict[tuple[str, str], Line] = OrderedDict()  # noqa: RUF012  # of the process


def _line_to(address: str, token: str) -> Line:
    """The line to a trial: pool items follow each other, and to connect costs more than to ask."""
    with _Process.lock:
        line = _Process.lines.pop((address, token), None) or Line(address, token)
        _Process.lines[address, token] = line
        if len(_Process.lines) > _MOST_LINES:
            _Process.lines.popitem(last=False)
        return line


def _stay_patched() -> None:
    """Install the adapters' patches, once for all trials that this process will work for."""
    with _Process.lock:
        if _Process.patches is None:
            stack = ExitStack()
            stack.enter_context(patched())
            _Process.patches = stack


class _Forking(threading.local):
    invitation: Invitation | None = None


_forking: Final = _Forking()


def _before_fork() -> None:
    recorder = current()
    _forking.invitation = None if recorder is None else recorder.invitation()


def _after_fork_in_parent() -> None:
    _forking.invitation = None


def _after_fork_in_child() -> None:
    """What listened in this context is the parent's; the child calls it like any other process."""
    _Process.lock = threading.Lock()
    invitation, _forking.invitation = _forking.invitation, None
    if invitation is not None:
        stack = ExitStack()
        stack.enter_context(invitation.joined())
        _Process.joined = stack


os.register_at_fork(before=_before_fork, after_in_parent=_after_fork_in_parent, after_in_child=_after_fork_in_child)
