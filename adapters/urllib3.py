"""urllib3 2.x, and what stands on it: requests, botocore. Streams are passed on as they arrive.

`HTTPConnectionPool._make_request` sends one request and reads the head of its answer; every request of every pool
goes through it, each attempt of a retry and each hop of a redirect by itself. So that no proxy is reached in replay
either, opening its tunnel is put off until the request is known to go live. Not seen: a subclass of the pool with a
`_make_request` of its own, and adapters of requests that never come to urllib3.
"""

from __future__ import annotations

import functools
import importlib
import logging
import time
from collections.abc import Iterator, Mapping
from importlib import metadata, util
from typing import Any, Final

from cassettes.model import Error
from cassettes.recorder import Recorder, Ticket, current, entered, passed_by, watched

from .failures import attached, detached
from .http import Asked, ask, request_name
from .patches import PatchingAdapter
from .telemetry import RULES, apart, telemetry
from .urllib3_responses import Responses, Tee

__all__ = ["URLLIB3", "Urllib3Adapter"]

_log = logging.getLogger("trialtape")
_POOL: Final = "urllib3.connectionpool"


class Urllib3Adapter(PatchingAdapter):
    """Captures the connection pools of urllib3.

    Attributes:
        excluded: what it lets pass unseen.
    """

    name = "urllib3"
    distributions = ("urllib3", "requests", "botocore")
    excluded = tuple(rule.shown for rule in RULES)

    def install(self) -> None:
        """Patch the pools, if urllib3 is installed. A second call does nothing."""
        if self._patches or util.find_spec("urllib3") is None:
            return
        version = metadata.version("urllib3")
        if not version.startswith("2."):
            _log.warning("urllib3 %s is not captured: this needs 2.x; upgrade urllib3", version)
            return
        pools = importlib.import_module(_POOL)
        library = Library()
        http, https = pools.HTTPConnectionPool, pools.HTTPSConnectionPool
        making, tunneling = _making(http._make_request, library), _tunneling(https._prepare_proxy, library)  # noqa: SLF001
        self._patches.put(http, "_make_request", making, f"{_POOL}.HTTPConnectionPool")
        self._patches.put(https, "_prepare_proxy", tunneling, f"{_POOL}.HTTPSConnectionPool")


class Library:
    """What is needed of urllib3."""

    def __init__(self) -> None:
        self.connections = importlib.import_module("urllib3.connection")
        self.exceptions = importlib.import_module("urllib3.exceptions")
        self.pools = importlib.import_module(_POOL)
        self.responses = Responses(importlib.import_module("urllib3.response"), self.bare)
        self._live = (self.pools.ConnectionPool, self.connections.HTTPConnection, self.responses.base)

    def bare(self, error: BaseException) -> BaseException:
        """The error without its pool, connection and response."""
        return detached(error, self._live)

    def exchange(self, recorder: Recorder, pool: Any, conn: Any, send: Any, request: dict[str, Any]) -> Any:
        """One request and the head of its answer: from the recording, or by ``send(conn, **request)``."""
        tunnel = vars(conn).pop("_trialtape_tunnel", None)
        body = request["body"] = _sendable(request["body"])
        asked = _ask(pool, request["method"], request["url"], request["headers"], body)
        ticket = recorder.begin(asked.call)
        if ticket.answer is not None:
            return self._play(ticket, pool, conn, request)
        preload, request["preload_content"] = request["preload_content"], False  # else it would be read unseen
        with entered(ticket):
            try:
                if ticket.delay:
                    time.sleep(ticket.delay)
                self.open(tunnel, pool, conn)
                response = send(conn, **request)
            except BaseException as error:
                ticket.failed(self.bare(error))
                raise
        return self.responses.preloaded(self._tee(ticket, asked, response), preload=preload)

    def _tee(self, ticket: Ticket, asked: Asked, response: Any) -> Any:
        tee = Tee(ticket, asked, response, self.responses)
        return self.responses.recording(response, tee)

    def _play(self, ticket: Ticket, pool: Any, conn: Any, request: dict[str, Any]) -> Any:
        if isinstance(ticket.answer, Error):
            raise self._attached(ticket.answer.error, pool, conn)
        # The connection was never opened; it goes back to its pool when the response is read or closed, as ever.
        response = self.responses.played(ticket.answer, request, lambda error: self._attached(error, pool, conn))
        response.retries = request["retries"]
        response._connection, response._pool = request["response_conn"], pool  # noqa: SLF001 - as the original does
        return self.responses.preloaded(response, preload=request["preload_content"])

    def _attached(self, error: BaseException, pool: Any, conn: Any) -> BaseException:
        return attached(error, {"pool": pool, "_pool": pool, "conn": conn, "_conn": conn}, conn)

    def open(self, tunnel: Any, pool: Any, conn: Any) -> None:
        """Open the tunnel that was put off, if one was, as `urlopen` would have."""
        if tunnel is None:
            return
        try:
            tunnel()
        except (self.connections.BaseSSLError, OSError) as error:
            pool._raise_timeout(err=error, url=pool.proxy.url, timeout_value=conn.timeout)  # noqa: SLF001
            raise


