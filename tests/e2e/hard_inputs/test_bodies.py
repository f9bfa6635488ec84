"""Rows 7, 10, 14, 24 to 27 and 29: what is sent and answered over HTTP."""

from __future__ import annotations

import asyncio
import itertools
import json

import aiohttp
import httpx
import httpx2
import openai
import pytest
import requests
import zstandard
from click.testing import CliRunner

import trialtape as tt
from replay.cli import main
from tests.provider import BINARY
from tests.serving import Quiet, served

ODD = {
    "nul": json.dumps({"text": "a\0b"}).encode(),
    "raw nul": b"a\0b",
    "surrogate": b'{"text": "\\ud800"}',
    "no utf-8": b"caf\xe9 \xff\xfe",
    "binary": BINARY,
    "empty": b"",
}


class _Echo(Quiet):
    """Gives back what it got, byte by byte."""

    def do_POST(self):  # noqa: N802  # the name that http.server calls
        body = self.rfile.read(int(self.headers["content-length"]))
        self.server.count += 1
        self.send_response(200)
        self.send_header("content-type", self.headers["content-type"] or "application/octet-stream")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


@pytest.fixture
def echo():
    with served(_Echo, count=0) as server:
        yield server


def test_row_07_other_messages_to_the_same_url_are_refused_and_explained(trial, provider):
    def agent(messages):
        return httpx2.post(f"{provider.url}/echo", json={"messages": messages}).json()

    with trial():
        agent(["a", "b"])
    with pytest.raises(tt.Divergence) as caught, trial(run="again", replay="r/t#0"):
        agent(["a", "c"])
    assert provider.count == 1
    text, report = str(caught.value), caught.value.to_dict()
    assert "body.messages[1]" in text
    assert "'b'" in text
    assert "'c'" in text
    assert (report["step"], report["path"]) == (0, "body.messages[1]")
    with trial(run="same", replay="r/t#0"):
        agent(["a", "b"])


@pytest.mark.parametrize("encoding", ["gzip", "br"])
@pytest.mark.parametrize("path", ["/text", "/binary"])
def test_row_10_encoded_bodies_are_kept_decoded_with_their_encoding_and_replayed_equal(
    trial, provider, home, encoding, path
):
    def agent(url):
        with httpx2.Client(headers={"x-enc": encoding}) as client:
            return client.get(url).content

    with trial():
        live = agent(provider.url + path)
    assert live == (BINARY if path == "/binary" else "Grüße \0 ☃".encode())
    (step,) = tt.open("r/t#0", home=home).steps
    body = step.outcome.value["body"]
    assert (body if isinstance(body, bytes) else body.encode()) == live
    assert step.outcome.value["encoding"] == encoding
    url = provider.url
    provider.stop()
    with trial(run="again", replay="r/t#0"):
        assert agent(url + path) == live


@pytest.mark.parametrize("path", ["/text", "/binary"])
@pytest.mark.parametrize("get", ["httpx2", "httpx"])
def test_row_10_zstd_that_the_client_undoes_is_kept_decoded_and_any_other_as_it_came(trial, provider, home, path, get):
    """httpx undoes zstd, httpx2 hands it out as it came; both agents get the same again."""
    module = {"httpx2": httpx2, "httpx": httpx}[get]

    def agent(url):
        with module.Client(headers={"x-enc": "zstd"}) as client:
            return client.get(url).content

    with trial():
        live = agent(provider.url + path)
    plain = BINARY if path == "/binary" else "Grüße \0 ☃".encode()
    undone = "zstd" in module._decoders.SUPPORTED_DECODERS
    assert (live if undone else zstandard.ZstdDecompressor().decompressobj().decompress(live)) == plain
    (step,) = tt.open("r/t#0", home=home).steps
    body = step.outcome.value["body"]
    assert (body if isinstance(body, bytes) else body.encode()) == live
    assert step.outcome.value["encoding"] == "zstd"
    url = provider.url
    provider.stop()
    with trial(run="again", replay="r/t#0"):
        assert agent(url + path) == live


