"""Exceptions that hold live objects (a pool, a connection): kept without them, and given those of the replay."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .exchange import bare

__all__ = ["attached", "detached"]


def detached(error: BaseException, live: tuple[type, ...]) -> BaseException:
    """A bare copy in which an object of the classes ``live`` is None, and exceptions that it holds are bare, too."""

    def kept(value: Any) -> Any:
        if isinstance(value, live):
            return None
        return detached(value, live) if isinstance(value, BaseException) else value

    copy = bare(error)
    copy.args = tuple(kept(argument) for argument in error.args)
    for name, value in vars(copy).items():
        setattr(copy, name, kept(value))
    return copy


def attached(error: BaseException, fields: Mapping[str, Any], argument: Any) -> BaseException:
    """A copy that can be raised: `detached` fields get what ``fields`` names, detached arguments ``argument``."""
    copy = bare(error)
    copy.args = tuple(argument if value is None else value for value in error.args)
    for name, value in vars(copy).items():
        if value is None and name in fields:
            setattr(copy, name, fields[name])
    return copy
