"""Responses of urllib3: live ones that record themselves while they are read, and recorded ones played back.

A recorded one is played by feeding the wire's bytes, one piece per chunk, to the standard library's own parser: what
urllib3 and requests make of it is what they make of a server's answer.
"""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Callable, Iterator
from typing import Any, Final

from cassettes.errors import CassetteError
from cassettes.model import Cancelled, Outcome
from cassettes.recorder import Ticket

from .exchange import Exchange, content_length
from .http import Asked, response_head
from .played import CANCELLED, played
from .urllib3_wire import parsed

__all__ = ["Responses", "Tee"]

_VERSIONS: Final = {10: "HTTP/1.0", 11: "HTTP/1.1", 20: "HTTP/2"}


class Responses:
    """The response classes of urllib3, extended.

    Args:
        module: `urllib3.response`.
        bare: makes an error keepable.
    """

    def __init__(self, module: Any, bare: Callable[[BaseException], BaseException]) -> None:
        self.base: Any = module.BaseHTTPResponse
        self.bare = bare
        self.encodings = frozenset({"identity", *module.HTTPResponse.CONTENT_DECODERS})
        self._module = module
        self._recording: Any = functools.cache(lambda cls: type("RecordingResponse", (_Recording, cls), {}))

    def recording(self, response: Any, tee: Tee) -> Any:
        """The same response, from now on telling ``tee`` what is read of it."""
        if not isinstance(response, self._module.HTTPResponse):  # HTTP/2: read whole already
            tee.reads(decode=True).decoded(response.data)
            tee.reads(decode=True).finished()
        elif response.status == 101:  # the connection now belongs to another protocol
            tee.upgraded()
        else:
            response.__class__ = self._recording(type(response))
            response.trialtape = tee
        return response

    def preloaded(self, response: Any, *, preload: bool) -> Any:
        """The response, read to its end if the caller asked for that."""
        if preload and isinstance(response, self._module.HTTPResponse):
            response._body = response.read(decode_content=response.decode_content)  # noqa: SLF001 - as its constructor
        return response

    def undecodable(self, encoding: str, why: str) -> BaseException:
        """The client's error for a damaged body."""
        error: BaseException = self._module.DecodeError(
            f"Received response with content-encoding: {encoding}, but failed to decode it.", why
        )
        return error

    def played(
        self, answer: Outcome | None, request: dict[str, Any], attach: Callable[[BaseException], BaseException]
    ) -> Any:
        """The recorded response, unread.

        Raises:
            CassetteError: the outcome is none that this client can have.
        """
        if isinstance(answer, Cancelled):
            raise CassetteError(CANCELLED)
        told = played(answer)
        original = parsed(told, request["method"], _raised(told.error, attach))
        return self._module.HTTPResponse(
            body=original,
            headers=self._module.HTTPHeaderDict(original.headers.items()),
            status=original.status,
            version=original.version,
            version_string=told.http_version,
            reason=original.reason,
            preload_content=False,
            decode_content=request["decode_content"],
            original_response=original,
            enforce_content_length=request.get("enforce_content_length", True),
            request_method=request["method"],
            request_url=request["url"],
        )


class Tee:
    """Stands between a response that is read and its exchange.

    The first reading tells whether the client undoes the content encoding or hands the bytes out as they came.
    """

    def __init__(self, ticket: Ticket, asked: Asked, response: Any, responses: Responses) -> None:
        self.responses = responses
        self._ticket = ticket
        self._asked = asked
        self._headers = list(response.headers.items())
        version = _VERSIONS.get(response.version, "HTTP/1.1")
        self._head = response_head(response.status, self._headers, version)
        self._exchange: Exchange | None = None
        self._pieces: list[bytes] = []

    def reads(self, *, decode: bool) -> Exchange:
        """The exchange; the first call decides whether the recording is decoded."""
        if self._exchange is None:
            encoding = self._head["encoding"] or ""
            self._exchange = Exchange(
                self._ticket,
                self._asked,
                self._head,
                supported=self.responses.encodings if decode else (),
                undecodable=lambda why: self.responses.undecodable(encoding, why),
                length=content_length(self._headers),
            )
        return self._exchange

    def read(self, data: bytes, *, whole: bool = True) -> None:
        """A piece was read; one that does not end a chunk of the wire is kept together with what follows it."""
        self._pieces.append(data)
        if whole:
            self._flush()

    def finished(self) -> None:
        """The body was read to its end."""
        self._flush()
        self.reads(decode=True).finished()

    def short(self) -> None:
        """The body ended before its promised length, and the client does not mind."""
        self._flush()
        if self._head["encoding"] is None:
            self._head["headers"].append(["content-length", str(content_length(self._headers))])
        self.reads(decode=True).abandoned()

    def broke(self, error: BaseException) -> None:
        """Reading failed."""
        self._flush()
        self.reads(decode=True).broke(self.responses.bare(error))

    def abandoned(self) -> None:
        """The consumer left the response."""
        self._flush()
        self.reads(decode=True).abandoned()

    def lost(self) -> None:
        """The response was garbage-collected unclosed."""
        self.reads(decode=True).lost()

    def upgraded(self) -> None:
        """The connection was handed to another protocol."""
        self._ticket.done({**self._head, "body": ""})

    def _flush(self) -> None:
        if self._pieces:
            data, self._pieces = b"".join(self._pieces), []
            self.reads(decode=True).chunk(data)


