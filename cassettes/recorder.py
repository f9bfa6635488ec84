"""The one seam between adapters and recordings: a Protocol, and who is listening in this context.

An adapter builds a `Call` and hands it to `current()`. The ticket it gets back either holds the frozen answer, or
lets it go live and say what came of it. Deciding does no I/O and awaits nothing, so sync, async and streaming
adapters share it; `perform` and `aperform` are the two thin helpers for plain functions.
"""

from __future__ import annotations

import asyncio
import os
import threading
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from typing import Any, Protocol, TypeVar

from .again import Again, Repeatable, acarry_out, carry_out
from .errors import CassetteError
from .model import Call, Cancelled, Error, Outcome, Reply, Stream, Value

__all__ = [
    "Invitation",
    "Recorder",
    "Ticket",
    "Unseen",
    "aperform",
    "current",
    "enclosing",
    "entered",
    "listening",
    "passed_by",
    "perform",
    "unattributed",
    "unwatched",
    "watched",
    "watching",
]

T = TypeVar("T")


class Ticket(Protocol):
    """One call in progress.

    Attributes:
        step: the place that was reserved for it.
        answer: the frozen outcome to hand out, or None: go live, then call exactly one of `done`, `failed`,
            `cancelled` and `closed`.
        delay: seconds to wait before going live (shared back-off); 0.0 otherwise.
        instead: of a tool without an ``answer``: called instead of the real thing, it gives the outcome to hand out,
            and nothing more is to be said of the call. It may take long. None otherwise.
        plan: to be carried out before going live (`cassettes.again`), in this order; only of a tool.
    """

    step: int
    answer: Outcome | None
    delay: float
    instead: Callable[[], Outcome] | None
    plan: tuple[Again, ...]

    def repeatable(self, again: Repeatable, *, is_async: bool) -> None:
        """A frozen call of a tool could be made by ``again``, with its arguments as they were when it began."""

    def done(self, value: Any, reply: Reply | None = None) -> Any:
        """The call returned ``value``; of a tool, what its caller is to get: as a rule the same."""

    def failed(self, error: BaseException) -> None:
        """The call raised ``error``."""

    def cancelled(self) -> None:
        """The caller gave the call up."""

    def chunk(self, data: Any) -> None:
        """The next piece of a stream arrived."""

    def closed(
        self,
        head: Any,
        *,
        complete: bool,
        error: BaseException | None = None,
        decode: Callable[[tuple[Any, ...]], Reply | None] | None = None,
    ) -> None:
        """The stream ended; ``decode`` reads the reply from its pieces."""


class Invitation(Protocol):
    """Goes with work that is handed to another process; it can be pickled, and used there more than once."""

    def joined(self) -> AbstractContextManager[None]:
        """Calls in this block, in that process, are calls of the recorder that made the invitation."""


class Recorder(Protocol):
    """Listens to the calls of one trial."""

    def begin(self, call: Call) -> Ticket:
        """Reserve the call's step and decide how it is answered.

        Raises:
            TrialStopped: the trial was stopped; nothing may be called any more.
        """

    def connecting(self, address: Any) -> None:
        """A connection to the internet is about to be opened.

        Raises:
            TrialStopped: calls are frozen, and no live call is open in this context.
        """

    def escaped(self, name: str, pid: int | None = None) -> None:
        """Something was started, such as a process, whose calls this recorder will not see."""

    def invitation(self) -> Invitation | None:
        """What lets work that is handed to another process here call this recorder; None: it records this one only."""


class Unseen:
    """Counts, by name, what happened while a trial was active and is in no recording; safe to use from many threads.

    Names beyond the first `MOST_NAMES` are counted together: a path may hold another id each time.
    """

    MOST_NAMES = 50
    OTHERS = "others"

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self._lock = threading.Lock()

    def note(self, name: str) -> None:
        """One more of that name."""
        with self._lock:
            known = name in self.counts or len(self.counts) < self.MOST_NAMES
            self.counts[name if known else self.OTHERS] += 1


_current: ContextVar[Recorder | None] = ContextVar("trialtape_recorder", default=None)
_enclosing: ContextVar[Ticket | None] = ContextVar("trialtape_enclosing", default=None)
_meant: ContextVar[bool] = ContextVar("trialtape_meant", default=False)
_watches: tuple[Unseen, ...] = ()
_watches_lock = threading.Lock()


def current() -> Recorder | None:
    """The recorder that listens in this context, if a trial is active here."""
    return _current.get()


def enclosing() -> Ticket | None:
    """The live call inside which this code runs, if any."""
    return _enclosing.get()


