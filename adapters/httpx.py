"""httpx and httpx2: requests of every client, through any transport, its streams passed on as they arrive.

`Client._transport_for_url` is the one place through which a client reaches any transport: its own, a mounted one, one
that the user passed in. While a recorder listens it returns a thin wrapper; otherwise nothing is touched. Not seen:
a transport called by hand without a client, and what is said over a websocket.
"""

from __future__ import annotations

import asyncio
import functools
import importlib
import time
from importlib import util
from typing import Any, Final

from cassettes.model import Cancelled
from cassettes.recorder import Recorder, Ticket, current, entered, passed_by, watched

from .exchange import Exchange, bare, content_length
from .http import Asked, ask, request_name, response_head
from .httpx_streams import Streams
from .patches import PatchingAdapter
from .telemetry import RULES, apart, telemetry

__all__ = ["HTTPX", "HTTPX2", "HttpxAdapter"]


class HttpxAdapter(PatchingAdapter):
    """Captures one of the two modules, which share their interface.

    Attributes:
        excluded: what it lets pass unseen.
    """

    excluded = tuple(rule.shown for rule in RULES)

    def __init__(self, name: str) -> None:
        super().__init__()
        self.name = name
        self.distributions = (name,)

    def install(self) -> None:
        """Patch the clients, if the module is installed. A second call does nothing."""
        if self._patches or util.find_spec(self.name) is None:
            return
        module = importlib.import_module(self.name)
        library = Library(module)
        for cls, transport_class in (
            (module.Client, RecordingTransport),
            (module.AsyncClient, AsyncRecordingTransport),
        ):
            replacement = _choosing(cls._transport_for_url, transport_class, library)
            self._patches.put(cls, "_transport_for_url", replacement, f"{self.name}.{cls.__name__}")


class Library:
    """What is needed of the module: its classes, and the content encodings that it undoes itself."""

    def __init__(self, module: Any) -> None:
        self.module = module
        self.streams = Streams(module)
        self.encodings = frozenset(module._decoders.SUPPORTED_DECODERS)  # noqa: SLF001 - pinned by a contract test

    def ask(self, request: Any, body: bytes) -> Asked:
        """The request understood."""
        return ask(request.method, str(request.url), request.headers.multi_items(), body)

    def play(self, ticket: Ticket, request: Any) -> Any:
        """The recorded response.

        Raises:
            BaseException: the recorded one; the client sets its request.
            CassetteError: the outcome is none that an HTTP client can have.
        """
        return self.streams.played(ticket.answer, request.method)

    def tee(self, ticket: Ticket, asked: Asked, response: Any, stream_class: Any) -> Any:
        """Let the response record itself while it is read."""
        headers = response.headers.multi_items()
        head = response_head(response.status_code, headers, response.http_version)
        if response.status_code == 101:  # the connection now belongs to another protocol
            ticket.done({**head, "body": ""})
            return response
        exchange = Exchange(
            ticket,
            asked,
            head,
            supported=self.encodings,
            undecodable=self.module.DecodingError,
            length=content_length(headers),
        )
        if response.is_stream_consumed:  # a mock transport's response, read before it was sent
            exchange.decoded(response.content)
            exchange.finished()
        else:
            response.stream = stream_class(response.stream, exchange)
        return response


class RecordingTransport:
    """Stands before the transport of a sync client for one request."""

    def __init__(self, transport: Any, recorder: Recorder, library: Library) -> None:
        self._transport = transport
        self._recorder = recorder
        self._library = library

    def handle_request(self, request: Any) -> Any:
        """Answer from the recording, or by the real transport."""
        if telemetry(request.method, request.url, request.headers):
            with apart():
                return self._transport.handle_request(request)
        asked = self._library.ask(request, request.read())
        ticket = self._recorder.begin(asked.call)
        if ticket.answer is not None:
            return self._library.play(ticket, request)
        with entered(ticket):
            try:
                if ticket.delay:
                    time.sleep(ticket.delay)
                response = self._transport.handle_request(request)
            except BaseException as error:
                ticket.failed(bare(error))
                raise
        return self._library.tee(ticket, asked, response, self._library.streams.tee)


class AsyncRecordingTransport:
    """The same before the transport of an async client."""

    def __init__(self, transport: Any, recorder: Recorder, library: Library) -> None:
        self._transport = transport
        self._recorder = recorder
        self._library = library

    async def handle_async_request(self, request: Any) -> Any:
        """Answer from the recording, or by the real transport."""
        if telemetry(request.method, request.url, request.headers):
            with apart():
                return await self._transport.handle_async_request(request)
        asked = self._library.ask(request, await request.aread())
        ticket = self._recorder.begin(asked.call)
        if isinstance(ticket.answer, Cancelled):
            await asyncio.get_running_loop().create_future()  # until the caller cancels again
        if ticket.answer is not None:
            return self._library.play(ticket, request)
        with entered(ticket):
            try:
                if ticket.delay:
                    await asyncio.sleep(ticket.delay)
                response = await self._transport.handle_async_request(request)
            except (asyncio.CancelledError, GeneratorExit):
                ticket.cancelled()
                raise
            except BaseException as error:
                ticket.failed(bare(error))
                raise
        return self._library.tee(ticket, asked, response, self._library.streams.async_tee)


class PassingTransport:
    """Counts a request that belongs to no trial while some trial is active, and hands it on."""

    def __init__(self, transport: Any) -> None:
        self._transport = transport

    def handle_request(self, request: Any) -> Any:
        """Count and send."""
        if not telemetry(request.method, request.url, request.headers):
            passed_by(lambda: request_name(request.method, request.url))
        return self._transport.handle_request(request)

    async def handle_async_request(self, request: Any) -> Any:
        """Count and send."""
        if not telemetry(request.method, request.url, request.headers):
            passed_by(lambda: request_name(request.method, request.url))
        return await self._transport.handle_async_request(request)


def _choosing(original: Any, transport_class: Any, library: Library) -> Any:
    """`_transport_for_url` that puts a recording transport before the real one while a recorder listens."""

    @functools.wraps(original)
    def transport_for_url(client: Any, url: Any) -> Any:
        transport = original(client, url)
        recorder = current()
        if recorder is not None:
            return transport_class(transport, recorder, library)
        return PassingTransport(transport) if watched() else transport

    return transport_for_url


HTTPX: Final = HttpxAdapter("httpx")
HTTPX2: Final = HttpxAdapter("httpx2")
