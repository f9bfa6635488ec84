"""A recorded HTTP outcome, checked, in the form in which a client's own response can be made of it."""

from __future__ import annotations

from typing import Any, Final

from attrs import frozen

from cassettes.errors import CassetteError
from cassettes.model import Outcome, Stream, Value

from .exchange import content_length
from .pacing import AT_ONCE, Pace, pace_of

__all__ = ["CANCELLED", "Played", "body_less", "played"]

CANCELLED: Final = "the recorded caller cancelled this request; only async code can repeat that"
_FRAMING: Final = frozenset({"content-length", "transfer-encoding"})
_BODY_LESS: Final = frozenset({204, 304})


@frozen
class Played:
    """A recorded response.

    Attributes:
        headers: less those that say how long the body is.
        pieces: of the body, decoded.
        error: what is raised after the last piece, if the stream broke off.
        whole: the body was one value, so its length is known.
        promised: the Content-Length of a body that was shorter, as it came to a client that does not mind.
        pace: when each piece is due.
    """

    status: int
    headers: tuple[tuple[str, str], ...]
    http_version: str
    pieces: tuple[bytes, ...]
    error: BaseException | None = None
    whole: bool = True
    promised: int | None = None
    pace: Pace = AT_ONCE


def played(answer: Outcome | None) -> Played:
    """The recorded response; errors and cancellations are the caller's to raise.

    Raises:
        CassetteError: the outcome is none that an HTTP client can have.
    """
    match answer:
        case Value({"status": int() as status, "body": body} as head):
            pieces, error, whole = [_bytes(body)], None, True
        case Stream({"status": int() as status} as head, chunks, complete, broken):
            pieces, error, whole = [_bytes(chunk.data) for chunk in chunks], None if complete else broken, False
        case _:
            raise CassetteError("the recorded answer is no HTTP response")
    if status == 101:
        raise CassetteError("a websocket was opened here; what was said over it is not recorded")
    headers = [(str(name), str(value)) for name, value in head.get("headers", ())]
    return Played(
        status,
        tuple((name, _one_line(value)) for name, value in headers if name.lower() not in _FRAMING),
        head.get("http_version") or "HTTP/1.1",
        tuple(piece for piece in pieces if piece),
        error,
        whole,
        content_length(headers),
        pace_of(answer),
    )


def body_less(method: str, status: int) -> bool:
    """True if an answer to that has no body, whatever its headers say."""
    return method == "HEAD" or status in _BODY_LESS


def _one_line(value: str) -> str:
    return " ".join(value.splitlines()) if "\n" in value or "\r" in value else value


def _bytes(data: Any) -> bytes:
    return data.encode("utf-8") if isinstance(data, str) else bytes(data)