@contextmanager
def listening(recorder: Recorder | None) -> Iterator[None]:
    """Make ``recorder`` the current one in this context (None: nobody listens)."""
    token = _current.set(recorder)
    outer = _enclosing.set(None)
    try:
        yield
    finally:
        _current.reset(token)
        _enclosing.reset(outer)


class entered:  # noqa: N801  # used like a function; a class is entered in a third of a generator's time
    """Calls made in this block are children of ``ticket``."""

    __slots__ = ("_ticket", "_token")

    def __init__(self, ticket: Ticket) -> None:
        self._ticket = ticket

    def __enter__(self) -> None:
        self._token = _enclosing.set(self._ticket)

    def __exit__(self, *_: object) -> None:
        _enclosing.reset(self._token)


def unattributed() -> bool:
    """True if no trial is active in this context."""
    return _current.get() is None


@contextmanager
def watching(unseen: Unseen) -> Iterator[None]:
    """Count in ``unseen`` the calls of this process that belong to no trial; blocks may overlap in any order."""
    global _watches  # noqa: PLW0603  # trials are active in a process, whatever the context
    with _watches_lock:
        _watches = (*_watches, unseen)
    try:
        yield
    finally:
        with _watches_lock:
            _watches = tuple(other for other in _watches if other is not unseen)


@contextmanager
def unwatched() -> Iterator[None]:
    """Calls in this block belong to no trial on purpose, such as those of a scorer: they are not counted."""
    token = _meant.set(True)
    try:
        yield
    finally:
        _meant.reset(token)


def watched() -> bool:
    """True if a call that belongs to no trial would be counted here."""
    return bool(_watches) and not _meant.get()


def passed_by(name: Callable[[], str]) -> None:
    """An adapter lets a call pass because nobody listens in its context; counted while some trial is active."""
    if watched():
        told = name()
        for unseen in _watches:
            unseen.note(told)


def _after_fork() -> None:
    """In a forked child nobody reads what its parent's trials count, and their locks may be held by absent threads."""
    global _watches, _watches_lock  # of the process
    _watches, _watches_lock = (), threading.Lock()


os.register_at_fork(after_in_child=_after_fork)


def hand_out(answer: Outcome) -> Any:
    """Return or raise a frozen outcome of a plain function.

    Raises:
        BaseException: the recorded one.
        CassetteError: the recording is of a stream or was cancelled, which a plain function cannot repeat.
    """
    match answer:
        case Value(value):
            return value
        case Error(error):
            raise error
        case Cancelled():
            raise CassetteError("a call that its caller cancelled can be repeated by async code only")
        case Stream():
            raise CassetteError("a stream was recorded where a plain value is asked for")


def perform(recorder: Recorder, call: Call, live: Callable[[], T], again: Repeatable | None = None) -> T:
    """Answer ``call`` from the recorder, or by ``live()`` while the recorder listens.

    Args:
        recorder: who listens.
        call: what is asked.
        live: asks the real thing.
        again: does so with other copies of the arguments, later (see `cassettes.again`); None if that is not possible.

    Raises:
        BaseException: what ``live`` raised, or what was recorded.
    """
    ticket = recorder.begin(call)
    frozen = ticket.answer if ticket.instead is None else ticket.instead()
    if frozen is not None:
        if again is not None:
            ticket.repeatable(again, is_async=False)
        answer: T = hand_out(frozen)
        return answer
    if ticket.plan:
        carry_out(ticket.plan)
    if ticket.delay:
        time.sleep(ticket.delay)
    with entered(ticket):
        try:
            value = live()
        except BaseException as error:
            ticket.failed(error)
            raise
    told: T = ticket.done(value)
    return told


async def aperform(
    recorder: Recorder, call: Call, live: Callable[[], Awaitable[T]], again: Repeatable | None = None
) -> T:
    """The same for async functions; a cancelled outcome waits for the caller to cancel.

    Raises:
        BaseException: what ``live`` raised, or what was recorded.
    """
    ticket = recorder.begin(call)
    frozen = ticket.answer if ticket.instead is None else await asyncio.to_thread(ticket.instead)
    if frozen is not None and again is not None:
        ticket.repeatable(again, is_async=True)
    if isinstance(frozen, Cancelled):
        await asyncio.get_running_loop().create_future()
    if frozen is not None:
        answer: T = hand_out(frozen)
        return answer
    if ticket.plan:
        await acarry_out(ticket.plan)
    if ticket.delay:
        await asyncio.sleep(ticket.delay)
    with entered(ticket):
        try:
            value = await live()
        except asyncio.CancelledError:
            ticket.cancelled()
            raise
        except BaseException as error:
            ticket.failed(error)
            raise
    told: T = ticket.done(value)
    return told
