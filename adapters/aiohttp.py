"""aiohttp 3.x: requests of every client session, streams passed on as they arrive.

A session sends a request in three steps, each hop of a redirect by itself: its connector gives it a connection, the
request is sent over that, the response is started on it. The recorder is asked before the first; in replay the session
gets a connection that leads nowhere and holds the recorded answer. Not seen: a connector with a `connect` of its own,
and what is said over a websocket.
"""

from __future__ import annotations

import asyncio
import functools
import importlib
import logging
from importlib import util
from typing import Any, Final

from cassettes.model import Cancelled, Error
from cassettes.recorder import Ticket, current, entered, passed_by, watched

from .aiohttp_played import Nowhere
from .aiohttp_streams import Streams, Tee
from .exchange import Exchange
from .failures import attached, detached
from .http import Asked, ask, request_name, response_head
from .patches import PatchingAdapter
from .played import body_less, played
from .telemetry import RULES, apart, telemetry

__all__ = ["AIOHTTP", "AiohttpAdapter"]

_log = logging.getLogger("trialtape")


class AiohttpAdapter(PatchingAdapter):
    """Captures the client of aiohttp.

    Attributes:
        excluded: what it lets pass unseen.
    """

    name = "aiohttp"
    distributions = ("aiohttp",)
    excluded = tuple(rule.shown for rule in RULES)

    def install(self) -> None:
        """Patch the client, if aiohttp is installed. A second call does nothing."""
        if self._patches or util.find_spec(self.name) is None:
            return
        library = Library()
        if not library.fits():
            _log.warning("aiohttp %s is not captured: this needs a newer 3.x; upgrade it", self.versions()[self.name])
            return
        connector, client = library.connector, library.client
        for owner, attribute, make in (
            (connector.BaseConnector, "connect", _connecting),
            (client.ClientRequest, "send", _sending),
            (client.ClientResponse, "start", _starting),
            (library.protocol.ResponseHandler, "set_response_params", _noting),
        ):
            original = getattr(owner, attribute)
            replacement = functools.wraps(original)(make(original, library))
            self._patches.put(owner, attribute, replacement, f"{owner.__module__}.{owner.__name__}")


class Library:
    """What is needed of aiohttp."""

    def __init__(self) -> None:
        self.connector = importlib.import_module("aiohttp.connector")
        self.client = importlib.import_module("aiohttp.client_reqrep")
        self.protocol = importlib.import_module("aiohttp.client_proto")
        self.errors = importlib.import_module("aiohttp.client_exceptions")
        self.payload = importlib.import_module("aiohttp.payload")
        self.streams = Streams(self.client, self.protocol)
        self.nowhere = Nowhere(self.connector, self.client, self.protocol)
        self._live = (self.client.ConnectionKey, self.client.RequestInfo, self.client.CIMultiDictProxy)
        compression: Any = importlib.import_module("aiohttp.compression_utils")
        optional = {"br": compression.HAS_BROTLI, "zstd": compression.HAS_ZSTD}
        self.encodings = frozenset({"identity", "gzip", "deflate", *(name for name in optional if optional[name])})

    def fits(self) -> bool:
        """True if this version has what is patched: 4.x has no ``send``, an old 3.x no ``consumed``."""
        return hasattr(self.client.ClientRequest, "send") and hasattr(self.payload.Payload, "consumed")

    def bare(self, error: BaseException) -> BaseException:
        """The error without its connection and request."""
        return detached(error, self._live)

    async def asked(self, request: Any) -> Asked:
        """The request understood; its body can be sent afterwards as before."""
        payload = request._body  # noqa: SLF001 - pinned by a contract test
        data = b""
        if payload is not None:
            try:
                data = await payload.as_bytes()
            except (TypeError, NotImplementedError):  # a payload that can only be sent
                collector = _Collector()
                await payload.write(collector)
                data = bytes(collector.data)
            if payload.consumed:
                request._body = self.payload.BytesPayload(data)  # noqa: SLF001
        headers = list(request.headers.items())
        if request.compress:  # the encoding is put on while it is sent
            headers = [(name, value) for name, value in headers if name.lower() != "content-encoding"]
        return ask(request.method, str(request.url), headers, data)

    def connection(self, ticket: Ticket, connector: Any, request: Any) -> Any:
        """A connection that holds the recorded answer.

        Raises:
            CassetteError: the outcome is none that an HTTP client can have.
        """
        key = request.connection_key
        connection = self.nowhere.connection(connector, key, request.loop)
        names = {"_conn_key": key, "request_info": request.request_info}

        def attach(error: BaseException) -> BaseException:
            info: Any = isinstance(error, self.errors.ClientResponseError)
            again = attached(error, names, request.request_info if info else key)
            inner = getattr(again, "_os_error", None)
            if isinstance(again, OSError) and isinstance(inner, OSError):
                again.errno, again.strerror = inner.errno, inner.strerror
            return again

        if isinstance(ticket.answer, Error):
            connection.protocol.set_exception(attach(ticket.answer.error))
        else:
            told = played(ticket.answer)
            empty = body_less(request.method, told.status)
            connection.protocol.answer(told, empty=empty, attach=attach)
        return connection

    def tee(self, ticket: Ticket, asked: Asked, response: Any, *, decompresses: bool) -> None:
        """Let the response record itself while it is read."""
        headers = list(response.headers.items())
        head = response_head(response.status, headers, f"HTTP/{response.version.major}.{response.version.minor}")
        if response.status == 101:  # the connection now belongs to another protocol
            ticket.done({**head, "body": ""})
            return
        undone = decompresses and "," not in (head["encoding"] or "")
        supported = self.encodings if undone else ()
        exchange = Exchange(ticket, asked, head, supported=supported, undecodable=ValueError)
        self.streams.record(response.content, Tee(exchange, self.bare))