class _Recording:
    """The methods of a response through which bytes come from the wire: `_raw_read`, and `_handle_chunk` of a chunk."""

    trialtape: Tee | None

    def read(self, amt: int | None = None, decode_content: bool | None = None, cache_content: bool = False) -> Any:  # noqa: FBT001, FBT002 - the original's
        self._reads(decode_content)
        return super().read(amt, decode_content, cache_content)  # type: ignore[misc]

    def read1(self, amt: int | None = None, decode_content: bool | None = None) -> Any:  # noqa: FBT001 - the original's
        self._reads(decode_content)
        return super().read1(amt, decode_content)  # type: ignore[misc]

    def read_chunked(self, amt: int | None = None, decode_content: bool | None = None) -> Iterator[bytes]:  # noqa: FBT001 - the original's
        self._reads(decode_content)
        tee = self.trialtape
        try:
            yield from super().read_chunked(amt, decode_content)  # type: ignore[misc]
        except GeneratorExit:
            if tee is not None:
                tee.abandoned()
            raise
        except BaseException as error:
            if tee is not None:
                tee.broke(error)
            raise
        if tee is not None and self._ended():
            tee.finished()

    def close(self) -> None:
        try:
            if self.trialtape is not None:
                self.trialtape.abandoned()
        finally:
            super().close()  # type: ignore[misc]

    def __del__(self) -> None:
        tee, self.trialtape = self.trialtape, None
        if tee is not None:
            tee.lost()
        super().__del__()  # type: ignore[misc]

    def _raw_read(self, amt: int | None = None, *, read1: bool = False) -> Any:
        tee = self.trialtape
        try:
            data = super()._raw_read(amt, read1=read1)  # type: ignore[misc]
        except BaseException as error:
            if tee is not None:
                tee.broke(error)
            raise
        if tee is not None:
            if data:
                tee.read(data)
            if self._ended():
                (tee.short if getattr(self, "length_remaining", None) else tee.finished)()
        return data

    def _update_chunk_length(self) -> None:
        # It closes the response before it raises: that is no consumer who leaves.
        tee, self.trialtape = self.trialtape, None
        try:
            super()._update_chunk_length()  # type: ignore[misc]
        finally:
            self.trialtape = tee

    def _handle_chunk(self, amt: int | None) -> Any:
        data = super()._handle_chunk(amt)  # type: ignore[misc]
        if self.trialtape is not None:
            self.trialtape.read(data, whole=getattr(self, "chunk_left", None) is None)
        return data

    def _reads(self, decode_content: bool | None) -> None:  # noqa: FBT001 - the original's
        if self.trialtape is not None:
            default: Any = getattr(self, "decode_content", True)
            self.trialtape.reads(decode=bool(default if decode_content is None else decode_content))

    def _ended(self) -> bool:
        """True if the standard library's response is at its end: it then closes itself."""
        body: Any = getattr(self, "_fp", None)
        return body is None or bool(body.isclosed())


def _raised(error: BaseException | None, attach: Callable[[BaseException], BaseException]) -> BaseException | None:
    if isinstance(error, asyncio.CancelledError):
        return CassetteError(CANCELLED)
    return None if error is None else attach(error)
