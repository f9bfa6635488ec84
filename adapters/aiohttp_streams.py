"""Bodies of aiohttp's live responses, which record themselves while being read."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from typing import Any

from .exchange import Exchange

__all__ = ["Streams", "Tee"]


class Streams:
    """The reader of aiohttp, extended.

    Args:
        client: `aiohttp.client_reqrep`.
        protocol: `aiohttp.client_proto`.
    """

    def __init__(self, client: Any, protocol: Any) -> None:
        self._reader: Any = protocol.StreamReader
        namespace = {"__slots__": (), "left": client._CONNECTION_CLOSED_EXCEPTION}  # noqa: SLF001 - pinned by a contract test
        self._recording: Any = type("RecordingReader", (_Recording, self._reader), namespace)

    def record(self, content: Any, tee: Tee) -> None:
        """From now on the reader tells ``tee`` what is read of it."""
        if type(content) is not self._reader:  # no body
            tee.finished()
            return
        # It has neither a dict nor a slot to spare, but its buffer may be of any class.
        content._buffer = _Buffer(content._buffer, tee)  # noqa: SLF001
        content.__class__ = self._recording
        content.told()


class Tee:
    """Stands between a body that is read and its exchange."""

    def __init__(self, exchange: Exchange, bare: Callable[[BaseException], BaseException]) -> None:
        self._exchange = exchange
        self._bare = bare
        self._pieces: list[bytes] = []
        self._interrupted: BaseException | None = None

    def read(self, data: bytes, *, whole: bool = True) -> None:
        """A piece was read; one that does not end what arrived at once is kept together with what follows it."""
        self._interrupted = None
        self._pieces.append(data)
        if whole:
            self._flush()

    def interrupted(self, error: BaseException) -> None:
        """A reader that waited was cancelled. It may read on; if it does not, that is how the stream ended."""
        self._interrupted = error

    def finished(self) -> None:
        """The body was read to its end."""
        self._flush()
        self._exchange.finished()

    def broke(self, error: BaseException) -> None:
        """The body broke off."""
        self._flush()
        self._exchange.broke(self._bare(error))

    def abandoned(self) -> None:
        """The consumer left the response."""
        self._flush()
        if self._interrupted is None:
            self._exchange.abandoned()
        else:
            self.broke(self._interrupted)

    def lost(self) -> None:
        """The body was garbage-collected unread."""
        self._exchange.lost()

    def _flush(self) -> None:
        if self._pieces:
            data, self._pieces = b"".join(self._pieces), []
            self._exchange.decoded(data)


class _Buffer(deque[bytes]):
    """A reader's buffer, and who is told of its reading."""

    def __init__(self, items: deque[bytes], tee: Tee) -> None:
        super().__init__(items)
        self.tee = tee
        self.inside = False  # a reading that takes several pieces at once

    def __del__(self) -> None:
        self.tee.lost()


class _Recording:
    """The methods of a reader through which bytes leave its buffer, and through which it ends."""

    __slots__ = ()
    left: BaseException
    _buffer: _Buffer

    def told(self) -> None:
        """Tell if all was read."""
        reader: Any = self
        if reader._eof and not reader._buffer:  # noqa: SLF001
            self._buffer.tee.finished()

    def feed_eof(self) -> None:
        super().feed_eof()  # type: ignore[misc]
        self.told()

    def set_exception(self, exc: BaseException, *cause: Any) -> None:
        super().set_exception(exc, *cause)  # type: ignore[misc]
        if exc is self.left:
            self._buffer.tee.abandoned()
        else:
            self._buffer.tee.broke(exc)

    async def _wait(self, func_name: str) -> None:
        try:
            await super()._wait(func_name)  # type: ignore[misc]
        except (asyncio.CancelledError, TimeoutError) as error:
            self._buffer.tee.interrupted(error)
            raise

    def _read_nowait(self, n: int) -> Any:
        buffer = self._buffer
        buffer.inside = True
        try:
            data = super()._read_nowait(n)  # type: ignore[misc]
        finally:
            buffer.inside = False
        if data:
            buffer.tee.read(data)
        self.told()
        return data

    def _read_nowait_chunk(self, n: int) -> Any:
        data = super()._read_nowait_chunk(n)  # type: ignore[misc]
        reader: Any = self
        if not self._buffer.inside:
            self._buffer.tee.read(data, whole=reader._buffer_offset == 0)  # noqa: SLF001
            self.told()
        return data
