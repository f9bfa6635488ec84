"""The adapters' patches: found by entry point, installed once for all trials of the process, and removed with the last.

Any distribution may offer an adapter under the entry-point group ``trialtape.adapters``.
"""

from __future__ import annotations

import os
import threading
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import Protocol

from cassettes.errors import BadInput

__all__ = ["Adapter", "adapters", "ambient_adapters", "patched"]


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
    """All adapters of calls, by name.

    Raises:
        BadInput: one cannot be loaded.
    """
    return tuple(_loaded(entry) for entry in sorted(entry_points(group="trialtape.adapters"), key=lambda e: e.name))


@cache
def ambient_adapters(kinds: tuple[str, ...]) -> tuple[Adapter, ...]:
    """The adapters of the clock and of randomness that ``kinds`` names.

    Raises:
        BadInput: one cannot be loaded.
    """
    return tuple(_loaded(entry) for kind in kinds for entry in entry_points(group="trialtape.ambient", name=kind))


def _loaded(entry: EntryPoint) -> Adapter:
    try:
        adapter: Adapter = entry.load()
    except ModuleNotFoundError as error:
        if error.name != "time_machine":
            raise BadInput(_broken(entry, error)) from error
        raise BadInput(
            "the clock is recorded and frozen with time-machine, which is not installed: "
            "pip install 'trialtape[ambient]'"
        ) from error
    except (ImportError, AttributeError) as error:
        raise BadInput(_broken(entry, error)) from error
    return adapter


def _broken(entry: EntryPoint, error: Exception) -> str:
    return f"the adapter {entry.name} ({entry.value}) cannot be loaded: {error}; see `trialtape doctor`"


_lock = threading.Lock()
_holders: Counter[Adapter] = Counter()


@contextmanager
def patched(ambient: tuple[str, ...] = ()) -> Iterator[None]:
    """Keep the patches of all adapters, and of those of ``ambient``, installed during this block.

    Blocks may overlap in any order.
    """
    wanted = (*adapters(), *ambient_adapters(ambient))
    with _lock:
        done: list[Adapter] = []
        try:
            for adapter in wanted:
                done.append(adapter)
                _holders[adapter] += 1
                if _holders[adapter] == 1:
                    adapter.install()
        except BaseException:
            _release(done)
            raise
    try:
        yield
    finally:
        with _lock:
            _release(wanted)


def _release(held: Iterable[Adapter]) -> None:
    for adapter in held:
        _holders[adapter] -= 1
        if _holders[adapter] == 0:
            adapter.uninstall()


def _after_fork() -> None:
    """In a forked child the lock may be held by a thread that is not there."""
    global _lock  # noqa: PLW0603  # of the process
    _lock = threading.Lock()


os.register_at_fork(after_in_child=_after_fork)
