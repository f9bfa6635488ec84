"""Secrets inside the messages of an AWS event stream: lengths and checksums are made anew around what is replaced.

The payload of a message is JSON, or base64 of JSON in its field ``bytes`` (a model on Bedrock that is invoked with a
response stream), or anything. A reader of the cleaned stream finds the same messages, in the same pieces.
"""

from __future__ import annotations

import base64
import binascii
import json
import re
from collections.abc import Callable, Sequence
from itertools import accumulate, pairwise
from typing import Any, Final

from attrs import evolve, field, frozen

from .events import as_json, change_fields, joined_fields
from .eventstream import CRC, PRELUDE, Frame, begins, framed, frames, outline

__all__ = ["Cleaning", "clean_frames"]

_CODED: Final = "bytes"  # the field that holds base64
_BEGUN: Final = re.compile(rb'"bytes"\s*:\s*"([A-Za-z0-9+/=]*)')
_MOST_HEADER: Final = (1 << 15) - 1  # bytes, of one value
_MOST_DEPTH: Final = 100  # of JSON; what is deeper is taken for text


@frozen
class Cleaning:
    """What removes secrets.

    Attributes:
        texts: of the pieces of one text; gives as many.
        tree: of parsed JSON, its names and the fields with telling names.
        raw: of the pieces of any bytes; gives as many.
        suspects: may these bytes hold a secret; False is certain.
    """

    texts: Callable[[list[str]], list[str]]
    tree: Callable[[Any], Any]
    raw: Callable[[list[bytes]], list[bytes]]
    suspects: Callable[[bytes], bool]


@frozen
class _Opened:
    """A message, opened.

    Attributes:
        text: the JSON text, or the payload.
        event: by the message's type, its parsed JSON; None if it holds none.
        outer: the JSON whose field `_CODED` was the base64 of ``text``; None if there was none.
    """

    frame: Frame
    text: bytes
    event: dict[str, Any] | None = None
    outer: dict[str, Any] | None = field(default=None, eq=False)

    @property
    def kind(self) -> str:
        return _kind(self.frame)


def clean_frames(parts: Sequence[bytes], cleaning: Cleaning) -> list[bytes] | None:
    """The pieces of a stream less the secrets in the joined texts of its messages.

    Returns:
        As many pieces, cut at the same messages and bytes where that can be; None if they are no event stream.
    """
    data = b"".join(parts)
    if not begins(data):
        return None
    opened = [_open(frame) for frame in frames(data)]
    end = opened[-1].frame.stop if opened else 0
    rest = _rest(data, end, [message.event or {} for message in opened], cleaning)
    cleaned = _cleaned(opened, cleaning)
    changes = [
        (message.frame.start, message.frame.stop, _closed(message, text, cleaning))
        for message, text in zip(opened, cleaned, strict=True)
    ]
    changes.append((end, len(data), rest))
    changes = [(start, stop, new) for start, stop, new in changes if data[start:stop] != new]
    return _recut(parts, data, changes) if changes else list(parts)


def _kind(frame: Frame) -> str:
    named = (header.value for header in frame.headers if header.name in {b":event-type", b":exception-type"})
    return next(named, b"").decode("utf-8", "replace")


def _open(frame: Frame) -> _Opened:
    event = _parsed(frame.payload)
    coded = event.get(_CODED) if isinstance(event, dict) else None
    if isinstance(coded, str) and (text := _decoded(coded)) is not None:
        inner = _parsed(text)
        if inner is not None or _is_text(text):
            return _Opened(frame, text, None if inner is None else {_kind(frame): inner}, event)
    return _Opened(frame, frame.payload, None if event is None else {_kind(frame): event})


def _parsed(text: bytes) -> Any:
    """JSON with names or items; None of anything else."""
    if text.lstrip()[:1] not in {b"{", b"["}:
        return None
    try:
        tree = json.loads(text)
        as_json(tree)
    except (ValueError, RecursionError):
        return None
    return tree if text.count(b"{") + text.count(b"[") <= _MOST_DEPTH or _is_flat(tree) else None


def _is_flat(tree: Any) -> bool:
    """True if it is not nested too deeply to be looked through."""
    level = [tree]
    for _ in range(_MOST_DEPTH):
        inner = [node.values() if isinstance(node, dict) else node for node in level]
        level = [item for items in inner for item in items if isinstance(item, dict | list)]
    return not level


def _decoded(coded: str) -> bytes | None:
    try:
        return base64.b64decode(coded, validate=True)
    except (binascii.Error, ValueError):
        return None


