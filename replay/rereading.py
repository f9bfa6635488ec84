"""A model's reply read again from an outcome, by what other distributions know of protocols.

They offer it under the entry-point group ``trialtape.replies``, as a function of call and outcome.
"""

from __future__ import annotations

from functools import cache
from importlib.metadata import entry_points
from typing import Any

from cassettes.errors import BadInput
from cassettes.model import Call, Outcome, Reply

__all__ = ["reread"]


@cache
def _readers() -> tuple[Any, ...]:
    try:
        return tuple(entry.load() for entry in sorted(entry_points(group="trialtape.replies"), key=lambda e: e.name))
    except (ImportError, AttributeError) as error:
        raise BadInput(f"what reads replies cannot be loaded: {error}; see `trialtape doctor`") from error


def reread(call: Call, outcome: Outcome) -> Reply | None:
    """The reply that the outcome holds; None if nobody knows the call's protocol.

    Raises:
        BadInput: a reader cannot be loaded.
    """
    found: list[Reply | None] = [reader(call, outcome) for reader in _readers()]
    return next((reply for reply in found if reply is not None), None)
