"""Response streams of httpx and httpx2: live ones that record themselves, and recorded ones played back."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Iterator, Mapping, Sequence
from typing import Any, Final

from cassettes.errors import CassetteError
from cassettes.model import Error, Outcome, Stream, Value

from .exchange import Exchange, bare
from .pacing import AT_ONCE, Pace, pace_of

__all__ = ["Streams"]

_FRAMING: Final = frozenset({"content-length", "transfer-encoding"})
_CANCELLED: Final = "the recorded caller cancelled this request; only async code can repeat that"


class Streams:
    """The stream classes of one module; a client accepts only streams that derive from its own base classes."""

    def __init__(self, module: Any) -> None:
        self._module = module
        self.tee: Any = type("RecordingStream", (_Tee, module.SyncByteStream), {})
        self.async_tee: Any = type("AsyncRecordingStream", (_AsyncTee, module.AsyncByteStream), {})
        bases = (_Played, module.SyncByteStream, module.AsyncByteStream)
        self._played: Any = type("PlayedStream", bases, {})

    def played(self, answer: Outcome | None, method: str) -> Any:
        """The recorded response, unread; its body comes decoded, in the recorded pieces.

        Raises:
            BaseException: the recorded one.
            CassetteError: the outcome is none that an HTTP client can have.
        """
        match answer:
            case Error(error):
                raise bare(error)
            case Value({"status": int(), "body": body} as head):
                data = _bytes(body)
                length = (
                    [] if method == "HEAD" or head["status"] in {204, 304} else [("content-length", str(len(data)))]
                )
                return self._response(head, length, self._played([data] if data else [], None))
            case Stream({"status": int()} as head, chunks, complete, error):
                pieces = [_bytes(chunk.data) for chunk in chunks if chunk.data]
                return self._response(head, [], self._played(pieces, None if complete else error, pace_of(answer)))
            case Value() | Stream():
                raise CassetteError("the recorded answer is no HTTP response")
            case _:
                raise CassetteError(_CANCELLED)

    def _response(self, head: Mapping[str, Any], framing: list[tuple[str, str]], stream: Any) -> Any:
        if head["status"] == 101:
            raise CassetteError("a websocket was opened here; what was said over it is not recorded")
        kept = [(name, value) for name, value in head.get("headers", ()) if name.lower() not in _FRAMING]
        version = head.get("http_version") or "HTTP/1.1"
        extensions = {"http_version": version.encode("ascii")}
        return self._module.Response(head["status"], headers=kept + framing, stream=stream, extensions=extensions)


class _Tee:
    """Hands each piece on as it comes, and tells the exchange of it first."""

    def __init__(self, inner: Any, exchange: Exchange) -> None:
        self._inner = inner
        self._exchange = exchange

    def __iter__(self) -> Iterator[bytes]:
        try:
            for raw in self._inner:
                self._exchange.chunk(raw)
                yield raw
        except GeneratorExit:
            self._exchange.abandoned()
            raise
        except BaseException as error:
            self._exchange.broke(error)
            raise
        self._exchange.finished()

    def close(self) -> None:
        try:
            self._exchange.abandoned()
        finally:
            self._inner.close()

    def __del__(self) -> None:
        self._exchange.lost()


class _AsyncTee:
    """The same for async clients."""

    def __init__(self, inner: Any, exchange: Exchange) -> None:
        self._inner = inner
        self._exchange = exchange

    async def __aiter__(self) -> AsyncIterator[bytes]:
        pieces = self._inner.__aiter__()
        try:
            async for raw in pieces:
                self._exchange.chunk(raw)
                yield raw
        except GeneratorExit:
            self._exchange.abandoned()
            raise
        except BaseException as error:
            self._exchange.broke(error)
            raise
        finally:
            if isinstance(pieces, AsyncGenerator):  # else it would be closed by the collector, some time later
                await pieces.aclose()
        self._exchange.finished()

    async def aclose(self) -> None:
        try:
            self._exchange.abandoned()
        finally:
            await self._inner.aclose()

    def __del__(self) -> None:
        self._exchange.lost()


class _Played:
    """Recorded pieces, then the recorded error, if the stream broke off."""

    def __init__(self, pieces: Sequence[bytes], error: BaseException | None, pace: Pace = AT_ONCE) -> None:
        self._pieces = pieces
        self._error = error
        self._pace = pace

    def __iter__(self) -> Iterator[bytes]:
        for place, piece in enumerate(self._pieces):
            self._pace.wait(place)
            yield piece
        if isinstance(self._error, asyncio.CancelledError):
            raise CassetteError(_CANCELLED)
        if self._error is not None:
            raise bare(self._error)

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for place, piece in enumerate(self._pieces):
            await self._pace.wait_async(place)
            yield piece
        if isinstance(self._error, asyncio.CancelledError):
            await asyncio.get_running_loop().create_future()  # until the caller cancels again
        if self._error is not None:
            raise bare(self._error)


def _bytes(data: str | bytes) -> bytes:
    return data.encode("utf-8") if isinstance(data, str) else data
