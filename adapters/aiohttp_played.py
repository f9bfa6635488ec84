"""Recorded responses as aiohttp would have got them: over a connection that leads nowhere."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from http import HTTPStatus
from typing import Any, Final

from .pacing import Pace
from .played import Played

__all__ = ["Nowhere"]

_LIMIT: Final = 2**16


class Nowhere:
    """Connections that are open and lead nowhere.

    Args:
        connector: `aiohttp.connector`.
        client: `aiohttp.client_reqrep`.
        protocol: `aiohttp.client_proto`.
    """

    def __init__(self, connector: Any, client: Any, protocol: Any) -> None:
        reader = type("PlayedReader", (_PlayedReader, protocol.StreamReader), {})
        message = staticmethod(_message(protocol, client))
        parts = {"reader": reader, "empty": protocol.EMPTY_PAYLOAD, "message": message}
        self._protocol: Any = type("PlayedProtocol", (_PlayedProtocol, protocol.ResponseHandler), parts)
        self._connection: Any = type("PlayedConnection", (_PlayedConnection, connector.Connection), {})

    def connection(self, connector: Any, key: Any, loop: asyncio.AbstractEventLoop) -> Any:
        """A new one."""
        protocol = self._protocol(loop)
        protocol.transport = _Transport()
        return self._connection(connector, key, protocol, loop)


class _PlayedReader:
    """A reader whose pieces arrive one by one, each when the consumer waits for it."""

    _pieces: deque[bytes]
    _error: BaseException | None
    _pace: Pace
    _place: int

    def play(self, told: Played, error: BaseException | None) -> None:
        """Hold these pieces ready; a body that was one value is there at once."""
        self._pieces = deque(told.pieces)
        self._error = error
        self._pace, self._place = told.pace, 0
        if told.whole or (not told.pieces and error is None):
            self._next(marked=False)

    async def _wait(self, func_name: str) -> None:  # noqa: ARG002 - the original's
        if self._pieces or self._error is None:
            await self._due()
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
            await self._due()
            self._next(marked=True)
        await super().wait_eof()  # type: ignore[misc]

    async def _due(self) -> None:
        await self._pace.wait_async(self._place)
        self._place += 1

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


class _Transport(asyncio.Transport):
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
