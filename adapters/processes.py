"""Other processes: work that is handed to one is recorded as whoever hands it over is, and what else starts is told.

While a recorder listens that lets other processes call it (`cassettes.recorder.Invitation`):

- an item of `ProcessPoolExecutor` or `multiprocessing.Pool` carries the invitation of its submitter;
- a pool's own processes, which outlive the item that made the pool start them, start with nobody listening;
- any other process of `multiprocessing` carries the invitation of the code that starts it.

An item that is submitted while nobody listens is left alone. A process that is no Python function (`subprocess`), and
every process where the recorder invites nobody, is told to the recorder by name: what runs there is not seen.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from contextvars import copy_context
from multiprocessing.pool import Pool, ThreadPool
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any, Final

from attrs import frozen

from cassettes.ambient import observing
from cassettes.errors import TrialStopped, TrialtapeError
from cassettes.recorder import Invitation, Recorder, current, listening

from .contexts import carrying, drawn
from .patches import PatchingAdapter

__all__ = ["PROCESSES", "ProcessesAdapter"]

_SILENT: Final = frozenset({"uname"})  # which SDKs start through `platform` for their User-Agent


class ProcessesAdapter(PatchingAdapter):
    """Carries recorders into processes of the standard library."""

    name = "processes"

    def install(self) -> None:
        """Patch the process classes. A second call does nothing."""
        if self._patches:
            return
        self._patches.wrap(BaseProcess, "start", _starting, "multiprocessing.process.BaseProcess")
        self._patches.wrap(ProcessPoolExecutor, "submit", _submitting, "concurrent.futures.ProcessPoolExecutor")
        pool = "multiprocessing.pool.Pool"
        self._patches.wrap(Pool, "__init__", _making_a_pool, pool)
        for method in ("apply_async", "map", "map_async", "starmap", "starmap_async"):
            self._patches.wrap(Pool, method, _applying, pool)
        for method in ("imap", "imap_unordered"):
            self._patches.wrap(Pool, method, _drawing, pool)
        self._patches.wrap(subprocess.Popen, "__init__", _opening, "subprocess.Popen")


# -- what runs in the other process ------------------------------------------------------------------------------------


@frozen
class _Item:
    """Work for a pool, with its submitter's invitation."""

    invitation: Invitation
    function: Any

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        try:
            with self.invitation.joined():
                return self.function(*args, **kwargs)
        except TrialStopped as stopped:
            raise _Stopped(stopped.halt) from None


class _Stopped(Exception):  # it is `TrialStopped` again on the other side
    """`TrialStopped` on its way out of a pool, whose workers would die of anything but an `Exception`."""

    def __init__(self, halt: TrialtapeError) -> None:
        super().__init__(str(halt))
        self.halt = halt

    def __reduce__(self) -> tuple[type[TrialStopped], tuple[TrialtapeError]]:
        return TrialStopped, (self.halt,)


@frozen
class _Run:
    """Stands for the ``run`` of one process until it runs."""

    invitation: Invitation
    process: BaseProcess
    own: Any

    def __call__(self) -> None:
        _put_back(self.process, self.own)
        with self.invitation.joined():
            self.process.run()


def _put_back(process: BaseProcess, own: Any) -> None:
    if own is None:
        vars(process).pop("run", None)
    else:
        vars(process)["run"] = own


# -- what is handed over here ------------------------------------------------------------------------------------------


def _starting(original: Any) -> Any:
    def start(process: BaseProcess) -> None:
        recorder = current()
        invitation = None if recorder is None else recorder.invitation()
        if invitation is None:
            original(process)
            if recorder is not None:
                recorder.escaped("process of multiprocessing")
            return
        own = vars(process).get("run")
        vars(process)["run"] = _Run(invitation, process, own)
        try:
            original(process)
        finally:
            _put_back(process, own)

    return start


def _submitting(original: Any) -> Any:
    def submit(executor: ProcessPoolExecutor, function: Any, /, *args: Any, **kwargs: Any) -> Any:
        recorder = current()
        if recorder is None:
            return original(executor, function, *args, **kwargs)
        item = _handed(recorder, function)
        with _unheard():  # the pool may start processes and threads for it, which will work for others, too
            return original(executor, item, *args, **kwargs)

    return submit


def _making_a_pool(original: Any) -> Any:
    def init(pool: Pool, *args: Any, **kwargs: Any) -> None:
        if current() is None:
            original(pool, *args, **kwargs)
            return
        with _unheard():
            original(pool, *args, **kwargs)

    return init


def _applying(original: Any) -> Any:
    """For the methods that take (function, arguments..., callback, error_callback)."""

    def apply(pool: Pool, func: Any, *args: Any, **kwargs: Any) -> Any:
        recorder = current()
        if recorder is None or isinstance(pool, ThreadPool):  # a subclass, but its items are no other process's
            return original(pool, func, *args, **kwargs)
        context = copy_context()
        for name in ("callback", "error_callback"):
            if kwargs.get(name) is not None:
                kwargs[name] = carrying(kwargs[name], context)
        return original(pool, _handed(recorder, func), *args, **kwargs)

    return apply


def _drawing(original: Any) -> Any:
    """For ``imap`` and ``imap_unordered``, which draw from the iterable in a thread of the pool."""

    def imap(pool: Pool, func: Any, iterable: Iterable[Any], *args: Any, **kwargs: Any) -> Any:
        recorder = current()
        if recorder is None or isinstance(pool, ThreadPool):
            return original(pool, func, iterable, *args, **kwargs)
        return original(pool, _handed(recorder, func), drawn(iterable, copy_context()), *args, **kwargs)

    return imap


@contextmanager
def _unheard() -> Iterator[None]:
    with listening(None), observing(None):
        yield


def _handed(recorder: Recorder, function: Any) -> Any:
    """The work as it is handed to a pool."""
    invitation = recorder.invitation()
    if invitation is None:
        recorder.escaped("item of a process pool")
        return function
    return _Item(invitation, function)


def _opening(original: Any) -> Any:
    def init(process: Any, args: Any, *others: Any, **options: Any) -> None:
        recorder = current()
        original(process, args, *others, **options)
        if recorder is not None:
            program = _program(args, shell=bool(options.get("shell")))
            if program not in _SILENT:
                recorder.escaped(f"subprocess {program}", process.pid)

    return init


def _program(args: Any, *, shell: bool) -> str:
    """The name of the program; never its arguments, nor a line for the shell: these may hold secrets."""
    if shell:
        return "of the shell"
    first = args if isinstance(args, str | bytes | os.PathLike) else next(iter(args), "")
    return Path(os.fsdecode(first)).name or "without a name"


PROCESSES: Final = ProcessesAdapter()
