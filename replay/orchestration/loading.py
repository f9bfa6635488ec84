"""Load a suite, a scorer, an agent or an environment from a Python file or module that the user names."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

from cassettes.errors import BadInput, TrialtapeError

__all__ = ["load_agent", "load_from_module", "load_name", "load_object"]


def load_object(spec: str, default: str) -> Any:
    """The object that ``FILE.py:NAME`` names; without a name, ``default``.

    Raises:
        BadInput: the file or the name does not exist, or importing it fails.
    """
    file, _, name = spec.partition(".py:")
    path = Path(f"{file}.py" if name else spec)
    if not path.is_file():
        raise BadInput(f"{path} does not exist; a Python file is needed, or FILE.py:NAME")
    module = _import(path)
    wanted = name or default
    if not hasattr(module, wanted):
        raise BadInput(f"{path} defines no {wanted!r}; name what it defines as {path}:NAME")
    return getattr(module, wanted)


def load_agent(spec: str) -> Callable[[Any], Any]:
    """The agent that ``FILE.py:NAME`` names; without a name, ``agent``.

    Raises:
        BadInput: there is none.
    """
    found: Callable[[Any], Any] = load_object(spec, "agent")
    if not callable(found):
        raise BadInput(f"{spec} names a {type(found).__name__}; an agent is a function of the trial")
    return found


def load_from_module(spec: str) -> Any:
    """The object that ``MODULE:NAME`` names, of a module that is installed or lies here.

    Raises:
        BadInput: the module or the name does not exist, or importing it fails.
    """
    name, _, wanted = spec.partition(":")
    if "" not in sys.path and str(Path.cwd()) not in sys.path:
        sys.path.insert(0, str(Path.cwd()))
    try:
        module = importlib.import_module(name)
    except ModuleNotFoundError as error:
        here = "" if error.name != name.partition(".")[0] else ": it is not installed here, and no file in this folder"
        raise BadInput(f"{name} cannot be imported: {error}{here}") from error
    except TrialtapeError as error:
        raise BadInput(f"{name}: {error}") from error
    except Exception as error:
        raise BadInput(f"{name} cannot be imported: {type(error).__name__}: {error}") from error
    if not hasattr(module, wanted):
        raise BadInput(f"module {name} has no {wanted!r}")
    return getattr(module, wanted)


def load_name(spec: str) -> tuple[Path, str]:
    """The file and the name in ``FILE.py:NAME``."""
    file, _, name = spec.partition(".py:")
    return Path(f"{file}.py" if name else spec), name


def _import(path: Path) -> ModuleType:
    """Import the file as the module that it is in its package, so that its own imports work."""
    full = path.resolve()
    parts = [full.stem]
    folder = full.parent
    while (folder / "__init__.py").exists():
        parts.insert(0, folder.name)
        folder = folder.parent
    name = ".".join(parts)
    if str(folder) not in sys.path:
        sys.path.insert(0, str(folder))
    known = sys.modules.get(name)
    if known is not None and getattr(known, "__file__", None) == str(full):
        return known
    try:
        if known is not None or len(parts) == 1:
            return _import_file(name, full)
        return importlib.import_module(name)
    except TrialtapeError as error:
        raise BadInput(f"{path}: {error}") from error
    except Exception as error:
        raise BadInput(f"{path} cannot be imported: {type(error).__name__}: {error}") from error


def _import_file(name: str, path: Path) -> ModuleType:
    """Import a lone file; another module of its name, if there is one, keeps its place."""
    unique = name if name not in sys.modules else f"{name}_{abs(hash(path)):x}"
    spec = importlib.util.spec_from_file_location(unique, path)
    if spec is None or spec.loader is None:
        raise ImportError(f"{path} is no Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[unique] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[unique]
        raise
    return module
