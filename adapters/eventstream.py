"""The binary event stream of AWS (``application/vnd.amazon.eventstream``), read from bytes that may be split anywhere.

One message is::

    total length, length of the headers, CRC-32 of these two     4 bytes each, big-endian: the prelude
    headers                                                      name, type and value, one after the other
    payload
    CRC-32 of all of the above                                   4 bytes
"""

from __future__ import annotations

import struct
import uuid
from collections.abc import Mapping
from typing import Any, Final
from zlib import crc32

from attrs import frozen

__all__ = ["Message", "Parser", "messages"]

_PRELUDE: Final = struct.Struct(">III")
_CRC: Final = struct.Struct(">I")
_LENGTH: Final = struct.Struct(">H")
# Those that AWS states; a longer message is damage, and must not make the parser wait for gigabytes.
_MAX_HEADERS: Final = 128 * 1024
_MAX_PAYLOAD: Final = 24 * 1024 * 1024
_FIXED: Final[Mapping[int, struct.Struct]] = {
    2: struct.Struct(">b"),
    3: struct.Struct(">h"),
    4: struct.Struct(">i"),
    5: struct.Struct(">q"),
    8: struct.Struct(">q"),  # a time, in milliseconds since 1970
}


@frozen
class Message:
    """One message; its headers by name, such as ``:event-type``."""

    headers: Mapping[str, Any]
    payload: bytes


class Parser:
    """Bytes in, messages out. Nothing comes out after damage, because the next message cannot be found then.

    Attributes:
        damaged: a length or a checksum was wrong.
    """

    def __init__(self) -> None:
        self.damaged = False
        self._rest = bytearray()

    def feed(self, data: bytes) -> list[Message]:
        """The messages that ``data`` completes."""
        if self.damaged:
            return []
        self._rest += data
        found: list[Message] = []
        start = 0
        try:
            while (end := _end(self._rest, start)) is not None:
                found.append(_message(bytes(self._rest[start:end])))
                start = end
        except (ValueError, struct.error):  # UnicodeDecodeError is one
            self.damaged = True
            self._rest.clear()
        else:
            del self._rest[:start]
        return found


def messages(data: bytes) -> list[Message]:
    """All whole messages of a stream, up to the first damaged one."""
    return Parser().feed(data)


def _end(data: bytearray, start: int) -> int | None:
    """Where the message at ``start`` ends; None if it is not all there yet.

    Raises:
        ValueError: this is no prelude.
    """
    if len(data) - start < _PRELUDE.size:
        return None
    total, headers, crc = _PRELUDE.unpack_from(data, start)
    payload = total - headers - _PRELUDE.size - _CRC.size
    if crc32(data[start : start + 8]) != crc or headers > _MAX_HEADERS or not 0 <= payload <= _MAX_PAYLOAD:
        raise ValueError("a damaged prelude")
    return start + total if len(data) - start >= total else None


def _message(data: bytes) -> Message:
    (crc,) = _CRC.unpack(data[-4:])
    if crc32(data[:-4]) != crc:
        raise ValueError("a damaged message")
    end = _PRELUDE.size + _PRELUDE.unpack_from(data)[1]
    return Message(_headers(data[_PRELUDE.size : end]), data[end:-4])


def _headers(data: bytes) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    place = 0
    while place < len(data):
        name, place = _taken(data, place + 1, data[place])
        kind, place = _taken(data, place, 1)
        headers[name.decode("utf-8")], place = _value(kind[0], data, place)
    return headers


def _value(kind: int, data: bytes, place: int) -> tuple[Any, int]:
    if kind in {0, 1}:
        return kind == 0, place
    if kind in _FIXED:
        (number,) = _FIXED[kind].unpack_from(data, place)
        return number, place + _FIXED[kind].size
    if kind in {6, 7}:
        (length,) = _LENGTH.unpack_from(data, place)
        value, place = _taken(data, place + _LENGTH.size, length)
        return (value if kind == 6 else value.decode("utf-8")), place
    if kind == 9:
        value, place = _taken(data, place, 16)
        return uuid.UUID(bytes=value), place
    raise ValueError("a header of an unknown type")


def _taken(data: bytes, place: int, length: int) -> tuple[bytes, int]:
    value = data[place : place + length]
    if len(value) < length:
        raise ValueError("the headers end early")
    return value, place + length
