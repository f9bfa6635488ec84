"""Recorded streams come at once, or as slowly as they came; no test waits for real."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace

import aiohttp
import httpx
import httpx2
import pytest
import requests
import urllib3

from adapters import pacing
from adapters.aiohttp import AIOHTTP
from adapters.httpx import HTTPX, HTTPX2
from adapters.pacing import AT_ONCE, Pace, pace_of
from adapters.urllib3 import URLLIB3
from cassettes.model import Chunk, Paced, Stream, Value
from cassettes.recorder import listening
from tests.fakes import ListRecorder

HEAD = {"status": 200, "headers": [["content-type", "text/event-stream"]], "encoding": None, "http_version": "HTTP/1.1"}
CHUNKS = (Chunk(0.5, b"data: a\n\n"), Chunk(0.7, b""), Chunk(2.0, b"data: b\n\n"), Chunk(2.25, b"data: c\n\n"))
BODY = b"".join(chunk.data for chunk in CHUNKS)
URL = "http://nowhere.invalid/events"


@pytest.fixture
def clock(monkeypatch):
    """Time that passes only when somebody sleeps."""
    clock = SimpleNamespace(now=100.0, slept=[])

    def sleep(seconds):
        clock.slept.append(round(seconds, 6))
        clock.now += seconds

    async def asleep(seconds):
        sleep(seconds)

    monkeypatch.setattr(pacing, "time", SimpleNamespace(monotonic=lambda: clock.now, sleep=sleep))
    monkeypatch.setattr(pacing, "asyncio", SimpleNamespace(sleep=asleep))
    return clock


def over_httpx(module):
    with module.stream("GET", URL) as response:
        return b"".join(response.iter_raw())


async def over_httpx_async(module):
    async with module.AsyncClient() as client, client.stream("GET", URL) as response:
        return b"".join([piece async for piece in response.aiter_raw()])


async def over_aiohttp(read):
    async with aiohttp.ClientSession() as session, session.get(URL) as response:
        if read:
            return await response.read()
        return b"".join([piece async for piece in response.content.iter_any()])


CLIENTS = {
    "httpx": lambda: over_httpx(httpx),
    "httpx async": lambda: asyncio.run(over_httpx_async(httpx)),
    "httpx2": lambda: over_httpx(httpx2),
    "httpx2 async": lambda: asyncio.run(over_httpx_async(httpx2)),
    "requests": lambda: b"".join(requests.get(URL, stream=True, timeout=9).iter_content(None)),
    "requests whole": lambda: requests.get(URL, timeout=9).content,
    "urllib3": lambda: b"".join(urllib3.PoolManager().request("GET", URL, preload_content=False).stream()),
    "aiohttp": lambda: asyncio.run(over_aiohttp(read=False)),
    "aiohttp whole": lambda: asyncio.run(over_aiohttp(read=True)),
}


@pytest.fixture
def installed():
    adapters = (HTTPX, HTTPX2, AIOHTTP, URLLIB3)
    for adapter in adapters:
        adapter.install()
    yield
    for adapter in adapters:
        adapter.uninstall()


@pytest.mark.parametrize("client", CLIENTS)
def test_a_stream_comes_as_slowly_as_it_came_or_at_once(clock, installed, client):
    with listening(ListRecorder([Stream(HEAD, CHUNKS), Paced(HEAD, CHUNKS)])):
        assert CLIENTS[client]() == BODY
        assert clock.slept == []
        assert CLIENTS[client]() == BODY
    assert clock.slept == [0.5, 1.5, 0.25]


def test_what_the_consumer_takes_for_itself_counts(clock):
    pace = Pace([0.5, 2.0, 2.25])
    pace.wait(0)
    clock.now += 1.0
    pace.wait(1)
    clock.now += 10.0
    pace.wait(2)
    pace.wait(3)
    assert clock.slept == [0.5, 0.5]


def test_only_a_paced_stream_has_a_pace():
    assert pace_of(None) is pace_of(Value(1)) is pace_of(Stream(HEAD, CHUNKS)) is AT_ONCE
    assert pace_of(Paced(HEAD, CHUNKS)) is not AT_ONCE