class _Collector:
    """What a payload can be written to, instead of a connection."""

    def __init__(self) -> None:
        self.data = bytearray()

    async def write(self, chunk: Any) -> None:
        self.data += chunk


class Pending:
    """A live call on its way, kept with its connection from one step to the next."""

    def __init__(self, ticket: Ticket, asked: Asked) -> None:
        self.ticket = ticket
        self.asked = asked


def _connecting(original: Any, library: Library) -> Any:
    """`connect` that asks the recorder first, while one listens."""

    async def connect(connector: Any, req: Any, traces: Any, timeout: Any) -> Any:  # noqa: ASYNC109 - the original's
        recorder = current()
        if (recorder is not None or watched()) and telemetry(req.method, req.url, req.headers):
            with apart():
                return await original(connector, req, traces, timeout)
        if recorder is None:
            passed_by(lambda: request_name(req.method, req.url))
            return await original(connector, req, traces, timeout)
        asked = await library.asked(req)
        ticket = recorder.begin(asked.call)
        if isinstance(ticket.answer, Cancelled):
            await asyncio.get_running_loop().create_future()  # until the caller cancels again
        if ticket.answer is not None:
            return library.connection(ticket, connector, req)
        with entered(ticket):
            try:
                if ticket.delay:
                    await asyncio.sleep(ticket.delay)
                connection = await original(connector, req, traces, timeout)
            except TimeoutError:
                told = library.errors.ConnectionTimeoutError(f"Connection timeout to host {req.url}")
                ticket.failed(told)  # that is what the session makes of it
                raise
            except BaseException as error:
                _failed(ticket, error, library)
                raise
        connection._trialtape = Pending(ticket, asked)  # noqa: SLF001 - taken by `start`
        return connection

    return connect


def _sending(original: Any, library: Library) -> Any:
    """`send` that tells the ticket if it fails."""

    async def send(request: Any, conn: Any) -> Any:
        pending = vars(conn).get("_trialtape")
        if pending is None:
            return await original(request, conn)
        with entered(pending.ticket):
            try:
                return await original(request, conn)
            except BaseException as error:
                del conn._trialtape  # noqa: SLF001
                _failed(pending.ticket, error, library)
                raise

    return send


def _starting(original: Any, library: Library) -> Any:
    """`start` that lets the response record itself."""

    async def start(response: Any, connection: Any) -> Any:
        pending = vars(connection).pop("_trialtape", None)
        if pending is None:
            return await original(response, connection)
        decompresses = vars(connection.protocol).pop("_trialtape_decompresses", True)
        try:
            started = await original(response, connection)
        except BaseException as error:
            _failed(pending.ticket, error, library)
            raise
        library.tee(pending.ticket, pending.asked, response, decompresses=decompresses)
        return started

    return start


def _noting(original: Any, library: Library) -> Any:  # noqa: ARG001 - made alike
    """`set_response_params` that notes whether bodies are handed out decoded."""

    def set_response_params(protocol: Any, **options: Any) -> None:
        if current() is not None:
            protocol._trialtape_decompresses = options.get("auto_decompress", True)  # noqa: SLF001
        original(protocol, **options)

    return set_response_params


def _failed(ticket: Ticket, error: BaseException, library: Library) -> None:
    if isinstance(error, asyncio.CancelledError | GeneratorExit):
        ticket.cancelled()
    else:
        ticket.failed(library.bare(error))


AIOHTTP: Final = AiohttpAdapter()