@pytest.mark.parametrize("name", ODD)
def test_row_10_odd_bodies_are_saved_and_replayed_equal(trial, echo, home, name):
    def agent():
        return httpx2.post(echo.url, content=ODD[name], headers={"content-type": "text/odd"}).content

    with trial():
        assert agent() == ODD[name]
    (step,) = tt.open("r/t#0", home=home).steps
    kept = step.outcome.value["body"]
    assert (kept.encode() if isinstance(kept, str) else kept) == ODD[name]
    echo.stop()
    with trial(run="again", replay="r/t#0"):
        assert agent() == ODD[name]
    assert echo.count == 1


def with_httpx2(url):
    return httpx2.post(url, files={"f": ("a.txt", b"hello")}).status_code


def with_requests(url):
    return requests.post(url, files={"f": ("a.txt", b"hello")}, timeout=20).status_code


def with_aiohttp(url):
    async def upload():
        form = aiohttp.FormData(quote_fields=False)
        form.add_field("f", b"hello", filename="a.txt")
        async with aiohttp.ClientSession() as session, session.post(url, data=form) as response:
            return response.status

    return asyncio.run(upload())


@pytest.mark.parametrize("upload", [with_httpx2, with_requests, with_aiohttp])
def test_row_14_the_second_upload_of_a_form_matches_the_first(trial, provider, upload):
    with trial():
        assert upload(f"{provider.url}/upload") == 200
    (first,) = provider.requests
    url = provider.url
    provider.stop()
    with trial(run="again", replay="r/t#0"):
        assert upload(f"{url}/upload") == 200
    assert b"hello" in first.body


def test_row_27_telemetry_is_excluded_by_rule_shown_by_doctor_and_never_in_the_match(trial, provider, home):
    sent = itertools.count()

    def export():
        """What an exporter of OpenTelemetry sends: another one each time, and as often as it likes."""
        spans = b"\x0a" + str(next(sent)).encode()
        headers = {"Content-Type": "application/x-protobuf"}
        assert requests.post(f"{provider.url}/v1/traces", data=spans, headers=headers, timeout=20).status_code == 200
        assert httpx2.post(f"{provider.url}/v1/metrics", content=spans, headers=headers).status_code == 200

    def agent(exports):
        for _ in range(exports):
            export()
        with openai.OpenAI(api_key="k", base_url=provider.base_url, max_retries=0) as client:
            client.chat.completions.create(model="m", messages=[{"role": "user", "content": "hi"}])
        for _ in range(exports):
            export()

    with trial():
        agent(2)
    view = tt.open("r/t#0", home=home)
    assert [step.call.kind for step in view.steps] == ["model"]
    assert not view.unattributed
    before = provider.count
    for times in (0, 1, 3):
        with trial(run="again", index=times, replay="r/t#0") as again:
            agent(times)
        assert again.ending.status == "completed"
        assert len(tt.open(f"again/t#{times}", home=home).steps) == 1
    assert provider.count == before + (1 + 3) * 4  # it went its way, and the model was not asked
    told = json.loads(CliRunner().invoke(main, ["doctor", "--json"]).output)["excluded"]
    assert any("OpenTelemetry" in rule for rule in told)
    assert any("PostHog" in rule and "posthog.com" in rule for rule in told)
    shown = CliRunner().invoke(main, ["doctor"]).output
    assert all(rule in shown for rule in told)


@pytest.mark.parametrize("other", ['{"messages":["\\u00fc"],"model":"m"}', '{"model":"m","messages":["ü"]}'])
def test_row_29_another_order_of_keys_or_another_spelling_is_the_same_request(trial, echo, other):
    def agent(body):
        headers = {"content-type": "application/json"}
        return httpx2.post(f"{echo.url}/v1/chat/completions", content=body.encode(), headers=headers).status_code

    with trial():
        agent('{"model": "m", "messages": ["ü"]}')
    with trial(run="again", replay="r/t#0"):
        assert agent(other) == 200
    assert echo.count == 1