def _making(original: Any, library: Library) -> Any:
    """`_make_request` that asks the recorder first, while one listens."""

    @functools.wraps(original)
    def make_request(
        pool: Any, conn: Any, method: str, url: str, body: Any = None, headers: Any = None, **options: Any
    ) -> Any:
        recorder = current()
        send = functools.partial(original, pool)
        if (recorder is not None or watched()) and telemetry(method, _url(pool, url), headers):
            with apart():
                library.open(vars(conn).pop("_trialtape_tunnel", None), pool, conn)
                return send(conn, method, url, body=body, headers=headers, **options)
        if recorder is None:
            passed_by(lambda: request_name(method, _url(pool, url)))
            return send(conn, method, url, body=body, headers=headers, **options)
        request = {"retries": None, "response_conn": None, "preload_content": True, "decode_content": True} | options
        request |= {"method": method, "url": url, "body": body, "headers": headers}
        return library.exchange(recorder, pool, conn, send, request)

    return make_request


def _tunneling(original: Any, library: Library) -> Any:  # noqa: ARG001 - made alike
    """`_prepare_proxy` that opens no connection before the request is known to go live."""

    @functools.wraps(original)
    def prepare_proxy(pool: Any, conn: Any) -> None:
        if current() is None:
            original(pool, conn)
        else:
            conn._trialtape_tunnel = functools.partial(original, pool, conn)  # noqa: SLF001 - taken by `exchange`

    return prepare_proxy


def _ask(pool: Any, method: str, url: str, headers: Mapping[Any, Any] | None, body: Any) -> Asked:
    url = _url(pool, url)
    pairs = [(_text(name), _text(value)) for name, value in (headers or {}).items()]
    return ask(_text(method), url, pairs, b"".join(_pieces(body)))


def _url(pool: Any, url: str) -> str:
    if url.startswith(("http://", "https://")):  # to a proxy it is absolute
        return url
    host = f"[{pool.host}]" if ":" in pool.host else pool.host
    port = "" if pool.port in {None, {"http": 80, "https": 443}[pool.scheme]} else f":{pool.port}"
    return f"{pool.scheme}://{host}{port}{url}"


def _sendable(body: Any) -> Any:
    """The body in a form that can be read more than once, and is framed on the wire as the original would be."""
    if body is None or isinstance(body, str | bytes) or (not hasattr(body, "read") and _buffer(body) is not None):
        return body
    return list(_pieces(body))


def _pieces(body: Any) -> Iterator[bytes]:
    """The bytes of any body that urllib3 takes."""
    if body is None:
        return
    if isinstance(body, str | bytes):
        yield _encoded(body)
    elif hasattr(body, "read"):
        yield _encoded(body.read())
    elif (buffer := _buffer(body)) is not None:
        yield bytes(buffer)
    else:
        yield from map(_encoded, body)


def _buffer(body: Any) -> memoryview | None:
    try:
        return memoryview(body)
    except TypeError:
        return None


def _encoded(data: Any) -> bytes:
    return data.encode("utf-8") if isinstance(data, str) else bytes(data)


def _text(value: Any) -> str:
    return value.decode("latin-1") if isinstance(value, bytes) else str(value)


URLLIB3: Final = Urllib3Adapter()
