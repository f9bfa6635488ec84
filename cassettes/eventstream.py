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
from collections.abc import Iterable, Mapping
from typing import Any, Final
from zlib import crc32

from attrs import frozen

__all__ = [
    "CRC",
    "PRELUDE",
    "Frame",
    "Header",
    "Message",
    "Parser",
    "begins",
    "framed",
    "frames",
    "messages",
    "outline",
]

_PRELUDE: Final = struct.Struct(">III")
_CRC: Final = struct.Struct(">I")
_LENGTH: Final = struct.Struct(">H")
PRELUDE: Final = _PRELUDE.size
"""Bytes before the headers."""
CRC: Final = _CRC.size
"""Bytes behind the payload."""
# Those that AWS states; a longer message is damage, and must not make the parser wait for gigabytes.
_MAX_HEADERS: Final = 128 * 1024
_MAX_PAYLOAD: Final = 24 * 1024 * 1024
_BYTES: Final = 6
_TEXT: Final = 7
_FIXED: Final[Mapping[int, struct.Struct]] = {
    2: struct.Struct(">b"),
    3: struct.Struct(">h"),
    4: struct.Struct(">i"),
    5: struct.Struct(">q"),
    8: struct.Struct(">q"),  # a time, in milliseconds since 1970
}
_WIDTHS: Final[Mapping[int, int]] = {0: 0, 1: 0, 9: 16} | {kind: form.size for kind, form in _FIXED.items()}


@frozen
class Message:
    """One message; its headers by name, such as ``:event-type``."""

    headers: Mapping[str, Any]
    payload: bytes


@frozen
class Header:
    """One header as it stands in the bytes.

    Attributes:
        kind: its type, 0 to 9.
        value: less the length that stands before bytes and texts.
    """

    name: bytes
    kind: int
    value: bytes

    @property
    def has_text(self) -> bool:
        """True if the value may be any bytes or text."""
        return self.kind in {_BYTES, _TEXT}


@frozen
class Frame:
    """One message as it stands in the bytes of a stream, from ``start`` to ``stop``."""

    start: int
    stop: int
    headers: tuple[Header, ...]
    payload: bytes

    @property
    def message(self) -> Message:
        """What it says.

        Raises:
            ValueError: a header cannot be read.
        """
        return Message({header.name.decode("utf-8"): _value(header) for header in self.headers}, self.payload)


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
            while (stop := _end(self._rest, start)) is not None:
                found.append(_frame(bytes(self._rest[start:stop]), start).message)
                start = stop
        except (ValueError, struct.error):  # UnicodeDecodeError is one
            self.damaged = True
            self._rest.clear()
        else:
            del self._rest[:start]
        return found


def messages(data: bytes) -> list[Message]:
    """All whole messages of a stream, up to the first damaged one."""
    return Parser().feed(data)


def begins(data: bytes) -> bool:
    """True if ``data`` begins as a stream of messages does: lengths that can be, and their checksum."""
    # The first byte of a length that can be is 0 or 1: most other data is told by it.
    return data[:1] in {b"\0", b"\1"} and outline(data, 0) is not None


def outline(data: bytes, start: int) -> tuple[int, int] | None:
    """Where the payload of the message at ``start`` begins, and where the message ends, all there or not.

    Returns:
        None if its prelude is not whole, or damaged.
    """
    try:
        lengths = _lengths(data, start)
    except ValueError:
        return None
    return None if lengths is None else (start + PRELUDE + lengths[1], start + lengths[0])


def frames(data: bytes) -> list[Frame]:
    """The same messages as `messages` as they stand there."""
    found: list[Frame] = []
    start = 0
    try:
        while (stop := _end(data, start)) is not None:
            frame = _frame(data[start:stop], start)
            _ = frame.message  # which a reader must be able to read
            found.append(frame)
            start = stop
    except (ValueError, struct.error):
        pass
    return found


def framed(headers: Iterable[Header], payload: bytes) -> bytes:
    """The message with these headers and this payload, its lengths and checksums right."""
    packed = b"".join(map(_packed, headers))
    prelude = struct.pack(">II", PRELUDE + len(packed) + len(payload) + CRC, len(packed))
    start = prelude + _CRC.pack(crc32(prelude)) + packed + payload
    return start + _CRC.pack(crc32(start))


def _packed(header: Header) -> bytes:
    length = _LENGTH.pack(len(header.value)) if header.has_text else b""
    return bytes([len(header.name)]) + header.name + bytes([header.kind]) + length + header.value


def _lengths(data: bytes | bytearray, start: int) -> tuple[int, int] | None:
    """Of the message at ``start``, and of its headers; None if its prelude is not all there yet.

    Raises:
        ValueError: this is no prelude.
    """
    if len(data) - start < PRELUDE:
        return None
    total, headers, crc = _PRELUDE.unpack_from(data, start)
    payload = total - headers - PRELUDE - CRC
    if crc32(data[start : start + 8]) != crc or headers > _MAX_HEADERS or not 0 <= payload <= _MAX_PAYLOAD:
        raise ValueError("a damaged prelude")
    return total, headers


def _end(data: bytes | bytearray, start: int) -> int | None:
    """Where the message at ``start`` ends; None if it is not all there yet.

    Raises:
        ValueError: this is no prelude.
    """
    lengths = _lengths(data, start)
    return None if lengths is None or len(data) - start < lengths[0] else start + lengths[0]


def _frame(data: bytes, start: int) -> Frame:
    (crc,) = _CRC.unpack(data[-CRC:])
    if crc32(data[:-CRC]) != crc:
        raise ValueError("a damaged message")
    end = PRELUDE + _PRELUDE.unpack_from(data)[1]
    return Frame(start, start + len(data), tuple(_headers(data[PRELUDE:end])), data[end:-CRC])


def _headers(data: bytes) -> list[Header]:
    headers: list[Header] = []
    place = 0
    while place < len(data):
        name, place = _taken(data, place + 1, data[place])
        (kind,), place = _taken(data, place, 1)
        width = _WIDTHS.get(kind)
        if width is None:
            if kind not in {_BYTES, _TEXT}:
                raise ValueError("a header of an unknown type")
            (width,) = _LENGTH.unpack_from(data, place)
            place += _LENGTH.size
        value, place = _taken(data, place, width)
        headers.append(Header(name, kind, value))
    return headers


def _value(header: Header) -> Any:
    match header.kind:
        case 0 | 1:
            return header.kind == 0
        case 6:
            return header.value
        case 7:
            return header.value.decode("utf-8")
        case 9:
            return uuid.UUID(bytes=header.value)
    (number,) = _FIXED[header.kind].unpack(header.value)
    return number


def _taken(data: bytes, place: int, length: int) -> tuple[bytes, int]:
    value = data[place : place + length]
    if len(value) < length:
        raise ValueError("the headers end early")
    return value, place + length
