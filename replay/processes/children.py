"""The side of a trial that its child processes call: a local socket that lives as long as the trial.

Each connection has a thread, which acts for one thread of a child: it sets the context in which that thread is (actor,
enclosing call, strand), and hands its calls to the session like any other thread of the trial.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import shutil
import socket
import tempfile
import threading
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import Context
from hmac import compare_digest
from multiprocessing.connection import Connection
from pathlib import Path
from secrets import token_hex
from typing import Any, Final, Protocol

from cassettes.errors import CorruptCassette, RecordingFailed, TrialStopped, TrialtapeError, Unanswered
from cassettes.model import Call
from cassettes.recorder import entered
from cassettes.values import pack, unpack
from replay.actors import acting_as, current_actor
from replay.misses import unknown_class_report
from replay.strands import elsewhere
from replay.tickets import SessionTicket

from .escapes import Escapes
from .proxy import TrialInvitation
from .wire import answer_packed, call_from, halt_packed, outcome_of

__all__ = ["Children"]

_BACKLOG: Final = 128
_LONGEST_PATH: Final = 100  # bytes; systems allow a little more in the address of a local socket
_MOST_TOKEN: Final = 256


class Trial(Protocol):
    """What is needed of the session."""

    def begin(self, call: Call) -> SessionTicket:
        """A call begins."""

    def connecting(self, address: Any) -> None:
        """A connection is about to be opened."""

    escaped_work: Escapes

    def escaped(self, name: str, pid: int | None = None) -> None:
        """Something was started."""

    def stop(self, halt: TrialtapeError) -> None:
        """The trial cannot go on."""


class Children:
    """Takes the calls of a trial's child processes; nothing is opened before the first is invited.

    Args:
        trial: whose calls they are.
        recording: nothing is frozen.
    """

    def __init__(self, trial: Trial, *, recording: bool) -> None:
        self._trial = trial
        self._recording = recording
        self._lock = threading.Lock()
        self._listener: socket.socket | None = None
        self._folder: Path | None = None
        self._token = ""
        self._closed = False
        self._connections: set[Connection] = set()
        self._numbers = itertools.count()
        self._tickets: dict[int, SessionTicket] = {}
        self._outer: dict[int, int] = {}  # by step of a call that encloses invited work, its number
        self._latest = threading.local()

    def invitation(self, outer: SessionTicket | None) -> TrialInvitation | None:
        """For work that this context hands to another process; None if the trial has ended.

        Raises:
            RecordingFailed: no socket can be opened.
        """
        with self._lock:
            if self._closed:
                return None
            if self._listener is None:
                Context().run(self._listen)  # a trial's own context may freeze the randomness that names are made of
            number = None if outer is None else self._number_of(outer)
            return TrialInvitation(str(self._path), self._token, self._recording, current_actor(), number)

    def close(self) -> None:
        """The trial has ended: nobody is let in any more, and whoever waits for an answer gets none."""
        with self._lock:
            self._closed = True
            listener, self._listener = self._listener, None
        if listener is None:
            return
        _open.discard(self)
        with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX) as caller:
            caller.settimeout(1)
            caller.connect(str(self._path))  # accept() does not notice on every system that its socket is closed
        with contextlib.suppress(OSError):
            listener.shutdown(socket.SHUT_RDWR)  # for a process just forked as well, which has not closed its copy yet
        listener.close()
        with self._lock:  # none of them is closed meanwhile: its number would be another file's
            for connection in self._connections:
                _shut(connection)
        self._remove()

    def forget(self) -> None:
        """In a forked child: the sockets are the parent's, and stay open if a copy of them does."""
        if self._listener is not None:
            self._listener.close()
        for connection in list(self._connections):
            with contextlib.suppress(OSError):  # its thread was just about to close it
                connection.close()

    def _remove(self) -> None:
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)

    @property
    def _path(self) -> Path:
        assert self._folder is not None
        return self._folder / "trial"

    def _number_of(self, outer: SessionTicket) -> int:
        if outer.step not in self._outer:
            number = self._outer[outer.step] = next(self._numbers)
            self._tickets[number] = outer
        return self._outer[outer.step]

    # -- the socket ---------------------------------------------------------------------------------------------------

    def _listen(self) -> None:
        try:
            self._folder = _folder()
            listener = socket.socket(socket.AF_UNIX)
            with contextlib.ExitStack() as stack:
                stack.callback(listener.close)
                listener.bind(str(self._path))
                listener.listen(_BACKLOG)
                stack.pop_all()
        except OSError as error:
            self._remove()
            raise RecordingFailed(f"no socket for the trial's child processes can be opened: {error}") from error
        self._token = token_hex(32)
        self._listener = listener
        _open.add(self)
        threading.Thread(target=self._accept, args=(listener,), name="trialtape-children", daemon=True).start()

    def _accept(self, listener: socket.socket) -> None:
        try:
            while self._admitted(listener):
                pass
        except (OSError, RuntimeError) as error:  # too many open files, too many threads
            if not self._closed:
                self._trial.stop(RecordingFailed(f"the trial's child processes can no longer reach it: {error}"))
                self.close()

    def _admitted(self, listener: socket.socket) -> bool:
        """Give the next caller a thread; False if the trial has ended."""
        client, _ = listener.accept()
        connection = Connection(client.detach())
        with self._lock:
            if self._closed:
                connection.close()
                return False
            self._connections.add(connection)
        threading.Thread(target=self._serve, args=(connection,), name="trialtape-child", daemon=True).start()
        return True

    def _serve(self, connection: Connection) -> None:
        try:
            if compare_digest(connection.recv_bytes(_MOST_TOKEN), self._token.encode()):
                while True:
                    connection.send_bytes(self._answered(connection.recv_bytes()))
        except (EOFError, OSError):  # the child has ended, or the trial has
            pass
        finally:
            with self._lock:
                self._connections.discard(connection)
                connection.close()

    # -- what is asked ------------------------------------------------------------------------------------------------

    def _answered(self, packed: bytes) -> bytes:
        try:
            what, *parts = unpack(packed)
            return pack(self._asked[what](self, *parts))
        except TrialStopped as stopped:
            return pack(["stopped", halt_packed(stopped.halt)])
        except Exception as error:  # noqa: BLE001  # whatever it is, the child waits for an answer
            halt = _told(error)
            self._trial.stop(halt)
            return pack(["stopped", halt_packed(halt)])

    def _begin(
        self, actor: str, outer: int | None, place: list[Any], facts: Any, arguments: bytes | None, unkept: Any
    ) -> list[Any]:
        with acting_as(actor), self._inside(outer), elsewhere(tuple(place)):
            ticket = self._trial.begin(call_from(facts, arguments, unkept))
        if ticket.instead is not None:
            ticket.answer = ticket.instead()
        self._latest.ticket = ticket
        number = next(self._numbers)
        if ticket.answer is None:
            self._tickets[number] = ticket
        return ["ticket", number, ticket.step, ticket.delay, *answer_packed(ticket.answer)]

    def _end(self, number: int, outcome: bytes | None, unkept: Any, reply: Any) -> list[Any]:
        ticket = self._tickets.pop(number)
        told = ticket.ended_with(outcome_of(outcome, unkept), reply)
        return ["ok"] if ticket.injected is None else ["told", answer_packed(told)[0]]

    def _connecting(self, address: Any, outer: int | None) -> list[Any]:
        with self._inside(outer):
            self._trial.connecting(address)
        return ["ok"]

    def _escaped(self, name: str, outer: int | None, pid: int | None) -> list[Any]:
        with self._inside(outer):
            self._trial.escaped(name, pid)
        return ["ok"]

    def _has_arrived(self, pid: int, parent: int) -> list[Any]:
        self._trial.escaped_work.arrived(pid, parent)
        return ["ok"]

    def _unknown(self, name: str) -> list[Any]:
        """The answer that this thread handed out last has a class that the child has not loaded."""
        ticket: SessionTicket = self._latest.ticket
        why, report = unknown_class_report(ticket.step, ticket.call, name, ticket.origin)
        self._trial.stop(Unanswered(why, report))
        raise TrialStopped(Unanswered(why, report))

    @contextmanager
    def _inside(self, outer: int | None) -> Iterator[None]:
        ticket = None if outer is None else self._tickets.get(outer)
        with contextlib.nullcontext() if ticket is None else entered(ticket):
            yield

    _asked: Final[dict[str, Callable[..., list[Any]]]] = {
        "begin": _begin,
        "end": _end,
        "connecting": _connecting,
        "escaped": _escaped,
        "arrived": _has_arrived,
        "unknown": _unknown,
    }


def _told(error: Exception) -> TrialtapeError:
    """What stops the trial: an error that a user can understand is told as it is."""
    if isinstance(error, TrialtapeError) and not isinstance(error, CorruptCassette):
        return error
    return RecordingFailed(f"a call of a child process could not be taken: {type(error).__name__}: {error}")


def _folder() -> Path:
    """A folder for this user alone, whose path is short enough for a socket's address."""
    made = tempfile.mkdtemp(prefix="trialtape-children-")
    if len(os.fsencode(made)) > _LONGEST_PATH - len("/trial"):
        Path(made).rmdir()
        made = tempfile.mkdtemp(prefix="trialtape-children-", dir="/tmp")  # made anew, for this user alone
    return Path(made)


def _shut(connection: Connection) -> None:
    """End the connection for every process that has a copy of it."""
    with contextlib.suppress(OSError), socket.socket(fileno=os.dup(connection.fileno())) as copy:
        copy.shutdown(socket.SHUT_RDWR)


_open: weakref.WeakSet[Children] = weakref.WeakSet()


def _after_fork() -> None:
    for children in list(_open):
        children.forget()


os.register_at_fork(after_in_child=_after_fork)
