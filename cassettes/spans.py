"""Spans of bytes that are replaced in a text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

__all__ = ["Span", "splice", "united", "within"]

Span = tuple[int, int, bytes]
"""Bytes from, to, and what stands there instead."""


def within(span: tuple[int, int], replaced: Sequence[tuple[int, int]]) -> bool:
    """True unless ``span`` holds something that is no placeholder yet, and no part of one."""
    start, stop = span
    return any(
        (a <= start < b or a < stop <= b) and not (start <= a and b <= stop and b - a < stop - start)
        for a, b in replaced
    )


def united(found: Sequence[tuple[int, int, int]]) -> Iterator[tuple[int, int, int]]:
    """Spans that overlap as one, with the first rule among them."""
    current: tuple[int, int, int] | None = None
    for start, stop, rank in found:
        if current is not None and start < current[1]:
            current = (current[0], max(stop, current[1]), min(rank, current[2]))
            continue
        if current is not None:
            yield current
        current = (start, stop, rank)
    if current is not None:
        yield current


def splice(pieces: Sequence[bytes], spans: Sequence[Span]) -> list[bytes]:
    """Replace byte spans of the joined pieces; the new text stands in the piece where its span began."""
    result: list[bytes] = []
    offset = 0
    for piece in pieces:
        end, out, at = offset + len(piece), b"", offset
        for start, stop, new in spans:
            if stop <= at or start >= end:
                continue
            if start >= at:
                out += piece[at - offset : start - offset] + new
            at = min(stop, end)
        result.append(out + piece[at - offset :])
        offset = end
    return result
