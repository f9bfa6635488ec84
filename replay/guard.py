"""The recorder of a session around live traffic: whatever goes wrong in recording, the host is not touched.

Every way into our code goes through `Guard.attempt`, the one place that turns each exception of ours into "stop
recording". What the host's own code raises never passes there: it is told to a ticket, and goes its way.
"""

from __future__ import annotations

import logging
import os
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Final, TypeVar

from cassettes.again import Again, Repeatable
from cassettes.errors import TrialStopped
from cassettes.model import Call, Ending, Outcome, Reply
from cassettes.recorder import enclosing, entered
from cassettes.writer import CassetteWriter

from .endings import ending_of
from .session import Session
from .tickets import SessionTicket

__all__ = ["Guard", "Passing"]

T = TypeVar("T")

_log = logging.getLogger("trialtape")


class Passing:
    """The ticket of a call that is not recorded; implements `cassettes.recorder.Ticket`."""

    step = -1
    answer: Outcome | None = None
    delay = 0.0
    instead: Callable[[], Outcome] | None = None
    plan: tuple[Again, ...] = ()

    def repeatable(self, again: Repeatable, *, is_async: bool) -> None:
        """Nothing is frozen, so nothing is carried out again."""

    def done(self, value: Any, reply: Reply | None = None) -> Any:  # noqa: ARG002  # of no use here
        """The call returned: nothing is kept."""
        return value

    def failed(self, error: BaseException) -> None:
        """The call raised: nothing is kept."""

    def cancelled(self) -> None:
        """The call was given up: nothing is kept."""

    def chunk(self, data: Any) -> None:
        """A piece arrived: nothing is kept."""

    def closed(
        self,
        head: Any,
        *,
        complete: bool,
        error: BaseException | None = None,
        decode: Callable[[tuple[Any, ...]], Reply | None] | None = None,
    ) -> None:
        """The stream ended: nothing is kept."""


_PASSING: Final = Passing()


class Guard:
    """Stands before the `Session` of a production session; implements `cassettes.recorder.Recorder`.

    Args:
        name: of the session, for the log.
        max_bytes: of the cassette, and of what streams hold in memory meanwhile; None for no limit.
        max_seconds: from the first call that `start` allows; None for no limit.

    Attributes:
        ending: how the recording ended; None while it goes on, or if none was begun.
        reason: why nothing, or nothing more, is recorded.
    """

    def __init__(self, name: str, max_bytes: int | None = None, max_seconds: float | None = None) -> None:
        self.name = name
        self.ending: Ending | None = None
        self.reason: str | None = None
        self._max_bytes = max_bytes
        self._max_seconds = max_seconds
        self._lock = threading.Lock()
        self._over = False
        self._process = os.getpid()
        self._began = time.monotonic()
        self._held = 0
        self._session: Session | None = None
        self._writer: CassetteWriter | None = None

    def start(self, writer: CassetteWriter) -> None:
        """From now on the file is this guard's to close."""
        self._writer = writer

    def listen(self, session: Session) -> None:
        """From now on calls are recorded by ``session``."""
        self._session = session

    @property
    def over(self) -> bool:
        """True if nothing is recorded any more; also in a forked child, which must not write into this file."""
        return self._over or self._process != os.getpid()

    def attempt(self, work: Callable[..., T], *arguments: Any) -> T | None:
        """Do ``work`` unless recording is over; whatever it raises ends the recording, and is not raised."""
        if self.over:
            return None
        try:
            return work(*arguments)
        except (Exception, TrialStopped) as error:  # noqa: BLE001  # the one place: nothing of ours reaches the host
            self._fail(error)
            return None

    # -- the recorder -------------------------------------------------------------------------------------------------

    def begin(self, call: Call) -> Passing:
        """Record the call if that is possible; it always goes live."""
        return self.attempt(self._begin, call) or _PASSING

    def connecting(self, address: Any) -> None:
        """Every connection is allowed."""

    def escaped(self, name: str, pid: int | None = None) -> None:
        """Processes go their way."""

    def invitation(self) -> None:
        """Nobody is invited: what other processes of the host do is not recorded."""

    def _begin(self, call: Call) -> Passing:
        session = self._session
        if session is None or self._at_a_limit():
            return _PASSING
        outer = enclosing()
        if isinstance(outer, _Watched) and outer.inner is not None:
            with entered(outer.inner):
                inner = session.begin(call)
        else:
            inner = session.begin(call)
        self._check(session)
        return _Watched(self, inner)

    # -- what tickets tell --------------------------------------------------------------------------------------------

    def ended(self) -> None:
        """A call was written down."""
        if self._session is not None:
            self._check(self._session)
            del self._session.live_model_calls[:-1]  # the last one tells how the session ended; more is only memory
        self._at_a_limit()

    def hold(self, size: int) -> bool:
        """True if so many bytes more may be held in memory until they are written."""
        with self._lock:
            self._held += size
        if self._max_bytes is None or self._held <= self._max_bytes:
            return True
        self.cap(f"a call brought more than {self._max_bytes} bytes")
        return False

    def _check(self, session: Session) -> None:
        if session.journal.problems:
            raise session.journal.problems[0]

    def _at_a_limit(self) -> bool:
        if self._max_seconds is not None and time.monotonic() - self._began >= self._max_seconds:
            self.cap(f"max_seconds={self._max_seconds:g} reached")
        elif self._max_bytes is not None and self._writer is not None and self._writer.size >= self._max_bytes:
            self.cap(f"max_bytes={self._max_bytes} reached")
        return self._over

    # -- the end ------------------------------------------------------------------------------------------------------

    def cap(self, reason: str) -> None:
        """A limit was reached: nothing more is recorded."""
        self._end(Ending("capped", reason), logging.INFO)

    def finish(self, error: BaseException | None) -> None:
        """The block was left, by ``error`` if it is not None."""
        self.attempt(self._finish, error)

    def _finish(self, error: BaseException | None) -> None:
        session = self._session
        if session is None or self._at_a_limit():
            return
        change = session.journal.change()
        self._check(session)
        if change is not None:
            session.journal.mark("changed", change)
        self._end(ending_of(error, None, session.live_model_calls), None)

    def _fail(self, error: BaseException) -> None:
        cause = error.halt if isinstance(error, TrialStopped) else error
        try:
            told = f"{type(cause).__name__}: {cause}"
        except Exception:  # noqa: BLE001  # an exception that cannot be told
            told = type(cause).__name__
        self._end(Ending("error", told, "recording"), logging.WARNING)

    def _end(self, ending: Ending, level: int | None) -> None:
        """Close the recording, once; what fails in this is told and leaves the file without an end."""
        with self._lock:
            if self._over:
                return
            self._over = True
        problem: BaseException | None = None
        try:
            if self._writer is not None:  # which lets no more in; the session says nothing of calls that come late
                self._writer.close(ending)
                self.ending = ending
        except (Exception, TrialStopped) as error:  # noqa: BLE001  # nothing of ours reaches the host
            problem = error
            with suppress(Exception):
                assert self._writer is not None
                self._writer.abandon()
        if level is not None:
            self.reason = ending.reason
        elif problem is not None:
            level, self.reason = logging.WARNING, f"{type(problem).__name__}: {problem}"
        if level is not None:
            with suppress(Exception):  # a handler or a filter of the host's
                _log.log(level, "session %s: recording stopped, the host goes on: %s", self.name, self.reason)


