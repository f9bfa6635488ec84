"""Data inside a page: compressed, harmless as markup, the same bytes for the same data."""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, Final

from attrs import frozen
from markupsafe import Markup

__all__ = ["Packed", "as_json", "content_hash", "packed"]

_SHARED_FROM: Final = 200  # characters; shorter texts are cheaper said twice


@frozen
class Packed:
    """Groups of data, each compressed by itself.

    Attributes:
        shared: texts that several groups hold; a group says ``{"$s": 3}`` for the fourth of them.
        groups: in the order in which they were given.
    """

    shared: str
    groups: tuple[str, ...]


def packed(groups: Sequence[Any]) -> Packed:
    """Compress JSON-like groups; long texts that several of them hold are kept once.

    Args:
        groups: of JSON-like data, without a map whose only key is ``$s``.
    """
    held = Counter(text for group in groups for text in dict.fromkeys(_texts(group)))
    shared = [text for text, number in held.items() if number > 1]  # in the order in which they first come
    places = {text: place for place, text in enumerate(shared)}
    return Packed(_compressed(shared), tuple(_compressed(_referring(group, places)) for group in groups))


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        if len(value) >= _SHARED_FROM:
            yield value
    elif isinstance(value, dict):
        for item in value.values():
            yield from _texts(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _texts(item)


def _referring(value: Any, places: dict[str, int]) -> Any:
    if isinstance(value, str):
        place = places.get(value)
        return value if place is None else {"$s": place}
    if isinstance(value, dict):
        return {key: _referring(item, places) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_referring(item, places) for item in value]
    return value


def _compressed(data: Any) -> str:
    """Base64 of gzip of JSON; base64 holds no character that means anything in HTML."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return base64.b64encode(gzip.compress(text.encode(), 9, mtime=0)).decode("ascii")


def as_json(data: Any) -> Markup:
    """JSON that may stand inside a script element: it can neither end it nor begin a comment."""
    text = json.dumps(data, ensure_ascii=True, separators=(",", ":"), allow_nan=False)
    return Markup(text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026"))  # noqa: S704  # escaped


def content_hash(text: str) -> str:
    """The hash by which a content security policy lets an inline script or style through."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode('ascii')}'"
