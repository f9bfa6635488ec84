"""The thread that pushes open files to the disk about every second, so that a crash of the machine costs little."""

from __future__ import annotations

import os
import threading
import time
import weakref
from contextlib import suppress
from typing import Final, Protocol

from .errors import RecordingFailed

__all__ = ["unwatch", "watch"]

SECONDS: Final = 1.0


class Synced(Protocol):
    """A file that is being written."""

    def sync(self) -> None:
        """Push what was written to the disk."""

    def forget(self) -> None:
        """In a forked child: write nothing more, and close it here."""


class _Syncing:
    """The thread, if it runs in this process."""

    thread: threading.Thread | None = None
    lock = threading.Lock()


_open: weakref.WeakSet[Synced] = weakref.WeakSet()


def watch(file: Synced) -> None:
    """Sync ``file`` about every second from now on."""
    with _Syncing.lock:
        _open.add(file)
        if _Syncing.thread is None:
            _Syncing.thread = threading.Thread(target=_sync_for_ever, name="trialtape-sync", daemon=True)
            _Syncing.thread.start()


def unwatch(file: Synced) -> None:
    """It is closed."""
    _open.discard(file)


def _sync_for_ever() -> None:
    while True:
        time.sleep(SECONDS)
        with _Syncing.lock:
            files = list(_open)
        for file in files:
            with suppress(RecordingFailed, OSError):  # its next append says so
                file.sync()


def _after_fork() -> None:
    """A forked child must not write into its parent's files, and has no such thread."""
    _Syncing.thread = None
    _Syncing.lock = threading.Lock()
    for file in list(_open):
        file.forget()


os.register_at_fork(after_in_child=_after_fork)