class _Watched(Passing):
    """The ticket of a recorded call."""

    def __init__(self, guard: Guard, inner: SessionTicket) -> None:
        self._guard = guard
        self.inner: SessionTicket | None = inner
        self.step = inner.step
        self._size = 0

    def done(self, value: Any, reply: Reply | None = None) -> Any:
        """The call returned ``value``, which is what the caller gets: a session has no task."""
        self._guard.attempt(self._done, value, reply)
        return value

    def failed(self, error: BaseException) -> None:
        """The call raised ``error``."""
        self._guard.attempt(self._tell, SessionTicket.failed, error)

    def cancelled(self) -> None:
        """The caller gave the call up."""
        self._guard.attempt(self._tell, SessionTicket.cancelled)

    def chunk(self, data: Any) -> None:
        """The next piece of a stream arrived."""
        self._guard.attempt(self._chunk, data)
        if self._guard.over:
            self.inner = None  # with the pieces that it holds

    def closed(
        self,
        head: Any,
        *,
        complete: bool,
        error: BaseException | None = None,
        decode: Callable[[tuple[Any, ...]], Reply | None] | None = None,
    ) -> None:
        """The stream ended."""
        self._guard.attempt(self._closed, head, complete, error, decode)

    def _tell(self, what: Callable[..., None], *arguments: Any) -> None:
        if self.inner is not None:
            what(self.inner, *arguments)
            self._guard.ended()

    def _done(self, value: Any, reply: Reply | None) -> None:
        size = _size_of(value)
        if self._guard.hold(size):
            self._tell(SessionTicket.done, value, reply)
            self._guard.hold(-size)

    def _chunk(self, data: Any) -> None:
        size = _size_of(data)
        self._size += size
        if self.inner is not None and self._guard.hold(size):
            self.inner.chunk(data)

    def _closed(
        self,
        head: Any,
        complete: bool,  # noqa: FBT001  # passed on by place through `attempt`
        error: BaseException | None,
        decode: Callable[[tuple[Any, ...]], Reply | None] | None,
    ) -> None:
        if self.inner is not None:
            self.inner.closed(head, complete=complete, error=error, decode=decode)
            self._guard.hold(-self._size)
            self._guard.ended()


def _size_of(value: Any) -> int:
    """The bytes of a text, of a piece or of the body of an HTTP response; 0 for what is no text."""
    if type(value) is dict:
        value = value.get("body")
    return len(value) if isinstance(value, str | bytes) else 0
