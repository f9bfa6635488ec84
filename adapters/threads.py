"""Threads: work items carry the context of whoever submits them, pool threads carry none.

A context variable holds the current recorder, and Python copies it into no thread. So while a recorder listens:

- an item submitted to a thread pool runs in a copy of its submitter's context;
- the pool's own threads, which outlive the item that made the pool start them, start with an empty one;
- any other thread inherits the context of the code that starts it.

An item submitted while nobody listens is left alone, and finds nobody in the pool's empty context. Process pools have
an adapter of their own.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from contextvars import Context, copy_context
from multiprocessing.pool import ThreadPool
from typing import Any, Final

from cassettes.recorder import current

from .contexts import carrying, drawn
from .patches import PatchingAdapter

__all__ = ["THREADS", "ThreadsAdapter"]

_NONE: Final = object()


class ThreadsAdapter(PatchingAdapter):
    """Carries contexts into threads and thread pools of the standard library."""

    name = "threads"

    def install(self) -> None:
        """Patch the thread classes. A second call does nothing."""
        if self._patches:
            return
        self._patches.wrap(threading.Thread, "start", _starting, "threading.Thread")
        self._patches.wrap(ThreadPoolExecutor, "submit", _submitting, "concurrent.futures.ThreadPoolExecutor")
        pool = "multiprocessing.pool.ThreadPool"
        self._patches.wrap(ThreadPool, "__init__", _making_a_pool, pool)
        for method in ("apply_async", "map", "map_async", "starmap", "starmap_async"):
            self._patches.wrap(ThreadPool, method, _applying, pool)
        for method in ("imap", "imap_unordered"):
            self._patches.wrap(ThreadPool, method, _drawing, pool)


def _starting(original: Any) -> Any:
    def start(thread: threading.Thread) -> None:
        if current() is None or thread.ident is not None:  # a second start raises, as ever
            original(thread)
            return
        context = copy_context()
        own = vars(thread).get("run", _NONE)

        def put_back() -> None:
            if own is _NONE:
                vars(thread).pop("run", None)
            else:
                vars(thread)["run"] = own

        def run() -> None:
            put_back()
            context.run(thread.run)

        vars(thread)["run"] = run
        try:
            original(thread)
        except BaseException:
            put_back()
            raise

    return start


def _submitting(original: Any) -> Any:
    def submit(executor: ThreadPoolExecutor, function: Any, /, *args: Any, **kwargs: Any) -> Any:
        if current() is None:
            return original(executor, function, *args, **kwargs)
        # The pool may start a thread for it: in an empty context, so that the thread inherits nothing.
        return Context().run(original, executor, copy_context().run, function, *args, **kwargs)

    return submit


def _making_a_pool(original: Any) -> Any:
    def init(pool: ThreadPool, *args: Any, **kwargs: Any) -> None:
        Context().run(original, pool, *args, **kwargs)

    return init


def _applying(original: Any) -> Any:
    """For the methods that take (function, arguments..., callback, error_callback)."""

    def apply(pool: ThreadPool, func: Any, *args: Any, **kwargs: Any) -> Any:
        if current() is None:
            return original(pool, func, *args, **kwargs)
        context = copy_context()
        for name in ("callback", "error_callback"):
            if kwargs.get(name) is not None:
                kwargs[name] = carrying(kwargs[name], context)
        return original(pool, carrying(func, context), *args, **kwargs)

    return apply


def _drawing(original: Any) -> Any:
    """For ``imap`` and ``imap_unordered``, which draw from the iterable in a thread of the pool."""

    def imap(pool: ThreadPool, func: Any, iterable: Iterable[Any], *args: Any, **kwargs: Any) -> Any:
        if current() is None:
            return original(pool, func, iterable, *args, **kwargs)
        context = copy_context()
        return original(pool, carrying(func, context), drawn(iterable, context.copy()), *args, **kwargs)

    return imap


THREADS: Final = ThreadsAdapter()
