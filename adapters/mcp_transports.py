"""Transports to MCP servers: which server is behind one, and one that is opened when something is really sent.

A server that is answered from recordings need not be there. So where the opening of a transport is answered, the agent
gets two streams that start the program, or connect, with the first message that goes live; most often none does.
What a transport does by itself (the stream of events in the background, notifications, the end of a session) belongs to
no call. The HTTP of a request is a part of the call that it carries.
"""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import PurePath
from types import CellType
from typing import Any, Final
from urllib.parse import urlsplit

from attrs import frozen

from cassettes.canonical import digest
from cassettes.recorder import Recorder, aperform, current

from .mcp_calls import connect_call
from .mcp_later import opened_later
from .mcp_servers import Target, numbered
from .patches import Patches
from .telemetry import apart

__all__ = ["patch_client", "patch_sse", "patch_stdio", "patch_streamable_http", "target_behind"]

_behind: dict[int, Target] = {}  # by the id of the stream to write on, while its transport is open

Opening = Callable[..., AbstractAsyncContextManager[Any]]


def target_behind(session: Any) -> Target | None:
    """The server at the other end of a session; None for a transport that is not known here."""
    stream = getattr(getattr(session, "_dispatcher", None), "_write_stream", None)
    return _behind.get(id(stream))


def patch_stdio(patches: Patches, module: Any) -> None:
    """`stdio_client`, wherever it was imported to."""
    _patch(patches, module, "stdio_client", _program)


def patch_sse(patches: Patches, module: Any) -> None:
    """`sse_client`, likewise."""
    _patch(patches, module, "sse_client", _address)


def patch_streamable_http(patches: Patches, module: Any) -> None:
    """The transport of `streamable_http_client`, which connects with the first request."""
    transport, label = module.StreamableHTTPTransport, f"{module.__name__}.StreamableHTTPTransport"
    patches.wrap(transport, "post_writer", _noting, label)
    patches.wrap(transport, "handle_get_stream", _by_itself, label)
    patches.wrap(transport, "terminate_session", _by_itself, label)


def patch_client(patches: Patches, module: Any) -> None:
    """`Client`, which makes its transport when it is made itself: a program's is made again when it is entered."""
    make, stdio, kind = module._connect_transport, module.stdio_client, module.StdioServerParameters  # noqa: SLF001

    def entering(original: Callable[[Any], Awaitable[Any]]) -> Callable[[Any], Awaitable[Any]]:
        async def __aenter__(client: Any) -> Any:  # noqa: N807 - stands for it
            if current() is not None and isinstance(client.server, kind):
                client._connect = make(stdio(client.server))  # noqa: SLF001 - pinned by a contract test
            return await original(client)

        return __aenter__

    patches.wrap(module.Client, "__aenter__", entering, "mcp.Client")


def _noting(original: Callable[..., Awaitable[None]]) -> Callable[..., Awaitable[None]]:
    async def post_writer(transport: Any, client: Any, reader: Any, writer: Any, stream: Any, *others: Any) -> None:
        _behind[id(stream)] = _address(transport.url)
        try:
            await original(transport, client, reader, writer, stream, *others)
        finally:
            del _behind[id(stream)]

    return post_writer


def _by_itself(original: Callable[..., Awaitable[None]]) -> Callable[..., Awaitable[None]]:
    async def method(*args: Any) -> None:
        with apart():
            await original(*args)

    return method


def _patch(patches: Patches, module: Any, name: str, target_of: Callable[[Any], Target]) -> None:
    function = getattr(module, name)
    cell = _cell(function)
    opening = _opening(asynccontextmanager(cell.cell_contents), target_of)
    patches.fill(cell, opening, f"{module.__name__}.{name}")


def _cell(function: Any) -> CellType:
    """Where a function made by `asynccontextmanager` keeps the generator that it stands for."""
    found = [cell for cell in function.__closure__ or () if cell.cell_contents is function.__wrapped__]
    if not found:
        raise AttributeError(f"{function.__name__} is another kind of function")
    cell: CellType = found[0]
    return cell


def _opening(manager: Opening, target_of: Callable[[Any], Target]) -> Callable[..., AsyncGenerator[Any, None]]:
    async def opening(*args: Any, **kwargs: Any) -> AsyncGenerator[Any, None]:
        recorder = current()
        if recorder is None:
            async with manager(*args, **kwargs) as streams:
                yield streams
            return
        target = target_of(args[0] if args else next(iter(kwargs.values())))
        async with await _connected(recorder, target, _Aside(manager(*args, **kwargs))) as streams:
            _behind[id(streams[1])] = target
            try:
                yield streams
            finally:
                del _behind[id(streams[1])]

    return opening


async def _connected(
    recorder: Recorder, target: Target, real: AbstractAsyncContextManager[Any]
) -> AbstractAsyncContextManager[Any]:
    """The transport opened, or, where that is answered from a recording, one that opens with the first message."""
    server = numbered(recorder, target.label, target, target.mark)
    opened: list[Any] = []

    async def live() -> None:
        opened.append(await real.__aenter__())

    await aperform(recorder, connect_call(server, target.mark), live)
    return _Opened(real, opened[0]) if opened else opened_later(real, f"the MCP server {server}")


class _Aside:
    """What a transport does by itself belongs to no trial."""

    def __init__(self, manager: AbstractAsyncContextManager[Any]) -> None:
        self._manager = manager

    async def __aenter__(self) -> Any:
        with apart():
            return await self._manager.__aenter__()

    async def __aexit__(self, *error: Any) -> bool | None:
        with apart():
            return await self._manager.__aexit__(*error)


@frozen
class _Opened:
    """A transport that has been entered already."""

    manager: AbstractAsyncContextManager[Any]
    streams: Any

    async def __aenter__(self) -> Any:
        return self.streams

    async def __aexit__(self, *error: Any) -> bool | None:
        return await self.manager.__aexit__(*error)


# -- which server ------------------------------------------------------------------------------------------------------

_VERSION: Final = re.compile(r"(?<=\D)[\d.]+$")


def _program(server: Any) -> Target:
    """A program, by its name and its arguments; folders are left out, which are others on another machine."""
    label = _VERSION.sub("", PurePath(server.command).name.removesuffix(".exe"))
    whole = repr((server.command, server.args, sorted((server.env or {}).items()), str(server.cwd)))
    return Target(whole, label, digest([label, [_less_folders(argument) for argument in server.args]])[:16])


def _less_folders(argument: str) -> str:
    name, sign, value = argument.rpartition("=")
    return f"{name}{sign}{PurePath(value).name or value}"


def _address(url: str) -> Target:
    """An address, less its credentials and its query."""
    parts = urlsplit(url)
    host = parts.netloc.rpartition("@")[2]
    return Target(url, f"{host}{parts.path}".rstrip("/"), "")
