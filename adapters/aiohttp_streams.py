"""Bodies of aiohttp's responses: live ones that record themselves while being read, and recorded ones played back."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from http import HTTPStatus
from typing import Any, Final

from .exchange import Exchange
from .played import Played

__all__ = ["Streams", "Tee"]

_LIMIT: Final = 2**16
Bare = Callable[[BaseException], BaseException]


class Streams:
    """The classes of aiohttp, extended.

    Args:
        connector: `aiohttp.connector`.
        client: `aiohttp.client_reqrep`.
        protocol: `aiohttp.client_proto`.
        bare: makes an error keepable.
    """

    def __init__(self, connector: Any, client: Any, protocol: Any, bare: Bare) -> None:
        self.bare = bare
        self._reader: Any = protocol.StreamReader
        self._empty: Any = protocol.EMPTY_PAYLOAD
        namespace = {"__slots__": (), "left": client._CONNECTION_CLOSED_EXCEPTION}  # noqa: SLF001 - pinned by a contract test
        self._recording: Any = type("RecordingReader", (_Recording, self._reader), namespace)
        played = type("PlayedReader", (_PlayedReader, self._reader), {})
        parts = {"reader": played, "empty": self._empty, "message": staticmethod(_message(protocol, client))}
        self._protocol: Any = type("PlayedProtocol", (_PlayedProtocol, protocol.ResponseHandler), parts)
        self._connection: Any = type("PlayedConnection", (_PlayedConnection, connector.Connection), {})

    def nowhere(self, connector: Any, key: Any, loop: asyncio.AbstractEventLoop) -> Any:
        """A connection that is open and leads nowhere."""
        protocol = self._protocol(loop)
        protocol.transport = _Nowhere()
        return self._connection(connector, key, protocol, loop)

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


class _PlayedReader:
    """A reader whose pieces arrive one by one, each when the consumer waits for it."""

    _pieces: deque[bytes]
    _error: BaseException | None

    def play(self, told: Played, error: BaseException | None) -> None:
        """Hold these pieces ready; a body that was one value is there at once."""
        self._pieces = deque(told.pieces)
        self._error = error
        if told.whole or (not told.pieces and error is None):
            self._next(marked=False)

    async def _wait(self, func_name: str) -> None:  # noqa: ARG002 - the original's
        if self._pieces or self._error is None:
            self._next(marked=True)
        elif isinstance(self._error, asyncio.CancelledError):
            await asyncio.get_running_loop().create_future()  # until the caller cancels again
        else:
            error: Any = self._error
            reader: Any = self
            reader.set_exception(error)
            raise error

    async def wait_eof(self) -> None:
        while self._pieces:
            self._next(marked=True)
        await super().wait_eof()  # type: ignore[misc]

    def _next(self, *, marked: bool) -> None:
        reader: Any = self
        if self._pieces:
            if marked:
                reader.begin_http_chunk_receiving()
            reader.feed_data(self._pieces.popleft())
            if marked:
                reader.end_http_chunk_receiving()
        if not self._pieces and self._error is None and not reader.is_eof():
            reader.feed_eof()


class _PlayedProtocol:
    """The protocol of a connection that leads nowhere: its answer is there before it is asked."""

    reader: Any
    empty: Any
    message: Any

    def set_response_params(self, **options: Any) -> None:
        """There is nothing to parse."""

    def start_timeout(self) -> None:
        """Nothing can be late."""

    def pause_reading(self) -> None:
        """Nothing is read ahead."""

    def resume_reading(self, resume_parser: bool = True) -> None:  # noqa: FBT001, FBT002 - the original's
        """Nothing is read ahead."""

    def answer(self, told: Played, *, empty: bool, attach: Callable[[BaseException], BaseException]) -> None:
        """Hold this response ready."""
        queue: Any = self
        payload = self.empty
        if not empty:
            payload = self.reader(self, _LIMIT, loop=queue._loop)  # noqa: SLF001
            cancelled = isinstance(told.error, asyncio.CancelledError)
            payload.play(told, told.error if cancelled or told.error is None else attach(told.error))
        queue.feed_data((self.message(told, empty=empty), payload))


class _PlayedConnection:
    """A connection that belongs to no pool."""

    _protocol: Any

    def __del__(self) -> None:
        """Nothing is open."""

    def close(self) -> None:
        connection: Any = self
        connection._notify_release()  # noqa: SLF001
        if self._protocol is not None:
            self._protocol.transport.close()
            self._protocol = None

    release = close


class _Nowhere(asyncio.Transport):
    """Takes everything, sends nothing."""

    def __init__(self) -> None:
        super().__init__()
        self._closed = False

    def is_closing(self) -> bool:
        return self._closed

    def close(self) -> None:
        self._closed = True

    abort = close

    def write(self, data: Any) -> None:
        """Let it go."""

    def writelines(self, list_of_data: Any) -> None:
        """Let it go."""


def _message(protocol: Any, client: Any) -> Any:
    """What makes the head of a response as aiohttp's parser would."""

    def message(told: Played, *, empty: bool) -> Any:
        headers = list(told.headers)
        if not told.whole:
            headers.append(("transfer-encoding", "chunked"))
        elif not empty:
            headers.append(("content-length", str(sum(map(len, told.pieces)))))
        try:
            phrase = HTTPStatus(told.status).phrase
        except ValueError:
            phrase = ""
        parts = told.http_version.removeprefix("HTTP/").split(".")
        version = client.HttpVersion(*(int(part) for part in (*parts, "0")[:2])) if parts[0].isdigit() else None
        raw = tuple((name.encode("utf-8"), value.encode("utf-8", "surrogateescape")) for name, value in headers)
        return protocol.RawResponseMessage(
            version or client.HttpVersion11,
            told.status,
            phrase,
            client.CIMultiDictProxy(client.CIMultiDict(headers)),
            raw,
            should_close=False,
            compression=None,
            upgrade=False,
            chunked=not told.whole,
        )

    return message
