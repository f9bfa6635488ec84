"""The network guard: no connection to the internet that the recorder does not allow, whatever library tries.

While calls are frozen, a connection may be opened only inside a live call. Connections that were open before the trial
began, and those that native code opens without Python's socket class, are not seen.
"""

from __future__ import annotations

import functools
import socket
from collections.abc import Callable
from typing import Any, Final

from cassettes.recorder import current

from .patches import PatchingAdapter

__all__ = ["SOCKETS", "SocketsAdapter"]

_INTERNET: Final = frozenset({socket.AF_INET, socket.AF_INET6})


class SocketsAdapter(PatchingAdapter):
    """Asks the recorder before a socket connects."""

    name = "sockets"

    def install(self) -> None:
        """Patch the socket class. A second call does nothing."""
        if self._patches:
            return
        for method in ("connect", "connect_ex"):
            original = getattr(socket.socket, method)
            self._patches.put(socket.socket, method, _guarded(original), "socket.socket")


def _guarded(original: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(original)
    def connect(self: socket.socket, address: Any) -> Any:
        recorder = current()
        if recorder is not None and self.family in _INTERNET:
            try:
                recorder.connecting(address)
            except BaseException:
                self.close()  # libraries close it after an OSError only
                raise
        return original(self, address)

    return connect


SOCKETS: Final = SocketsAdapter()
