"""Content encodings, undone piece by piece: gzip, deflate, br, zstd and their combinations."""

from __future__ import annotations

import importlib
import zlib
from collections.abc import Callable, Collection
from importlib import util
from typing import Any, Final, Protocol

import zstandard

# An optional extra of the HTTP clients.
brotli: Any = importlib.import_module("brotli") if util.find_spec("brotli") else None

__all__ = ["KNOWN", "Decoder", "Undecodable", "decode", "decoder"]


class Undecodable(ValueError):
    """The body is not in the encoding that its header names."""


class Decoder(Protocol):
    """Undoes one body's encoding; a body cut short is no error, what can be read of it is."""

    def feed(self, data: bytes) -> bytes:
        """What ``data`` adds to the decoded body.

        Raises:
            Undecodable: the body is damaged.
        """


class _Identity:
    def feed(self, data: bytes) -> bytes:
        return data


class _Frames:
    """Compressed members one after the other; each ends by itself and the next one begins."""

    def __init__(self, start: Callable[[], Any], magic: bytes, error: type[Exception]) -> None:
        self._start = start
        self._magic = magic
        self._error = error
        self._current = start()

    def feed(self, data: bytes) -> bytes:
        pieces = []
        try:
            while data:
                if self._current.eof:
                    # Only the magic number begins a new member: servers pad with zeros, and clients do not mind.
                    if not self._magic.startswith(data[: len(self._magic)]):
                        break
                    self._current = self._start()
                pieces.append(self._current.decompress(data))
                data = self._current.unused_data
        except self._error as error:
            raise Undecodable(str(error)) from error
        return b"".join(pieces)


class _Deflate:
    """zlib by the standard, raw deflate by habit; the first two bytes tell."""

    def __init__(self) -> None:
        self._inner: Any = None
        self._head = b""

    def feed(self, data: bytes) -> bytes:
        if self._inner is None:
            data = self._head + data
            if len(data) < 2:
                self._head = data
                return b""
            is_zlib = data[0] & 0x0F == 8 and int.from_bytes(data[:2], "big") % 31 == 0
            self._inner = zlib.decompressobj() if is_zlib else zlib.decompressobj(-zlib.MAX_WBITS)
        try:
            decoded: bytes = self._inner.decompress(data)
        except zlib.error as error:
            raise Undecodable(str(error)) from error
        return decoded


class _Brotli:
    def __init__(self) -> None:
        self._inner = brotli.Decompressor()

    def feed(self, data: bytes) -> bytes:
        try:
            decoded: bytes = self._inner.process(data)
        except brotli.error as error:
            raise Undecodable(str(error)) from error
        return decoded


class _Chain:
    """Several encodings, the last one applied is undone first."""

    def __init__(self, links: list[Decoder]) -> None:
        self._links = links

    def feed(self, data: bytes) -> bytes:
        for link in self._links:
            data = link.feed(data)
        return data


def _gzip() -> Decoder:
    return _Frames(lambda: zlib.decompressobj(zlib.MAX_WBITS | 16), b"\x1f\x8b", zlib.error)


def _zstd() -> Decoder:
    start = zstandard.ZstdDecompressor().decompressobj
    return _Frames(start, b"\x28\xb5\x2f\xfd", zstandard.ZstdError)


_MAKERS: Final[dict[str, Callable[[], Decoder]]] = {
    "identity": _Identity,
    "gzip": _gzip,
    "x-gzip": _gzip,
    "deflate": _Deflate,
    "zstd": _zstd,
} | ({} if brotli is None else {"br": _Brotli})

KNOWN: Final = frozenset(_MAKERS)
"""The encodings that can be undone here."""


def decoder(encoding: str | None, supported: Collection[str] = KNOWN) -> Decoder | None:
    """Undoes ``encoding``, the value of a Content-Encoding header; None: keep the body as it is.

    Args:
        encoding: such as ``gzip`` or ``deflate, br``; None is ``identity``.
        supported: what the client undoes; a body that the client hands out raw is kept raw.
    """
    names = [name.strip().lower() for name in (encoding or "identity").split(",") if name.strip()]
    if any(name not in KNOWN or name not in supported for name in names if name != "identity"):
        return None
    links = [_MAKERS[name]() for name in reversed(names)]
    return links[0] if len(links) == 1 else _Chain(links)


def decode(data: bytes, encoding: str | None) -> bytes:
    """The whole body decoded; as it is if its encoding is unknown or its bytes are not in it."""
    undo = decoder(encoding)
    if undo is None:
        return data
    try:
        return undo.feed(data)
    except Undecodable:
        return data
