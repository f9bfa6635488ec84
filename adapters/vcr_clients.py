"""The rarer clients that vcrpy knows, through its stubs around one dispatcher: httplib2 and tornado. Whole bodies only.

Everything that depends on vcrpy's inside is in this module, and its contract test pins each attribute. Patchers of the
clients that have an adapter of their own are skipped, and so is the one of `http.client`, on which those stand. A
client is patched if it was imported before the trial began: importing vcrpy takes long, and it imports all clients.
A request of tornado that failed is kept as the status 599 that tornado makes of it, without its exception.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack
from contextvars import ContextVar
from http.client import responses as phrases
from typing import Any, Final

from cassettes.errors import CassetteError
from cassettes.model import Cancelled, Error
from cassettes.recorder import Ticket, current, entered, passed_by

from .exchange import Exchange, bare
from .http import Asked, ask, request_name, response_head
from .patches import PatchingAdapter
from .played import CANCELLED, played

__all__ = ["VCR_CLIENTS", "Dispatcher", "VcrClientsAdapter"]

_CLIENTS: Final = {"httplib2": "httplib2", "tornado": "tornado.simple_httpclient"}
_UNDONE: Final = ("identity", "gzip", "deflate")  # by httplib2
_CALL: Final = "_trialtape_call"
_FETCH: Final = "_SimpleAsyncHTTPClient_fetch_impl"  # what vcrpy calls to send a request of tornado
_latest: ContextVar[Ticket | None] = ContextVar("trialtape_vcr_latest", default=None)


class VcrClientsAdapter(PatchingAdapter):
    """Captures httplib2 and tornado."""

    name = "vcr_clients"
    distributions = ("httplib2", "tornado", "vcrpy")

    def __init__(self) -> None:
        super().__init__()
        self._stack: ExitStack | None = None
        self._patched: list[str] = []

    def versions(self) -> dict[str, str]:
        """The installed versions of these clients and of vcrpy; empty if none of them is installed."""
        found = super().versions()
        return found if found.keys() - {"vcrpy"} else {}

    def install(self) -> None:
        """Patch those of the clients that are imported. A second call does nothing."""
        wanted = [name for name, module in _CLIENTS.items() if module in sys.modules]
        if self._stack is not None or not wanted:
            return
        vcr: Any = importlib.import_module("vcr.patch")
        skipped = tuple(name for name in vcr.PATCHER_NAMES if name not in wanted)
        dispatcher = Dispatcher(skipped)
        self._patches.put(vcr, "force_reset", _resetting(vcr.force_reset), "vcr.patch")
        if "tornado" in wanted:
            self._patches.put(vcr, _FETCH, _fetching(getattr(vcr, _FETCH)), "vcr.patch")
        self._stack = ExitStack()
        for patcher in vcr.CassettePatcherBuilder(dispatcher).build():
            self._stack.enter_context(patcher)
            owner = patcher.target
            self._patched.append(f"{owner.__module__}.{owner.__name__}" if isinstance(owner, type) else owner.__name__)
            self._patched[-1] += f".{patcher.attribute}"
            stub = getattr(owner, patcher.attribute)
            if isinstance(stub, type):
                stub.getresponse = _responding(stub.getresponse, dispatcher)  # type: ignore[attr-defined]

    def uninstall(self) -> None:
        """Put back the originals."""
        if self._stack is not None:
            self._stack.close()
            self._stack = None
        self._patched.clear()
        super().uninstall()

    def patched(self) -> list[str]:
        """The dotted names that are patched right now."""
        return [*self._patches.names(), *self._patched]


class Dispatcher:
    """Stands where vcrpy's stubs expect a cassette.

    Attributes:
        custom_patches, skip_patchers, write_protected, _path: read by vcrpy.
    """

    custom_patches: tuple[Any, ...] = ()
    write_protected = False
    _path = "trialtape"

    def __init__(self, skip_patchers: tuple[str, ...] = ()) -> None:
        self.skip_patchers = skip_patchers

    def begin(self, request: Any) -> Ticket | None:
        """The ticket of this request: made once, however often vcrpy asks. None if nobody listens.

        Raises:
            TrialStopped: the trial was stopped.
        """
        if _CALL not in vars(request):
            recorder, known = current(), None
            if recorder is not None:
                headers = [(name, _joined(value)) for name, value in request.headers.items()]
                asked = ask(request.method, request.uri, headers, _whole(request.body))
                known = recorder.begin(asked.call), asked
                _latest.set(known[0])
            else:
                passed_by(lambda: request_name(request.method, request.uri))
            setattr(request, _CALL, known)
        call: tuple[Ticket, Asked] | None = getattr(request, _CALL)
        return None if call is None else call[0]

    def can_play_response_for(self, request: Any) -> bool:
        """True if the request is answered from a recording.

        Raises:
            BaseException: the recorded one.
            CassetteError: the recorded caller gave up, which cannot be repeated.
        """
        ticket = self.begin(request)
        if ticket is None or ticket.answer is None:
            return False
        if isinstance(ticket.answer, Error):
            raise bare(ticket.answer.error)
        if isinstance(ticket.answer, Cancelled):
            raise CassetteError(CANCELLED)
        return True

    def play_response(self, request: Any) -> dict[str, Any]:
        """The recorded response in vcrpy's form; the caller may change it.

        Raises:
            BaseException: the recorded stream broke off with it.
        """
        ticket = self.begin(request)
        told = played(None if ticket is None else ticket.answer)
        if told.error is not None:
            raise bare(told.error)
        body = b"".join(told.pieces)
        headers: dict[str, list[str]] = {}
        for name, value in (*told.headers, ("content-length", str(len(body)))):
            headers.setdefault(name, []).append(value)
        status = {"code": told.status, "message": phrases.get(told.status, "")}
        return {"status": status, "headers": headers, "body": {"string": body}}

    def append(self, request: Any, response: dict[str, Any]) -> None:
        """A live response arrived, whole."""
        call: tuple[Ticket, Asked] | None = getattr(request, _CALL, None)
        if call is None:
            return
        pairs = [(name, value) for name, values in _items(response["headers"]) for value in _values(values)]
        head = response_head(response["status"]["code"], pairs)
        undone = () if "url" in response else _UNDONE  # tornado, whose body is what its user gets
        exchange = Exchange(*call, head, supported=undone, undecodable=ValueError)
        exchange.chunk(_whole(response["body"]["string"]))
        exchange.finished()

    def failed(self, request: Any, error: BaseException) -> None:
        """The request failed."""
        call: tuple[Ticket, Asked] | None = getattr(request, _CALL, None)
        if call is not None and call[0].answer is None:
            call[0].failed(bare(error))

    def filter_request(self, request: Any) -> Any:
        """Nothing is filtered."""
        return request


def _responding(original: Any, dispatcher: Dispatcher) -> Any:
    """`getresponse` that tells the ticket of a failure, which vcrpy would keep to itself."""

    @functools.wraps(original)
    def getresponse(connection: Any, *args: Any, **kwargs: Any) -> Any:
        request = connection._vcr_request  # noqa: SLF001 - pinned by the contract test
        ticket = dispatcher.begin(request)
        if ticket is None or ticket.answer is not None:
            return original(connection, *args, **kwargs)
        with entered(ticket):
            try:
                if ticket.delay:
                    time.sleep(ticket.delay)
                return original(connection, *args, **kwargs)
            except BaseException as error:
                dispatcher.failed(request, error)
                raise

    return getresponse


def _fetching(original: Any) -> Any:
    """Tornado's own `fetch_impl` as a part of its call; vcrpy comes to it directly after it asked for an answer."""

    @functools.wraps(original)
    def fetch_impl(client: Any, request: Any, callback: Any) -> Any:
        ticket = None if current() is None else _latest.get()
        with contextlib.nullcontext() if ticket is None else entered(ticket):
            return original(client, request, callback)

    return fetch_impl


def _resetting(original: Callable[[], AbstractContextManager[None]]) -> Any:
    """`force_reset` that touches nothing in a trial: it would unpatch other threads' clients meanwhile."""

    @functools.wraps(original)
    def force_reset() -> AbstractContextManager[None]:
        return original() if current() is None else contextlib.nullcontext()

    return force_reset


def _items(headers: Any) -> Iterator[tuple[str, Any]]:
    yield from headers.items() if hasattr(headers, "items") else headers


def _values(values: Any) -> list[str]:
    return [values] if isinstance(values, str) else [str(value) for value in values]


def _joined(value: Any) -> str:
    if isinstance(value, tuple | list):
        return ", ".join(_joined(item) for item in value)
    return value.decode("latin-1") if isinstance(value, bytes) else str(value)


def _whole(body: Any) -> bytes:
    if body is None:
        return b""
    if isinstance(body, str):
        return body.encode("utf-8")
    if isinstance(body, bytes | bytearray):
        return bytes(body)
    if hasattr(body, "read"):
        return _whole(body.read())
    return b"".join(_whole(part) for part in body)


VCR_CLIENTS: Final = VcrClientsAdapter()
