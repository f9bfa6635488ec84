"""Texts that arrive in pieces inside the events of a stream: each event holds a few letters, as JSON."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

__all__ = ["as_json", "change_fields", "change_texts", "joined_fields"]

_EVENT = re.compile(rb"^data: ?(?P<json>[{\[].*[}\]])[ \t]*\r?$", re.MULTILINE)

Path = tuple[str | int, ...]


def change_texts(stream: bytes, change: Callable[[list[str]], list[str]]) -> list[tuple[int, int, bytes]]:
    """Let ``change`` see the text of each field over all events, in pieces.

    Args:
        stream: server-sent events; anything else is left alone.
        change: gets the pieces of one field; gives the same list, or one of the same length.

    Returns:
        The spans of ``stream`` that hold events which are changed, and their new JSON.
    """
    spans: list[tuple[int, int]] = []
    events: list[Any] = []
    for match in _EVENT.finditer(stream) if b"data:" in stream else ():
        try:
            event = json.loads(match["json"])
            _ = list(_texts(event, ()))
        except (ValueError, RecursionError):
            continue
        spans.append(match.span("json"))
        events.append(event)
    return [(*spans[number], as_json(events[number])) for number in sorted(change_fields(events, change))]


def change_fields(events: Sequence[Any], change: Callable[[list[str]], list[str]]) -> set[int]:
    """Let ``change`` see the text of each field over all events, in pieces, and put back what it gives.

    Args:
        events: parsed JSON, changed in place.
        change: gets the pieces of one field; gives the same list, or one of the same length.

    Returns:
        The numbers of the events that are changed.
    """
    changed: set[int] = set()
    for places in _fields(events).values():
        before = [holder[key] for _, holder, key in places]
        after = change(before)
        for (number, holder, key), old, new in zip(places, before, after, strict=True):
            if old != new:
                holder[key] = new
                changed.add(number)
    return changed


def joined_fields(events: Sequence[Any]) -> list[str]:
    """The text of each field, put together over all events."""
    return ["".join(holder[key] for _, holder, key in places) for places in _fields(events).values()]


def as_json(event: Any) -> bytes:
    """An event as JSON text."""
    return json.dumps(event, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")


def _fields(events: Sequence[Any]) -> dict[Path, list[tuple[int, Any, Any]]]:
    """Of each field the events that hold it, by number, and in them what holds its text under which key."""
    fields: dict[Path, list[tuple[int, Any, Any]]] = {}
    for number, event in enumerate(events):
        for path, holder, key in _texts(event, ()):
            fields.setdefault(path, []).append((number, holder, key))
    return fields


def _texts(node: Any, path: Path) -> Iterator[tuple[Path, Any, Any]]:
    """Each text in parsed JSON: its path, and what holds it under which key."""
    pairs = node.items() if isinstance(node, dict) else enumerate(node)
    for key, item in pairs:
        if isinstance(item, str):
            yield (*path, key), node, key
        elif isinstance(item, dict | list):
            yield from _texts(item, (*path, key))
