"""Which part of a value cannot be kept."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from .classes import fields_of
from .errors import UnkeepableValue

__all__ = ["UNPACKABLE", "Packer", "blaming"]

Packer = Callable[[Any], bytes]
"""Packs one value."""

UNPACKABLE: Final = (TypeError, ValueError, RecursionError, OverflowError)
"""What packing raises for a value without a lossless form."""

_DEEPEST: Final = 100


def blaming(value: Any, packer: Packer) -> bytes:
    """``packer(value)``, with an error that names the part that cannot be kept.

    Raises:
        UnkeepableValue: something in it has no lossless form; names its path.
    """
    try:
        return packer(value)
    except UNPACKABLE as error:
        raise UnkeepableValue(*_blame(value, "value", packer, 0)) from error


def _blame(value: Any, path: str, packer: Packer, depth: int) -> tuple[str, str]:
    """The path of the innermost part of ``value`` that cannot be packed, and why."""
    if depth > _DEEPEST:
        return path, "is nested too deeply, or contains itself"
    for name, part in _children(value):
        if _failure(part, packer) is not None:
            return _blame(part, path + name, packer, depth + 1)
    return path, _failure(value, packer) or "has no lossless form"


def _children(value: Any) -> list[tuple[str, Any]]:
    if isinstance(value, dict):
        pairs = [(f"[{key!r}]" if not isinstance(key, str) else f".{key}", item) for key, item in value.items()]
        return pairs + [(f".<key {key!r}>", key) for key in value if not isinstance(key, str)]
    if isinstance(value, list | set | frozenset) or (isinstance(value, tuple) and not hasattr(value, "_fields")):
        return [(f"[{place}]", item) for place, item in enumerate(value)]
    if isinstance(value, type):
        return []
    arguments = value.args if isinstance(value, BaseException) else ()
    return [
        *((f".args[{place}]", item) for place, item in enumerate(arguments)),
        *((f".{name}", item) for name, item in fields_of(value).items()),
    ]


def _failure(value: Any, packer: Packer) -> str | None:
    try:
        packer(value)
    except RecursionError:
        return "is nested too deeply, or contains itself"
    except UNPACKABLE as error:
        return str(error)
    return None
