"""An HTTP exchange as a Call and a response head: pure functions of method, URL, headers and bytes."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any, Final
from urllib.parse import urlsplit, urlunsplit

from attrs import frozen

from cassettes.model import Call, Reply

from .decoders import Decoder, recognise
from .encodings import decode

__all__ = ["Asked", "ask", "header", "is_stream", "note_raw", "request_name", "response_head", "text_or_bytes"]

Headers = Iterable[tuple[str, str]]

# By allow-list, because the list of headers that carry secrets is never complete.
_RESPONSE_HEADERS: Final = frozenset({
    "allow",
    "cache-control",
    "content-disposition",
    "content-language",
    "content-range",
    "content-type",
    "etag",
    "last-modified",
    "link",
    "location",
    "openai-model",
    "openai-processing-ms",
    "openai-version",
    "request-id",
    "retry-after",
    "retry-after-ms",
    "www-authenticate",
    "x-amzn-errortype",
    "x-amzn-requestid",
    "x-request-id",
    "x-should-retry",
})  # fmt: skip
_RESPONSE_PREFIXES: Final = ("x-ratelimit-", "ratelimit", "anthropic-ratelimit-", "x-amzn-bedrock-")
_REQUEST_HEADERS: Final = frozenset({
    "accept",
    "amz-sdk-request",
    "anthropic-beta",
    "anthropic-version",
    "content-encoding",
    "content-type",
    "if-modified-since",
    "if-none-match",
    "openai-beta",
    "range",
    "user-agent",
    "x-amz-target",
    "x-stainless-helper-method",
    "x-stainless-retry-count",
})  # fmt: skip
_READS: Final = frozenset({"GET", "HEAD", "OPTIONS"})
_STREAM_TYPES: Final = (
    "text/event-stream",
    "application/x-ndjson",
    "application/jsonl",
    "application/vnd.amazon.eventstream",
)
_BOUNDARY: Final = re.compile(r"""boundary=(?:"([^"]+)"|([^;\s]+))""", re.IGNORECASE)
_CONSTANT_BOUNDARY: Final = "trialtape-boundary"


@frozen
class Asked:
    """A request understood.

    Attributes:
        decoder: knows how to read the answer, if this is a model call.
        wants_stream: the body asks for a stream.
    """

    call: Call
    decoder: Decoder | None = None
    wants_stream: bool = False

    def reply(self, status: int, body: str | bytes) -> Reply | None:
        """What the model answered; None if no model was asked."""
        return None if self.decoder is None else self.decoder.reply(status, body)

    def reply_from_stream(self, chunks: Iterable[bytes]) -> Reply | None:
        """The same, from the pieces of a stream."""
        return None if self.decoder is None else self.decoder.reply_from_stream(b"".join(chunks))

    def stream_ended(self, chunks: Iterable[bytes]) -> bool:
        """True if these pieces are a whole answer by its protocol."""
        return self.decoder is not None and self.decoder.stream_ended(b"".join(chunks))


def ask(method: str, url: str, headers: Headers, body: bytes) -> Asked:
    """Understand one request."""
    method = method.upper()
    parts = urlsplit(url)
    host = parts.netloc.rpartition("@")[2]
    url = urlunsplit(parts._replace(netloc=host, fragment=""))  # no user:password@
    kept = _request_headers(headers)
    content = _request_body(body, kept)
    detail = {"method": method, "url": url, "headers": kept, "host": host}
    path = parts.path or "/"
    decoder = recognise(method, path, content)
    wants_stream = isinstance(content, dict) and content.get("stream") is True
    if decoder is None:
        call = Call(
            kind="http",
            name=f"{method} {host}{path}",
            arguments={"url": url, "body": content},
            effect="read" if method in _READS else "write",
            detail=detail,
        )
        return Asked(call, None, wants_stream)
    call = Call(
        kind="model",
        name=decoder.model(path, content),
        arguments=content,
        endpoint=f"{decoder.protocol} {path}",
        history=decoder.history,
        detail=detail,
    )
    return Asked(call, decoder, wants_stream)


def request_name(method: Any, url: Any) -> str:
    """Method, host and path of a request: what may be told of it."""
    parts = urlsplit(_told(url))
    return f"{_told(method).upper()} {parts.netloc.rpartition('@')[2]}{parts.path or '/'}"


def _told(text: Any) -> str:
    return text.decode("latin-1") if isinstance(text, bytes) else str(text)


def response_head(status: int, headers: Headers, http_version: str = "HTTP/1.1") -> dict[str, Any]:
    """What is kept of a response beside its body, which is kept decoded."""
    pairs = [(name.lower(), value) for name, value in headers]
    encodings = [value for name, value in pairs if name == "content-encoding"]
    return {
        "status": status,
        "headers": [[name, value] for name, value in pairs if _keeps(name)],
        "encoding": ", ".join(encodings) or None,
        "http_version": http_version,
    }


def note_raw(head: dict[str, Any]) -> None:
    """Say in the headers that the body is kept encoded: its reader must undo that, or hand it out so."""
    head["headers"].append(["content-encoding", head["encoding"]])


def is_stream(asked: Asked, head: Mapping[str, Any]) -> bool:
    """True if the answer comes in pieces that mean something one by one.

    An error answer to a request for a stream is an ordinary body.
    """
    content_type = header(head["headers"], "content-type")
    return content_type.lower().startswith(_STREAM_TYPES) or (asked.wants_stream and head["status"] < 400)


def text_or_bytes(body: bytes) -> str | bytes:
    """The body as text if it is UTF-8, so that a reader can read it; encoding it again gives the same bytes."""
    try:
        return body.decode("utf-8")
    except UnicodeDecodeError:
        return body


def header(headers: Iterable[Iterable[str]], wanted: str) -> str:
    """The first header of that (lower-case) name, or an empty text."""
    return next((value for name, value in headers if name.lower() == wanted), "")


def _keeps(name: str) -> bool:
    return name in _RESPONSE_HEADERS or name.startswith(_RESPONSE_PREFIXES)


def _request_headers(headers: Headers) -> dict[str, str]:
    kept: dict[str, str] = {}
    for name, value in headers:
        lower = name.lower()
        if lower in _REQUEST_HEADERS:
            kept[lower] = f"{kept[lower]}, {value}" if lower in kept else value
    return kept


def _request_body(body: bytes, headers: dict[str, str]) -> Any:
    """The body as parsed JSON, else text, else bytes. A random boundary becomes a constant one, also in ``headers``."""
    if not body:
        return None
    body = decode(body, headers.get("content-encoding"))
    content_type = headers.get("content-type", "")
    boundary = _BOUNDARY.search(content_type) if content_type.lower().startswith("multipart/") else None
    if boundary is not None:
        random = boundary[1] or boundary[2]
        headers["content-type"] = content_type.replace(random, _CONSTANT_BOUNDARY)
        body = body.replace(b"--" + random.encode("latin-1", "replace"), b"--" + _CONSTANT_BOUNDARY.encode())
    text = text_or_bytes(body)
    if isinstance(text, str) and text.lstrip()[:1] in {"{", "["} and boundary is None:
        try:
            return json.loads(text)
        except (ValueError, RecursionError):
            return text
    return text
