"""On whose behalf calls are made: the agent's, unless a block says otherwise."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import get_args

from cassettes.errors import BadInput
from cassettes.model import Actor

__all__ = ["acting_as", "current_actor"]

_actor: ContextVar[str] = ContextVar("trialtape_actor", default="agent")


@contextmanager
def acting_as(actor: str) -> Iterator[None]:
    """Calls in this block are made on behalf of ``actor``, such as the simulated ``user``.

    Raises:
        BadInput: there is no such actor.
    """
    if actor not in get_args(Actor):
        raise BadInput(f"{actor!r} is no actor; it is one of {', '.join(get_args(Actor))}")
    token = _actor.set(actor)
    try:
        yield
    finally:
        _actor.reset(token)


def current_actor() -> str:
    """The actor of calls made in this context."""
    return _actor.get()
