from __future__ import annotations

import asyncio
import socket

import pytest

from adapters.sockets import SOCKETS
from cassettes.recorder import listening
from tests.fakes import ListRecorder


class Guard(ListRecorder):
    """Notes who wants to connect, and allows nobody."""

    def __init__(self):
        super().__init__()
        self.asked = []

    def connecting(self, address):
        self.asked.append(address)
        raise PermissionError(address)


@pytest.fixture(autouse=True)
def installed():
    before = {name: vars(socket.socket).get(name) for name in ("connect", "connect_ex")}
    SOCKETS.install()
    SOCKETS.install()
    yield
    SOCKETS.uninstall()
    assert {name: vars(socket.socket).get(name) for name in before} == before
    assert SOCKETS.patched() == []


@pytest.fixture
def listener():
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()


@pytest.mark.parametrize("method", ["connect", "connect_ex"])
def test_the_recorder_is_asked_before_a_socket_connects(listener, method):
    guard = Guard()
    with socket.socket() as sock, listening(guard), pytest.raises(PermissionError):
        getattr(sock, method)(listener)
    assert guard.asked == [listener]


def test_asyncio_connects_through_it_too(listener):
    guard = Guard()

    async def connect():
        await asyncio.open_connection(*listener)

    with listening(guard), pytest.raises(PermissionError):
        asyncio.run(connect())
    assert guard.asked == [listener]


def test_without_a_recorder_nothing_is_asked(listener):
    with socket.create_connection(listener) as sock:
        assert sock.getpeername() == listener


def test_sockets_of_this_machine_alone_are_left_alone(tmp_path):
    guard = Guard()
    path = str(tmp_path / "s")
    with socket.socket(socket.AF_UNIX) as server, socket.socket(socket.AF_UNIX) as client:
        server.bind(path)
        server.listen()
        with listening(guard):
            client.connect(path)
    assert guard.asked == []
