"""The index of a cassette: read from its footer, or rebuilt from the frames of a file that has none."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Final

import zstandard
from attrs import field, frozen

from . import codec, frames
from .errors import CorruptCassette
from .model import Ending
from .table import Table
from .values import unpack

__all__ = ["Index", "inflate", "inflate_all", "read_footer", "rebuild_index"]

_PIECE: Final = 1 << 20
_MAX_WINDOW: Final = 1 << 27


@frozen
class Index:
    """What a footer says.

    Attributes:
        end: where the content ends and the footer begins, or would begin.
    """

    ending: Ending
    counts: dict[str, int]
    redacted: dict[str, int]
    digest: str | None
    messages: int
    table: Table
    end: int = field(kw_only=True)


def read_footer(frame: frames.Frame) -> Index:
    """The index in a footer.

    Raises:
        CorruptCassette: the footer has another shape.
    """
    footer = unpack(inflate(frame.payload, frame.plain))
    try:
        return Index(
            codec.ending_from(footer["ending"]),
            dict(footer["counts"]),
            dict(footer["redacted"]),
            footer["digest"],
            footer["messages"],
            Table.unpack(footer),
            end=frame.offset,
        )
    except (LookupError, TypeError, ValueError) as error:
        raise CorruptCassette(f"the footer has an unknown shape: {error}") from error


def rebuild_index(found: Iterable[frames.Frame], start: int) -> Index:
    """The index of ``found``, the frames from byte ``start`` on, up to the first that cannot be read."""
    table, counts = Table(), Counter[str]()
    messages, end = 0, start
    for stretch in _stretches(found):
        try:
            contents = inflate_all(stretch)
            for frame, plain in zip(stretch, contents, strict=True):
                parts = codec.split(plain)
                step, counted = parts.index()
                table.add(frame.offset, step, messages, restart=frame.restart)
                messages += len(parts.messages)
                counts.update(counted)
                end = frame.end
        except (CorruptCassette, ValueError):
            break
    ending = Ending("incomplete", "the recording has no end")
    return Index(ending, dict(counts), {}, None, messages, table, end=end)


def _stretches(found: Iterable[frames.Frame]) -> Iterable[list[frames.Frame]]:
    """Frames of steps, grouped by the streams they belong to."""
    stretch: list[frames.Frame] = []
    for frame in found:
        if frame.type != frames.STEPS:
            continue
        if frame.restart and stretch:
            yield stretch
            stretch = []
        stretch.append(frame)
    if stretch:
        yield stretch


def inflate_all(stretch: Sequence[frames.Frame]) -> list[bytes]:
    """The content of each frame of a stretch.

    Raises:
        CorruptCassette: it is damaged, or of another length than it says.
    """
    plain = inflate(b"".join(frame.payload for frame in stretch), sum(frame.plain for frame in stretch))
    contents: list[bytes] = []
    at = 0
    for frame in stretch:
        contents.append(plain[at : at + frame.plain])
        at += frame.plain
    return contents


def inflate(payload: bytes, size: int) -> bytes:
    """Decompress ``payload``, of which exactly ``size`` bytes are expected.

    Memory is taken piece by piece, so a size that is not true costs nothing.

    Raises:
        CorruptCassette: it is damaged, or of another length than it says.
    """
    if size > frames.MAX_PLAIN:
        raise CorruptCassette(f"a stretch of {size} bytes is over the limit of {frames.MAX_PLAIN}")
    pieces: list[bytes] = []
    missing = size + 1  # one more than expected tells whether there is more
    try:
        with zstandard.ZstdDecompressor(max_window_size=_MAX_WINDOW).stream_reader(payload) as reader:
            while missing and (piece := reader.read(min(missing, _PIECE))):
                pieces.append(piece)
                missing -= len(piece)
    except zstandard.ZstdError as error:
        raise CorruptCassette(f"a compressed stretch is damaged: {error}") from error
    if missing != 1:
        raise CorruptCassette(f"a compressed stretch does not hold the {size} bytes that it says")
    return b"".join(pieces)
