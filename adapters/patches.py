"""Attributes replaced in other people's modules, and put back exactly; what the adapters that do so have in common."""

from __future__ import annotations

import functools
import platform
from collections.abc import Callable
from contextlib import suppress
from importlib import metadata
from types import CellType
from typing import Any, Final

__all__ = ["Patches", "PatchingAdapter"]

_ABSENT: Final = object()


class Patches:
    """A list of replaced attributes.

    An attribute that its owner only inherited is deleted again, so that nothing is left behind.
    """

    def __init__(self) -> None:
        self._saved: list[tuple[Any, str, Any, str]] = []

    def put(self, owner: Any, attribute: str, replacement: Any, label: str) -> None:
        """Replace ``owner.attribute``; ``label`` is its owner's name for the reader."""
        self._saved.append((owner, attribute, vars(owner).get(attribute, _ABSENT), f"{label}.{attribute}"))
        setattr(owner, attribute, replacement)

    def wrap(self, owner: Any, attribute: str, make: Callable[[Any], Any], label: str) -> None:
        """Replace ``owner.attribute`` with what ``make`` makes of it, which keeps its name and its docstring."""
        original = getattr(owner, attribute)
        self.put(owner, attribute, functools.wraps(original)(make(original)), label)

    def fill(self, cell: CellType, replacement: Any, label: str) -> None:
        """Replace what a closure holds, so that its function is another for all who have imported it by name."""
        self._saved.append((cell, "cell_contents", cell.cell_contents, label))
        cell.cell_contents = replacement

    def restore(self) -> None:
        """Put every original back, the last replacement first."""
        while self._saved:
            owner, attribute, original, _ = self._saved.pop()
            if original is _ABSENT:
                delattr(owner, attribute)
            else:
                setattr(owner, attribute, original)

    def names(self) -> list[str]:
        """The dotted names of what is replaced right now."""
        return [label for *_, label in self._saved]

    def __bool__(self) -> bool:
        return bool(self._saved)


class PatchingAdapter:
    """What adapters share that replace attributes; each has an ``install`` of its own.

    Attributes:
        distributions: whose installed versions are told; none tells Python's, whose classes it patches.
    """

    distributions: tuple[str, ...] = ()

    def __init__(self) -> None:
        self._patches = Patches()

    def versions(self) -> dict[str, str]:
        """The installed versions of what is captured; empty if it is not installed. Imports nothing."""
        if not self.distributions:
            return {"python": platform.python_version()}
        found = {}
        for name in self.distributions:
            with suppress(metadata.PackageNotFoundError):
                found[name] = metadata.version(name)
        return found

    def uninstall(self) -> None:
        """Put back the originals."""
        self._patches.restore()

    def patched(self) -> list[str]:
        """The dotted names that are patched right now."""
        return self._patches.names()
