"""Arguments that a tool changes in place: seen while recording, done again in replay."""

from __future__ import annotations

import datetime as dt
import uuid
from collections import deque
from collections.abc import Mapping
from decimal import Decimal
from typing import Any, Final

from cassettes.errors import CassetteError, UnkeepableValue
from cassettes.model import Changed
from cassettes.values import pack

__all__ = ["changed", "redo", "snapshot"]

# What cannot change needs no look; most calls have nothing else.
_FIXED: Final = frozenset({
    type(None), bool, int, float, complex, str, bytes, Decimal, uuid.UUID, dt.datetime, dt.date, dt.time, dt.timedelta,
})  # fmt: skip


def redo(changes: Changed, arguments: Mapping[str, Any]) -> None:
    """Change the caller's arguments as the tool did.

    Raises:
        CassetteError: an argument is of a class that cannot be changed from outside.
    """
    for name, after in changes.arguments.items():
        _become(name, arguments.get(name), after)


def snapshot(arguments: Mapping[str, Any]) -> dict[str, bytes]:
    """The packed form of every argument that could change; those that cannot be packed are not watched."""
    packed = {}
    for name, value in arguments.items():
        if type(value) not in _FIXED:
            try:
                packed[name] = pack(value)
            except UnkeepableValue:
                continue
    return packed


def changed(before: Mapping[str, bytes], arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments that are no longer what they were."""
    now = snapshot({name: arguments[name] for name in before})
    return {name: arguments[name] for name, packed in before.items() if now.get(name) != packed}


def _become(name: str, value: Any, after: Any) -> None:
    if value is after:  # live: it was changed by the tool itself
        return
    if type(value) is not type(after):
        raise CassetteError(f"argument {name!r}: the recorded call changed a {type(after).__name__} in place")
    if isinstance(value, list | bytearray):
        value[:] = after
    elif isinstance(value, deque):
        value.clear()
        value.extend(after)
    elif isinstance(value, dict | set):
        value.clear()
        value.update(after)
    elif hasattr(value, "__dict__"):
        vars(value).clear()
        vars(value).update(vars(after))
    else:
        raise CassetteError(
            f"argument {name!r}: the recorded call changed a {type(value).__name__} in place, which a replay cannot; "
            "let the tool return the change instead"
        )
