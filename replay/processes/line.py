"""The connection of a child process to the trial that started it: one local socket for each of its threads."""

from __future__ import annotations

import os
import socket
import threading
from multiprocessing.connection import Connection
from typing import Any

from cassettes.errors import RecordingFailed
from cassettes.values import pack, unpack

__all__ = ["Gone", "Line"]

_OVER = (EOFError, ConnectionError, FileNotFoundError)  # nobody is there, or no longer


class Gone(Exception):  # no error of the user's: the other side has ended
    """The trial has ended."""


class Line:
    """Asks the trial, and waits for its answer; safe to use from many threads, and after a fork.

    Args:
        address: the path of the trial's socket.
        token: what the trial lets in.
    """

    def __init__(self, address: str, token: str) -> None:
        self._address = address
        self._token = token
        self._own = threading.local()

    def ask(self, message: list[Any]) -> list[Any]:
        """The answer to a message (see `replay.processes.wire`).

        Raises:
            Gone: the trial has ended.
            RecordingFailed: it cannot be reached.
            UnkeepableValue: the message cannot be packed; nothing was said.
        """
        packed = pack(message)
        connection: Connection | None = None
        try:
            # Taken away meanwhile: a signal's handler that asks in the middle of this needs one of its own, and after
            # an interrupt what came next would be the answer to this.
            connection = self._taken()
            connection.send_bytes(packed)
            answer: list[Any] = unpack(connection.recv_bytes())
        except BaseException as error:
            if connection is not None:
                connection.close()
            if isinstance(error, _OVER) or (isinstance(error, OSError) and error.errno is None):
                raise Gone from error  # without a number: the answer was cut short
            if isinstance(error, OSError):
                raise RecordingFailed(f"the trial cannot be reached from process {os.getpid()}: {error}") from error
            raise
        self._own.connection = (os.getpid(), connection)
        return answer

    def _taken(self) -> Connection:
        pid, connection = vars(self._own).pop("connection", (0, None))
        if connection is not None and pid == os.getpid():
            open_already: Connection = connection
            return open_already
        with socket.socket(socket.AF_UNIX) as client:
            client.connect(self._address)
            made = Connection(client.detach())
        made.send_bytes(self._token.encode())
        return made
