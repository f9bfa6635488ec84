"""A transport to an MCP server that is opened when something is really sent over it; most often nothing is."""

from __future__ import annotations

import importlib
from collections.abc import AsyncGenerator, Awaitable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any

from cassettes.recorder import current

__all__ = ["opened_later"]


@asynccontextmanager
async def opened_later(real: AbstractAsyncContextManager[Any], shown: str) -> AsyncGenerator[Any, None]:
    """Two streams that open ``real`` with the first message; ``shown`` names it where that is refused."""
    anyio = importlib.import_module("anyio")  # on which mcp stands
    link = _Link(anyio, shown)
    async with anyio.create_task_group() as group:
        group.start_soon(link.host, real)
        try:
            yield _Reading(link), _Writing(link)
        finally:
            link.closing.set()


class _Link:
    """Holds a transport open in a task of its own: it must be left in the task that entered it."""

    def __init__(self, anyio: Any, shown: str) -> None:
        self.shown = shown
        self.wanted = anyio.Event()
        self.opened = anyio.Event()
        self.closing = anyio.Event()
        self.streams: Any = None
        self.error: Exception | None = None
        self._anyio = anyio

    async def host(self, real: AbstractAsyncContextManager[Any]) -> None:
        """Open the transport once it is wanted, until all is over."""
        if not await self._first(self.wanted, self.closing):
            return
        try:
            async with real as streams:
                self.streams = streams
                self.opened.set()
                await self.closing.wait()
        except Exception as error:
            if self.opened.is_set():
                raise
            self.error = error  # of whoever sent the message
            self.opened.set()

    async def open(self) -> Any:
        """The streams of the real transport.

        Raises:
            Exception: it could not be opened.
        """
        recorder = current()
        if recorder is not None:
            recorder.connecting(self.shown)
        self.wanted.set()
        await self.opened.wait()
        if self.error is not None:
            raise self.error
        return self.streams

    async def reading(self) -> Any:
        """The stream to read from, when there is one; None if it will never come."""
        if not await self._first(self.opened, self.closing) or self.streams is None:
            return None
        return self.streams[0]

    async def _first(self, event: Any, other: Any) -> bool:
        """Wait until one of them is set; True if it is the first."""
        async with self._anyio.create_task_group() as group:

            async def stop_at(awaited: Awaitable[None]) -> None:
                await awaited
                group.cancel_scope.cancel()

            group.start_soon(stop_at, event.wait())
            group.start_soon(stop_at, other.wait())
        return bool(event.is_set())


class _Stream:
    def __init__(self, link: _Link) -> None:
        self._link = link
        self._real: Any = None

    async def __aenter__(self) -> Any:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Close this side of what was opened."""
        if self._real is not None:
            await self._real.aclose()


class _Reading(_Stream):
    """The stream to read from."""

    @property
    def last_context(self) -> Any:
        """The context in which the last message was sent, where the transport tells it."""
        return getattr(self._real, "last_context", None)

    async def receive(self) -> Any:
        """The next message."""
        try:
            return await self.__anext__()
        except StopAsyncIteration:
            raise importlib.import_module("anyio").EndOfStream from None

    def __aiter__(self) -> Any:
        return self

    async def __anext__(self) -> Any:
        if self._real is None:
            self._real = await self._link.reading()
        if self._real is None:
            raise StopAsyncIteration
        return await self._real.__anext__()


class _Writing(_Stream):
    """The stream to write on."""

    async def send(self, message: Any) -> None:
        """Send a message, for which the transport is opened.

        Raises:
            TrialStopped: calls are frozen, and this belongs to no live call.
        """
        _, self._real = await self._link.open()
        await self._real.send(message)
