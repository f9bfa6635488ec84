"""Adapters of libraries that take long to import: what is imported already is patched, the rest when it is imported."""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from importlib import metadata
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

from .patches import Patches

__all__ = ["Patching", "WhenImported"]

Patching = Callable[[Patches, Any], None]
"""Replaces attributes of a module; an `AttributeError` says that this version has not what is needed."""

_log = logging.getLogger("trialtape")


class WhenImported:
    """An adapter that imports nothing: it patches modules that the program imports, now or later.

    Args:
        name: of the adapter.
        distribution: whose modules these are.
        modules: by name, how each is patched.
        needs: the versions that have what is needed, for people.
    """

    def __init__(self, name: str, distribution: str, modules: Mapping[str, Patching], needs: str) -> None:
        self.name = name
        self._distribution = distribution
        self._modules = modules
        self._needs = needs
        self._patches: dict[str, Patches] = {}
        self._finder: _Finder | None = None

    def versions(self) -> dict[str, str]:
        """The installed version; empty if it is not installed. Imports nothing."""
        with suppress(metadata.PackageNotFoundError):
            return {self._distribution: metadata.version(self._distribution)}
        return {}

    def install(self) -> None:
        """Patch what is imported, and watch for the rest. A second call does nothing."""
        if self._finder is not None:
            return
        self._finder = _Finder(self._modules, self._patch)
        sys.meta_path.insert(0, self._finder)
        for name in self._modules:
            if name in sys.modules:
                self._patch(name, sys.modules[name])

    def uninstall(self) -> None:
        """Put back the originals."""
        if self._finder is not None:
            with suppress(ValueError):  # a program may have put `sys.meta_path` in order itself
                sys.meta_path.remove(self._finder)
            self._finder = None
        for patches in self._patches.values():
            patches.restore()
        self._patches.clear()

    def patched(self) -> list[str]:
        """The dotted names that are patched right now."""
        return [name for patches in self._patches.values() for name in patches.names()]

    def _patch(self, name: str, module: Any) -> None:
        if self._finder is None or name in self._patches:
            return
        patches = self._patches[name] = Patches()
        try:
            self._modules[name](patches, module)
        except AttributeError as error:
            patches.restore()
            for distribution, version in self.versions().items():  # else it is a module of that name of somebody else's
                _log.warning("%s %s is not captured (%s): this needs %s", distribution, version, error, self._needs)


class _Finder:
    """Finds nothing by itself: it lets the others find a module, and is told when that has been executed."""

    def __init__(self, names: Mapping[str, Any], then: Callable[[str, ModuleType], None]) -> None:
        self._names = names
        self._then = then

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """The module as the other finders find it."""
        if name not in self._names:
            return None
        finders = (finder for finder in sys.meta_path if finder is not self and hasattr(finder, "find_spec"))
        spec = next((found for finder in finders if (found := finder.find_spec(name, path, target))), None)
        if spec is not None and spec.loader is not None:
            self._follow(spec.loader, name)
        return spec

    def _follow(self, loader: Any, name: str) -> None:
        execute = loader.exec_module

        def exec_module(module: ModuleType) -> None:
            del loader.exec_module  # which is the class's own again
            execute(module)
            self._then(name, module)

        loader.exec_module = exec_module
