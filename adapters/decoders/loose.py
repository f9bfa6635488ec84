"""Reading JSON that a peer may have damaged: what is not as asked for is absent, and nothing raises."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, TypeVar

__all__ = [
    "count",
    "dumped",
    "failure",
    "fault",
    "first",
    "first_choice",
    "joined",
    "last",
    "list_of",
    "looks_like_json",
    "map_of",
    "maps_of",
    "parsed",
    "problem",
    "text_of",
    "total",
    "values_in",
]

T = TypeVar("T")

_DECODER: Final = json.JSONDecoder()


def parsed(body: str | bytes) -> Any:
    """Parsed JSON, or None."""
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        return None


def values_in(text: str) -> Iterator[Any]:
    """The JSON values that stand in a row, or in an array that may be cut off."""
    place = 0
    while True:
        while place < len(text) and text[place] in " \t\r\n,[]":
            place += 1
        try:
            value, place = _DECODER.raw_decode(text, place)
        except (ValueError, RecursionError):
            return
        yield value


def looks_like_json(data: bytes) -> bool:
    """True for a body that begins with an object or an array: no stream of events does."""
    return data.lstrip()[:1] in {b"{", b"["}


def dumped(value: Any) -> str:
    """The text of a value; a text stays as it is, and None is none.

    What a provider sends parsed is written as a model would have written it.
    """
    if isinstance(value, str):
        return value
    try:
        return "" if value is None else json.dumps(value, ensure_ascii=False)
    except (ValueError, RecursionError):
        return ""


def problem(data: Any) -> str | None:
    """The message of an error body, in the shapes that servers use; None if this is none."""
    fields = map_of(data[0]) if isinstance(data, list) and len(data) == 1 else map_of(data)
    for error in (fields.get("error"), fields if fields.get("object") == "error" else None, fields.get("detail")):
        if isinstance(error, dict):
            return text_of(error.get("message")) or dumped(error)
        if error:
            return dumped(error)
    return None


def failure(status: int, data: Any) -> str:
    """The message of an answer that is an error by its status."""
    fields = map_of(data)
    return problem(data) or text_of(fields.get("message")) or text_of(fields.get("Message")) or f"HTTP {status}"


def fault(status: int, data: Any) -> str | None:
    """The message of an answer that is an error by its status or by its body; None if it is none."""
    return failure(status, data) if status >= 400 else problem(data)


def first_choice(choices: Any) -> Mapping[str, Any]:
    """Of several answers the one that stands for the reply: the first; a 0 may be left out."""
    return next((choice for choice in maps_of(choices) if choice.get("index") in (0, None)), {})


def map_of(value: Any) -> Mapping[str, Any]:
    """The object, or an empty one."""
    return value if isinstance(value, dict) else {}


def list_of(value: Any) -> list[Any]:
    """The array, or an empty one."""
    return value if isinstance(value, list) else []


def maps_of(value: Any) -> list[Mapping[str, Any]]:
    """The objects in an array."""
    return [item for item in list_of(value) if isinstance(item, dict)]


def text_of(value: Any) -> str | None:
    """The string."""
    return value if isinstance(value, str) else None


def count(value: Any) -> int | None:
    """The whole number."""
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def total(value: Any, *more: Any) -> int | None:
    """``value`` and those of the others that are numbers; None if ``value`` is none."""
    known = count(value)
    return None if known is None else known + sum(count(other) or 0 for other in more)


def joined(parts: Iterable[str | None]) -> str | None:
    """The texts in a row; None if there is none, which differs from an empty one."""
    texts = [part for part in parts if part is not None]
    return "".join(texts) if texts else None


def first(values: Iterable[T | None]) -> T | None:
    """The first value that is there."""
    return next((value for value in values if value is not None), None)


def last(values: Iterable[T | None]) -> T | None:
    """The last value that is there."""
    return first(reversed(list(values)))
