from __future__ import annotations

import asyncio

import aiohttp
import httpx
import httpx2
import pytest
import requests
import urllib3

from adapters.aiohttp import AIOHTTP
from adapters.httpx import HTTPX, HTTPX2
from adapters.telemetry import _MARKS, RULES, apart, telemetry
from adapters.urllib3 import URLLIB3
from cassettes.recorder import Unseen, current, listening, watched, watching
from tests.fakes import ListRecorder

PROTOBUF = {"Content-Type": "application/x-protobuf"}


@pytest.mark.parametrize(
    ("name", "url", "headers"),
    [
        ("OpenTelemetry", "http://localhost:4318/v1/traces", PROTOBUF),
        ("OpenTelemetry", "https://api.honeycomb.io/otlp/v1/logs?x=1", {b"content-type": b"application/x-protobuf"}),
        ("PostHog", "https://us.i.posthog.com/batch/", {}),
        ("PostHog", "https://eu.posthog.com/i/v0/e/", {}),
        ("Sentry", "https://o1.ingest.us.sentry.io/api/42/envelope/", {}),
        ("OpenAI Agents traces", "https://api.openai.com/v1/traces/ingest", {}),
        ("LangSmith", "https://api.smith.langchain.com/runs/multipart", {}),
        ("LangSmith", "https://eu.api.smith.langchain.com/otel/v1/traces", {}),
        ("Langfuse", "https://cloud.langfuse.com/api/public/ingestion", {}),
        ("Segment", "https://api.segment.io/v1/batch", {}),
        ("Mixpanel", "https://api.mixpanel.com/track/?verbose=1", {}),
        ("Amplitude", "https://api2.amplitude.com/2/httpapi", {}),
        ("Scarf", "https://gateway.scarf.sh/x", {}),
    ],
)
def test_what_is_telemetry(name, url, headers):
    rule = telemetry("post", url, headers)
    assert rule is not None
    assert rule.name == name
    assert rule.name in rule.shown
    assert telemetry(b"POST", url.encode(), headers) is rule
    assert telemetry("GET", url, headers) is None


@pytest.mark.parametrize(
    ("url", "headers"),
    [
        ("https://api.openai.com/v1/chat/completions", {"Content-Type": "application/json"}),
        ("https://monitor.test/v1/metrics", {"Content-Type": "application/json"}),
        ("https://us.i.posthog.com/flags/", {}),
        ("https://us.i.posthog.com/api/projects/1/query/", {}),
        ("https://notposthog.com/batch/", {}),
        ("https://posthog.com.evil.test/batch/", {}),
        ("https://api.smith.langchain.com/commits/x/y", {}),
        ("https://sentry.io/api/0/issues/", {}),
        ("/v1/traces", {}),
        ("", None),
    ],
)
def test_what_is_none(url, headers):
    assert telemetry("POST", url, headers) is None


def test_every_rule_has_a_name_of_its_own():
    assert len({rule.name for rule in RULES}) == len(RULES)


def test_apart_nobody_listens_and_nothing_is_counted():
    unseen = Unseen()
    with watching(unseen), listening(ListRecorder()):
        assert watched()
        with apart():
            assert current() is None
            assert not watched()
        assert current() is not None


def with_httpx(module):
    def send(url, data):
        with module.Client() as client:
            return client.post(url, content=data, headers=PROTOBUF).status_code

    return send


def with_async_httpx(module):
    async def send(url, data):
        async with module.AsyncClient() as client:
            return (await client.post(url, content=data, headers=PROTOBUF)).status_code

    return lambda url, data: asyncio.run(send(url, data))


def with_urllib3(url, data):
    with urllib3.PoolManager() as pool:
        return pool.request("POST", url, body=data, headers=PROTOBUF).status


def with_requests(url, data):
    return requests.post(url, data=data, headers=PROTOBUF, timeout=20).status_code


def with_proxy(url, data):
    with urllib3.ProxyManager(url.rpartition("/v1")[0]) as pool:
        return pool.request("POST", "http://collector.test/v1/traces", body=data, headers=PROTOBUF).status


def with_aiohttp(url, data):
    async def send():
        async with (
            aiohttp.ClientSession() as session,
            session.post(url, data=data, headers=PROTOBUF) as response,
        ):
            return response.status

    return asyncio.run(send())


CLIENTS = [
    with_httpx(httpx),
    with_httpx(httpx2),
    with_async_httpx(httpx),
    with_async_httpx(httpx2),
    with_urllib3,
    with_requests,
    with_proxy,
    with_aiohttp,
]


@pytest.fixture(autouse=True)
def _installed():
    installed = [HTTPX, HTTPX2, URLLIB3, AIOHTTP]
    for adapter in installed:
        adapter.install()
    yield
    for adapter in installed:
        adapter.uninstall()


class Frozen(ListRecorder):
    """Nothing may connect or be asked."""

    def begin(self, call):
        raise AssertionError(call)

    def connecting(self, address):
        raise AssertionError(address)


@pytest.mark.parametrize("send", CLIENTS)
@pytest.mark.parametrize("recorder", [ListRecorder, Frozen, lambda: None], ids=["live", "frozen", "nobody"])
def test_it_is_sent_and_not_told_to_anybody(send, recorder, provider):
    unseen, listener = Unseen(), recorder()
    with watching(unseen), listening(listener):
        assert send(f"{provider.url}/v1/traces", b"\x0a\x00") == 200
    assert [seen.body for seen in provider.requests] == [b"\x0a\x00"]
    assert not unseen.counts
    assert listener is None or listener.calls == []


@pytest.mark.parametrize("send", [send for send in CLIENTS if send is not with_proxy])
def test_anything_else_is_seen(send, provider):
    recorder = ListRecorder()
    with listening(recorder):
        send(f"{provider.url}/v1/traces/of/deer", b"\x0a\x00")
    assert len(recorder.calls) == 1


def test_every_rule_is_found_by_the_first_look():
    for rule in RULES:
        assert any(mark in rule.path.pattern.replace("(?:traces|metrics|logs)", "traces") for mark in _MARKS) or (
            {*rule.hosts} <= {*_MARKS}
        )
    assert not any(mark in "https://api.openai.com/v1/chat/completions" for mark in _MARKS)
    assert telemetry("POST", "HTTPS://API.SEGMENT.IO/v1/batch") is not None
