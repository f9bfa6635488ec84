"""A recorded response as the bytes that a server would have sent, for the standard library's own parser."""

from __future__ import annotations

import http.client
import io
from collections import deque
from typing import Any, Final

from .pacing import Pace
from .played import Played, body_less

__all__ = ["parsed"]

_CHUNKED: Final = (("transfer-encoding", "chunked"),)


def parsed(told: Played, method: str, error: BaseException | None) -> http.client.HTTPResponse:
    """The response, its head read; reading its body ends in ``error``, if it is given."""
    socket: Any = _Socket(_Wire(_frames(told, method), error, told.pace))
    response = http.client.HTTPResponse(socket, method=method)
    response.begin()
    return response


class _Wire(io.RawIOBase):
    """What a server sent, frame by frame; then the error that broke it off."""

    def __init__(self, frames: list[bytes], error: BaseException | None, pace: Pace) -> None:
        super().__init__()
        self._pace = pace
        self._begun = -1  # the head comes first
        self._cut = False
        self._frames = deque(frames)
        self._error = error

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        if not self._frames:
            if self._error is not None:
                raise self._error
            return 0
        if not self._cut:
            if self._begun >= 0:
                self._pace.wait(self._begun)
            self._begun += 1
        frame = self._frames.popleft()
        size = min(len(frame), len(buffer))
        buffer[:size] = frame[:size]
        self._cut = size < len(frame)
        if self._cut:
            self._frames.appendleft(frame[size:])
        return size


class _Socket:
    """What `http.client` asks of a socket."""

    def __init__(self, wire: _Wire) -> None:
        self._wire = wire

    def makefile(self, *_: Any) -> io.BufferedReader:
        return io.BufferedReader(self._wire)


def _frames(told: Played, method: str) -> list[bytes]:
    headers = list(told.headers)
    frames = list(told.pieces)
    if body_less(method, told.status):
        frames = []
    elif told.whole:
        headers.append(("content-length", str(sum(map(len, frames)))))
    elif told.promised is not None:
        headers.append(("content-length", str(told.promised)))
    else:
        headers += _CHUNKED
        frames = [b"%x\r\n%b\r\n" % (len(frame), frame) for frame in frames]
        if told.error is None:
            frames.append(b"0\r\n\r\n")
    version = told.http_version if told.http_version in {"HTTP/1.0", "HTTP/1.1"} else "HTTP/1.1"
    phrase = http.client.responses.get(told.status, "")
    lines = [f"{version} {told.status} {phrase}", *(f"{name}: {value}" for name, value in headers), "", ""]
    return ["\r\n".join(lines).encode("latin-1", "replace"), *frames]
