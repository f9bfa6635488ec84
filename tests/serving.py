"""A small server of its own for tests that need an answer which `tests.provider` does not give."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class Quiet(BaseHTTPRequestHandler):
    """A handler that says nothing of what it does."""

    protocol_version = "HTTP/1.1"

    def log_message(self, *args: Any) -> None:
        """Say nothing."""


class Served(ThreadingHTTPServer):
    """A server at ``url``; ``stop`` may be called before the end of its block, and again."""

    daemon_threads = True

    def __init__(self, handler: type[BaseHTTPRequestHandler]) -> None:
        super().__init__(("127.0.0.1", 0), handler)
        self.url = f"http://127.0.0.1:{self.server_port}"
        self._thread = threading.Thread(target=self.serve_forever, args=(0.01,), daemon=True)
        self._thread.start()

    def stop(self) -> None:
        self.shutdown()
        self.server_close()
        self._thread.join()


@contextlib.contextmanager
def served(handler: type[BaseHTTPRequestHandler], **attributes: Any) -> Iterator[Served]:
    """Serve with ``handler``, which finds the ``attributes`` on ``self.server``."""
    server = Served(handler)
    vars(server).update(attributes)
    try:
        yield server
    finally:
        server.stop()