def _is_text(data: bytes) -> bool:
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def _cleaned(opened: Sequence[_Opened], cleaning: Cleaning) -> list[bytes]:
    """The text of each message."""
    texts = [message.text for message in opened]
    known = [number for number, message in enumerate(opened) if message.event is not None]
    events = [opened[number].event for number in known]
    for place in change_fields(events, cleaning.texts):
        texts[known[place]] = as_json(opened[known[place]].event[opened[known[place]].kind])  # type: ignore[index]
    for number in known:
        text = texts[number]
        if cleaning.suspects(text) or b"\\u" in text:
            before = json.loads(text)
            after = cleaning.tree(before)
            # What stands over several names of the JSON is looked for last: it may be no JSON any more.
            (texts[number],) = cleaning.raw([text if after == before else as_json(after)])
    others: dict[str, list[int]] = {}
    for number, message in enumerate(opened):
        if message.event is None:
            others.setdefault(message.kind, []).append(number)
    for numbers in others.values():
        pieces = cleaning.raw([texts[number] for number in numbers])
        for number, piece in zip(numbers, pieces, strict=True):
            texts[number] = piece
    return texts


def _closed(message: _Opened, text: bytes, cleaning: Cleaning) -> bytes:
    """The message around the cleaned text."""
    payload = text
    if message.outer is not None:
        beside = {name: item for name, item in message.outer.items() if name != _CODED}
        told = cleaning.tree(beside) if cleaning.suspects(as_json(beside)) else beside
        same = text == message.text and told == beside
        coded = {_CODED: base64.b64encode(text).decode()}
        payload = message.frame.payload if same else as_json(coded | told)
    headers = (
        evolve(header, value=cleaning.raw([header.value])[0][:_MOST_HEADER]) if header.has_text else header
        for header in message.frame.headers
    )
    return framed(headers, payload)


def _rest(data: bytes, start: int, events: Sequence[Any], cleaning: Cleaning) -> bytes:
    """What stands behind the last whole message.

    Nobody reads a message that is not whole. Of one that may hold a secret, or the end of one, only the lengths stay.
    """
    rest = data[start:]
    place = outline(data, start)
    if place is None or len(rest) >= place[1] - start:
        (cleaned,) = cleaning.raw([rest])  # damaged, if there is enough of it to tell
        return cleaned
    payload = data[place[0] :]
    coded = found[1].decode() if (found := _BEGUN.search(payload)) else ""
    inside = _decoded(coded[: len(coded) // 4 * 4]) or b""
    words = [word for text in (payload, inside) for word in text.split(b'"')]
    told = [text.encode("utf-8", "surrogatepass") for text in joined_fields(events)]
    suspicious = any(map(cleaning.suspects, (rest, inside, *(text + word for text in told for word in words))))
    return rest[:PRELUDE] if suspicious else rest


def _recut(parts: Sequence[bytes], data: bytes, changes: Sequence[tuple[int, int, bytes]]) -> list[bytes]:
    """The pieces of the changed stream: each cut stands where it stood, if those bytes are still there."""
    new: list[bytes] = []
    places: list[tuple[int, int, int, bytes]] = []  # a changed stretch, its new beginning, and what stands there now
    at = length = 0
    for start, stop, text in changes:
        new += [data[at:start], text]
        length += start - at
        places.append((start, stop, length, text))
        length += len(text)
        at = stop
    whole = b"".join([*new, data[at:]])
    cuts = [_moved(cut, data, places) for cut in accumulate(map(len, parts), initial=0)]
    return [whole[a:b] for a, b in pairwise(cuts)]


def _moved(cut: int, data: bytes, places: Sequence[tuple[int, int, int, bytes]]) -> int:
    """Where a cut of the old stream stands in the new one."""
    shift = 0
    for start, stop, begin, text in places:
        if cut <= start:
            break
        if cut < stop:
            return begin + _inside(cut - start, data[start:stop], text)
        shift = begin + len(text) - stop
    return cut + shift


def _inside(cut: int, old: bytes, new: bytes) -> int:
    """The same within one message; in what was replaced, in proportion."""
    if cut <= PRELUDE:
        return min(cut, len(new))
    if len(old) - cut <= CRC:
        return max(len(new) - (len(old) - cut), 0)
    body, made = old[PRELUDE:-CRC], new[PRELUDE:-CRC]
    head = _same(body, made)
    tail = _same(body[head:][::-1], made[head:][::-1])
    place = cut - PRELUDE
    if place <= head:
        return cut
    if len(body) - place <= tail:
        return len(new) - (len(old) - cut)
    return PRELUDE + head + (place - head) * (len(made) - head - tail) // (len(body) - head - tail)


def _same(one: bytes, other: bytes) -> int:
    """How many bytes are the same at the beginning."""
    return next((n for n, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))
