"""The file's outermost layer: checked frames, one after the other, appended and never changed.

::

    file    : 8 bytes magic "TRIALTAP", u16 format, u16 zero, u32 zero; then frames; then the trailer
    frame   : u32 payload length, u32 plain length, u8 type, u8 flags, u16 magic, u64 check, payload
    trailer : u64 offset of the footer frame, 8 bytes magic

All numbers are little-endian. ``check`` is XXH3-64 of the frame's first 12 bytes and the payload, seeded with the
frame's offset, so a frame that stands elsewhere than where it was written does not pass. ``plain length`` bounds
what the payload may decompress to.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Final

import xxhash
from attrs import frozen

__all__ = [
    "FOOTER",
    "FORMAT",
    "HEADER",
    "HEAD_SIZE",
    "RESTART",
    "STEPS",
    "TRAILER_SIZE",
    "Frame",
    "encode",
    "frames",
]

FORMAT: Final = 1
MAGIC: Final = b"TRIALTAP"
TRAILER_MAGIC: Final = b"TRIALEND"
HEAD_SIZE: Final = 16
TRAILER_SIZE: Final = 16
MAX_PAYLOAD: Final = 1 << 30
MAX_PLAIN: Final = 1 << 30  # of a stretch of frames: a cassette is untrusted input

HEADER: Final = 1
STEPS: Final = 2
FOOTER: Final = 0xFE

RESTART: Final = 1  # flag: the zstd stream starts anew in this frame

_HEAD = struct.Struct("<8sHHI")
_FRAME = struct.Struct("<IIBBH")
_CHECK = struct.Struct("<Q")
_TRAILER = struct.Struct("<Q8s")
_FRAME_MAGIC: Final = 0xC5A7
FRAME_SIZE: Final = _FRAME.size + _CHECK.size


@frozen
class Frame:
    """Where a frame stands in the file; ``offset`` is that of its first byte, ``end`` that after its last."""

    offset: int
    type: int
    flags: int
    plain: int
    end: int
    payload: bytes

    @property
    def restart(self) -> bool:
        """True if the zstd stream starts anew here."""
        return bool(self.flags & RESTART)


def head() -> bytes:
    """The first bytes of a file."""
    return _HEAD.pack(MAGIC, FORMAT, 0, 0)


def format_of(data: bytes) -> int | None:
    """The format number in the file's first bytes, or None if it is no cassette."""
    if len(data) < HEAD_SIZE:
        return None
    magic, version, zero, more = _HEAD.unpack_from(data)
    return int(version) if magic == MAGIC and zero == 0 and more == 0 else None


def encode(offset: int, kind: int, flags: int, payload: bytes, plain: int) -> bytes:
    """A frame to be written at ``offset``."""
    front = _FRAME.pack(len(payload), plain, kind, flags, _FRAME_MAGIC)
    check = xxhash.xxh3_64_intdigest(front + payload, seed=offset)
    return front + _CHECK.pack(check) + payload


def trailer(offset: int) -> bytes:
    """The last bytes of a complete file."""
    return _TRAILER.pack(offset, TRAILER_MAGIC)


def footer_offset(data: bytes) -> int | None:
    """Where the footer frame begins, by the file's last bytes; None if they are no trailer."""
    if len(data) < TRAILER_SIZE:
        return None
    offset, magic = _TRAILER.unpack(data[-TRAILER_SIZE:])
    return int(offset) if magic == TRAILER_MAGIC else None


def decode(data: bytes, at: int, offset: int) -> Frame | None:
    """The frame at ``data[at:]``, which stands at ``offset`` in the file; None if it is cut short or damaged."""
    if len(data) - at < FRAME_SIZE:
        return None
    length, plain, kind, flags, magic = _FRAME.unpack_from(data, at)
    start = at + FRAME_SIZE
    if magic != _FRAME_MAGIC or length > MAX_PAYLOAD or len(data) - start < length:
        return None
    payload = data[start : start + length]
    (check,) = _CHECK.unpack_from(data, at + _FRAME.size)
    if xxhash.xxh3_64_intdigest(data[at : at + _FRAME.size] + payload, seed=offset) != check:
        return None
    return Frame(offset, kind, flags, plain, offset + FRAME_SIZE + length, payload)


def frames(data: bytes) -> Iterator[Frame]:
    """The valid frames from the file's start; stops at the first that is cut short or damaged."""
    at = HEAD_SIZE
    while (frame := decode(data, at, at)) is not None:
        yield frame
        at = frame.end
