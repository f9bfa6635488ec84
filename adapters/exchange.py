"""One live exchange: what comes back of a request, told to its ticket as it passes. Sync and async clients share it."""

from __future__ import annotations

import _thread
from collections.abc import Callable, Collection
from contextlib import suppress
from typing import Any, Final

from cassettes.recorder import Ticket

from .encodings import Undecodable, decoder
from .http import Asked, header, is_stream, note_raw, text_or_bytes

__all__ = ["Exchange", "bare", "content_length"]

_HOLDS_A_REQUEST: Final = ("_request", "_response", "request", "response")
_BODILESS: Final = frozenset({204, 304})


def bare(error: BaseException) -> BaseException:
    """A copy of an exception without its request, traceback and cause: those hold sockets and secrets.

    No constructor but the built-in one is called: a class's own may want other arguments.
    """
    cls = type(error)
    base: Any = next(ancestor for ancestor in cls.__mro__ if ancestor.__module__ == "builtins")
    arguments = base.__reduce__(error)[1]
    copy: BaseException = base.__new__(cls, *arguments)
    base.__init__(copy, *arguments)
    for name, value in vars(error).items():
        setattr(copy, name, None if name in _HOLDS_A_REQUEST else value)
    return copy


class Exchange:
    """The response of one request while its consumer reads it; told exactly once how it ended.

    Args:
        ticket: where it is recorded.
        asked: the request.
        head: of the response, from `response_head`.
        supported: the content encodings that the client undoes; others reach its user, and the recording, raw.
        undecodable: makes the client's own error for a damaged encoding.
        length: the Content-Length, if it was given.
    """

    def __init__(
        self,
        ticket: Ticket,
        asked: Asked,
        head: dict[str, Any],
        *,
        supported: Collection[str],
        undecodable: Callable[[str], BaseException],
        length: int | None = None,
    ) -> None:
        self._ticket = ticket
        self._asked = asked
        self._head = head
        self._streams = is_stream(asked, head)
        self._decoder = decoder(head["encoding"], supported)
        if self._decoder is None:
            note_raw(head)
        self._undecodable = undecodable
        self._damage: BaseException | None = None
        self._pieces: list[bytes] = []  # decoded
        self._received = 0
        self._length = 0 if asked.call.detail["method"] == "HEAD" or head["status"] in _BODILESS else length
        self._over = False

    def chunk(self, raw: bytes) -> None:
        """A piece arrived, as it came over the wire."""
        self._received += len(raw)
        self.decoded(self._undone(raw))

    def decoded(self, data: bytes) -> None:
        """The same of a piece whose encoding the client has undone already."""
        if data and not self._over:
            self._pieces.append(data)
            if self._streams:
                self._ticket.chunk(data)

    def finished(self) -> None:
        """The body was read to its end."""
        if self._over:
            return
        if self._damage is not None:
            self._closed(complete=False, error=self._damage)
        elif self._streams:
            self._closed(complete=True)
        else:
            self._over = True
            body = text_or_bytes(b"".join(self._pieces))
            self._ticket.done({**self._head, "body": body}, self._asked.reply(self._head["status"], body))

    def broke(self, error: BaseException) -> None:
        """Reading failed, or was cancelled."""
        self._closed(complete=False, error=bare(error))

    def abandoned(self) -> None:
        """The consumer closed the response.

        It may have read all that there was: clients close a stream of the OpenAI protocol at its ``[DONE]``.
        """
        if self._received == self._length or (self._streams and self._asked.stream_ended(self._pieces)):
            self.finished()
        else:
            self._closed(complete=False)

    def lost(self) -> None:
        """The response was garbage-collected unclosed.

        The collector may run anywhere, also while this very thread holds a lock that recording needs; so another
        thread records it. A raw one: starting a ``threading.Thread`` takes locks, too.
        """
        if not self._over:
            with suppress(RuntimeError):  # the interpreter is shutting down
                _thread.start_new_thread(self.abandoned, ())

    def _undone(self, raw: bytes) -> bytes:
        if self._decoder is None:
            return raw
        if self._damage is not None:
            return b""
        try:
            return self._decoder.feed(raw)
        except Undecodable as error:
            self._damage = self._undecodable(str(error))
            return b""

    def _closed(self, *, complete: bool, error: BaseException | None = None) -> None:
        if self._over:
            return
        self._over = True
        if not self._streams:  # its pieces were held back, because a whole body is one value
            for piece in self._pieces:
                self._ticket.chunk(piece)
        decode = None if self._asked.decoder is None else self._asked.reply_from_stream
        self._ticket.closed(self._head, complete=complete, error=error or self._damage, decode=decode)


def content_length(headers: list[tuple[str, str]]) -> int | None:
    """The Content-Length of a response, if it is a number."""
    text = header(headers, "content-length")
    return int(text) if text.isascii() and text.isdigit() else None
