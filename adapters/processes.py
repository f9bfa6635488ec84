"""Other processes: what runs in them is not seen, so their start inside a trial is told to the recorder.

Seen are `multiprocessing` (its pools too), `ProcessPoolExecutor` and `subprocess`; `os.fork` and `os.system` are not.
"""

from __future__ import annotations

import functools
import os
import platform
import subprocess
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from contextvars import ContextVar
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any, Final

from cassettes.recorder import current

from .patches import Patches

__all__ = ["PROCESSES", "ProcessesAdapter"]

_SILENT: Final = frozenset({"uname"})  # which SDKs start through `platform` for their User-Agent
_submitting: ContextVar[bool] = ContextVar("trialtape_submitting", default=False)


class ProcessesAdapter:
    """Tells the recorder of processes that are started, and of work that is handed to a pool of them."""

    name = "processes"

    def __init__(self) -> None:
        self._patches = Patches()

    def versions(self) -> dict[str, str]:
        """The version of Python, whose processes these are."""
        return {"python": platform.python_version()}

    def install(self) -> None:
        """Patch the process classes. A second call does nothing."""
        if self._patches:
            return
        self._put(BaseProcess, "start", _starting, "multiprocessing.process.BaseProcess")
        self._put(ProcessPoolExecutor, "submit", _submitting_to, "concurrent.futures.ProcessPoolExecutor")
        self._put(subprocess.Popen, "__init__", _opening, "subprocess.Popen")

    def uninstall(self) -> None:
        """Put back the originals."""
        self._patches.restore()

    def patched(self) -> list[str]:
        """The dotted names that are patched right now."""
        return self._patches.names()

    def _put(self, owner: type, attribute: str, make: Callable[[Any], Any], label: str) -> None:
        original = getattr(owner, attribute)
        self._patches.put(owner, attribute, functools.wraps(original)(make(original)), label)


def _starting(original: Any) -> Any:
    def start(process: BaseProcess) -> None:
        recorder = current()
        original(process)
        if recorder is not None and not _submitting.get():
            recorder.escaped("process of multiprocessing")

    return start


def _submitting_to(original: Any) -> Any:
    def submit(executor: ProcessPoolExecutor, function: Any, /, *args: Any, **kwargs: Any) -> Any:
        recorder = current()
        if recorder is None:
            return original(executor, function, *args, **kwargs)
        token = _submitting.set(True)  # the pool may start a process for it: told once
        try:
            future = original(executor, function, *args, **kwargs)
        finally:
            _submitting.reset(token)
        recorder.escaped("item of a process pool")
        return future

    return submit


def _opening(original: Any) -> Any:
    def init(process: Any, args: Any, *others: Any, **options: Any) -> None:
        recorder = current()
        original(process, args, *others, **options)
        if recorder is not None:
            program = _program(args, shell=bool(options.get("shell")))
            if program not in _SILENT:
                recorder.escaped(f"subprocess {program}")

    return init


def _program(args: Any, *, shell: bool) -> str:
    """The name of the program; never its arguments, nor a line for the shell: these may hold secrets."""
    if shell:
        return "of the shell"
    first = args if isinstance(args, str | bytes | os.PathLike) else next(iter(args), "")
    return Path(os.fsdecode(first)).name or "without a name"


PROCESSES: Final = ProcessesAdapter()
