"""Texts that arrive in pieces inside server-sent events: each event holds a few letters, as JSON."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from typing import Any

__all__ = ["change_texts"]

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
    events: list[tuple[int, int, Any]] = []
    fields: dict[Path, list[tuple[int, Any, Any]]] = {}
    for match in _EVENT.finditer(stream) if b"data:" in stream else ():
        try:
            event = json.loads(match["json"])
            texts = list(_texts(event, ()))
        except (ValueError, RecursionError):
            continue
        for path, holder, key in texts:
            fields.setdefault(path, []).append((len(events), holder, key))
        events.append((*match.span("json"), event))
    changed: set[int] = set()
    for places in fields.values():
        before = [holder[key] for _, holder, key in places]
        after = change(before)
        for (number, holder, key), old, new in zip(places, before, after, strict=True):
            if old != new:
                holder[key] = new
                changed.add(number)
    return [(start, stop, _json(event)) for start, stop, event in (events[number] for number in sorted(changed))]


def _texts(node: Any, path: Path) -> Iterator[tuple[Path, Any, Any]]:
    """Each text in parsed JSON: its path, and what holds it under which key."""
    pairs = node.items() if isinstance(node, dict) else enumerate(node)
    for key, item in pairs:
        if isinstance(item, str):
            yield (*path, key), node, key
        elif isinstance(item, dict | list):
            yield from _texts(item, (*path, key))


def _json(event: Any) -> bytes:
    return json.dumps(event, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")
