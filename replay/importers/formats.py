"""Cassette formats of other tools: found by entry point, so that no adapter is imported here.

Any distribution may offer a format under the entry-point group ``trialtape.cassette_formats``.
"""

from __future__ import annotations

from collections.abc import Iterable
from importlib.metadata import entry_points
from pathlib import Path
from typing import Protocol

from cassettes.errors import BadInput
from cassettes.model import Call, Interaction, Outcome, Reply

__all__ = ["CassetteFormat", "format_named"]


class CassetteFormat(Protocol):
    """What an entry point of the group gives."""

    name: str

    def read(self, path: str | Path) -> list[tuple[Call, Outcome, Reply | None]]:
        """The exchanges of a file, in its order."""

    def write(self, path: str | Path, interactions: Iterable[Interaction]) -> tuple[int, int]:
        """Write what the format can hold; returns how many were written, and how many left out."""


def format_named(name: str) -> CassetteFormat:
    """The format of that name.

    Raises:
        BadInput: no installed distribution offers it, or it cannot be loaded.
    """
    found = entry_points(group="trialtape.cassette_formats", name=name)
    if not found:
        raise BadInput(f"the cassette format {name} is not registered: reinstall trialtape (see `trialtape doctor`)")
    entry = next(iter(found))
    try:
        loaded: CassetteFormat = entry.load()
    except (ImportError, AttributeError) as error:
        raise BadInput(f"the cassette format {name} ({entry.value}) cannot be loaded: {error}") from error
    return loaded
