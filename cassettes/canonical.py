"""The identity of values: canonical bytes, and digests of them.

Two values have the same canonical bytes if they are equal with equal types: the order of keys does not count, and 1,
True and 1.0 stay apart. Values that are equal but print differently (-0.0 and 0.0, 1.0 and 1.00) stay apart too.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from hashlib import blake2b
from operator import itemgetter
from typing import Any, Final

from .model import Call
from .values import Layer, blaming

__all__ = ["canonical", "digest", "digest_bytes", "key_of", "without"]


_STEPS: Final = re.compile(r"\[[^\]]*\]|[^.\[]+")


def canonical(value: Any) -> bytes:
    """The canonical bytes of ``value``.

    Raises:
        UnkeepableValue: something in it has no lossless form; names its path.
    """
    return blaming(value, _canonical)


def digest(value: Any) -> str:
    """BLAKE2b-128 of the canonical bytes, 32 hex digits."""
    return digest_bytes(canonical(value))


def digest_bytes(data: bytes) -> str:
    """BLAKE2b-128 of ``data``, 32 hex digits."""
    return blake2b(data, digest_size=16).hexdigest()


def key_of(call: Call, ignore: Iterable[str] = ()) -> str:
    """What makes two calls the same call: actor, kind, name, endpoint and arguments less the ignored ones.

    Args:
        call: the call.
        ignore: paths below the arguments that do not count (see `without`).
    """
    arguments = without(dict(call.arguments), ignore)
    return digest_bytes(canonical([call.actor, call.kind, call.name, call.endpoint, arguments]))


def without(value: Any, paths: Iterable[str]) -> Any:
    """``value`` less what stands at ``paths``, such as ``metadata.request_id``, ``items[0].id`` or ``items[*].id``.

    ``*`` is every key of a map that has none of that name, as in ``orders.*.created``. A field is left out; an item of
    a list becomes None, so that the others keep their places.
    """
    for path in paths:
        value = _without(value, _STEPS.findall(path))
    return value


def _ordered(value: Any) -> Any:
    kind = type(value)
    if kind is dict:
        if all(type(key) is str for key in value):
            items = sorted(value.items(), key=itemgetter(0))
        else:
            items = sorted(value.items(), key=lambda item: _canonical(item[0]))
        return {key: _ordered(item) for key, item in items}
    if kind is list:
        return [_ordered(item) for item in value]
    return value


def _without(value: Any, path: list[str]) -> Any:
    if not path:
        return None
    head, *rest = path
    if isinstance(value, list) and head[0] == "[":
        place = head[1:-1]
        return [_without(item, rest) if place in {"*", str(n)} else item for n, item in enumerate(value)]
    if not isinstance(value, dict):
        return value
    if head == "*" and head not in value:
        return {key: _without(item, rest) for key, item in value.items()} if rest else {}
    if head not in value:
        return value
    if not rest:
        return {key: item for key, item in value.items() if key != head}
    return {key: _without(item, rest) if key == head else item for key, item in value.items()}


_canonical: Final = Layer(_ordered)
