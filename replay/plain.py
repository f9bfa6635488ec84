"""Recorded values as JSON-like data: one way only, for readers and for other tools."""

from __future__ import annotations

import base64
import datetime as dt
import math
from collections.abc import Mapping
from decimal import Decimal
from enum import Enum
from pathlib import PurePath
from typing import Any
from uuid import UUID

from cassettes.classes import fields_of
from cassettes.values import Opaque

__all__ = ["plain"]


def plain(value: Any) -> Any:
    """A recorded value as JSON-like data; what JSON cannot hold as ``{"$type": ...}``."""
    if type(value) in {str, int, bool, type(None)}:
        return value
    if type(value) is float:
        return value if math.isfinite(value) else _typed("float", text=repr(value))
    if type(value) is list:
        return [plain(item) for item in value]
    if isinstance(value, Mapping):
        return _mapping(value)
    if isinstance(value, bytes | bytearray):
        return _typed(type(value).__name__, base64=base64.b64encode(value).decode())
    if isinstance(value, set | frozenset) or type(value) is tuple:
        return _typed(type(value).__name__, items=[plain(item) for item in value])
    if isinstance(value, dt.date | dt.time):
        return _typed(type(value).__name__, text=value.isoformat())
    if isinstance(value, dt.timedelta):
        return _typed("timedelta", seconds=value.total_seconds())
    if isinstance(value, Decimal | UUID | complex | PurePath):
        return _typed(type(value).__name__, text=str(value))
    return _object(value)


def _mapping(value: Mapping[Any, Any]) -> dict[str, Any]:
    if all(type(key) is str for key in value):
        return {key: plain(item) for key, item in value.items()}
    return _typed("dict", items=[[plain(key), plain(item)] for key, item in value.items()])


def _object(value: Any) -> dict[str, Any]:
    if isinstance(value, Opaque):
        return _typed(value.name, fields=plain(value.fields))
    name = f"{type(value).__module__}:{type(value).__qualname__}"
    if isinstance(value, Enum):
        return _typed(name, name=value.name, value=plain(value.value))
    if isinstance(value, BaseException):
        fields = {"fields": plain(found)} if (found := fields_of(value)) else {}
        return _typed(name, text=str(value), args=plain(list(value.args)), **fields)
    return _typed(name, fields=plain(fields_of(value)))


def _typed(name: str, /, **content: Any) -> dict[str, Any]:
    return {"$type": name, **content}
