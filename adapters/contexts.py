"""Work that is carried out elsewhere, in the context of whoever submitted it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextvars import Context
from typing import Any, Final

__all__ = ["carrying", "drawn"]

_END: Final = object()


def carrying(function: Any, context: Context) -> Any:
    """``function`` in a copy of the context for each call: one context cannot be entered twice at once."""

    def carried(*args: Any, **kwargs: Any) -> Any:
        return context.copy().run(function, *args, **kwargs)

    return carried


def drawn(iterable: Iterable[Any], context: Context) -> Iterator[Any]:
    """What ``iterable`` gives, each item drawn in the context."""
    iterator = context.run(iter, iterable)
    while (item := context.run(next, iterator, _END)) is not _END:
        yield item
