"""The adapters' patches: found by entry point, installed once for all trials of the process, and removed with the last.

Any distribution may offer an adapter under the entry-point group ``trialtape.adapters``.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from importlib.metadata import entry_points
from typing import Protocol

from cassettes.errors import BadInput

__all__ = ["Adapter", "adapters", "patched"]


class Adapter(Protocol):
    """What an entry point of the group gives."""

    name: str

    def versions(self) -> dict[str, str]:
        """The installed versions of the libraries it adapts; empty if none is installed."""

    def install(self) -> None:
        """Patch the library, if it is installed; doing so twice does nothing."""

    def uninstall(self) -> None:
        """Restore exactly what was there before."""

    def patched(self) -> list[str]:
        """The dotted names that are patched right now."""


@cache
def adapters() -> tuple[Adapter, ...]:
    """All adapters, by name.

    Raises:
        BadInput: one cannot be loaded.
    """
    found: list[Adapter] = []
    for entry in sorted(entry_points(group="trialtape.adapters"), key=lambda e: e.name):
        try:
            found.append(entry.load())
        except (ImportError, AttributeError) as error:
            raise BadInput(
                f"the adapter {entry.name} ({entry.value}) cannot be loaded: {error}; see `trialtape doctor`"
            ) from error
    return tuple(found)


_lock = threading.Lock()
_holders = 0


@contextmanager
def patched() -> Iterator[None]:
    """Keep the patches installed during this block; blocks may overlap in any order."""
    global _holders  # noqa: PLW0603  # the patches are process-wide, and so is their count
    with _lock:
        if _holders == 0:
            try:
                for adapter in adapters():
                    adapter.install()
            except BaseException:
                _uninstall()
                raise
        _holders += 1
    try:
        yield
    finally:
        with _lock:
            _holders -= 1
            if _holders == 0:
                _uninstall()


def _uninstall() -> None:
    for adapter in adapters():
        adapter.uninstall()
