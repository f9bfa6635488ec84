"""The contract with vcrpy, and one pass through the two clients that come with it."""

from __future__ import annotations

import socket
import subprocess
import sys
from contextlib import ExitStack

import httplib2
import pytest
import vcr.patch
from tornado import httpclient, ioloop, simple_httpclient
from vcr.request import Request

from adapters.aiohttp import AIOHTTP
from adapters.httpx import HTTPX, HTTPX2
from adapters.urllib3 import URLLIB3
from adapters.vcr_clients import VCR_CLIENTS, Dispatcher
from cassettes.errors import CassetteError, TrialStopped
from cassettes.model import Cancelled, Error, Stream
from cassettes.recorder import enclosing, listening
from tests.fakes import ListRecorder

OWNERS = [
    (httplib2, "HTTPConnectionWithTimeout"),
    (httplib2, "HTTPSConnectionWithTimeout"),
    (httplib2, "SCHEME_TO_CONNECTION"),
    (simple_httpclient.SimpleAsyncHTTPClient, "fetch_impl"),
    (vcr.patch, "force_reset"),
]


@pytest.fixture
def _installed():
    originals = [getattr(owner, name) for owner, name in OWNERS]
    VCR_CLIENTS.install()
    VCR_CLIENTS.install()
    yield
    VCR_CLIENTS.uninstall()
    assert [getattr(owner, name) for owner, name in OWNERS] == originals
    assert VCR_CLIENTS.patched() == []


@pytest.fixture
def recorder():
    return ListRecorder()


def served(recorder):
    return ListRecorder(source=recorder.interactions)


def with_httplib2(url, method="GET", body=None, **headers):
    http = httplib2.Http()
    try:
        response, content = http.request(url, method, body=body, headers={f"x-{k}": v for k, v in headers.items()})
    finally:
        http.close()
    return response.status, content, response["content-type"]


def with_tornado(url, method="GET", body=None, **headers):
    async def fetch():
        client = httpclient.AsyncHTTPClient(force_instance=True)
        try:
            asked = {"method": method, "body": body, "headers": {f"x-{k}": v for k, v in headers.items()}}
            response = await client.fetch(url, **asked, raise_error=False)
            return response.code, response.body, response.headers["content-type"]
        finally:
            client.close()

    loop = ioloop.IOLoop(make_current=False)
    try:
        return loop.run_sync(fetch)
    finally:
        loop.close(all_fds=True)


both = pytest.mark.parametrize("get", [with_httplib2, with_tornado])


# -- the contract


class Spy:
    """Notes what is asked of a dispatcher."""

    def __init__(self, inner):
        self.__dict__.update(inner=inner, touched=set())

    def __getattr__(self, name):
        self.touched.add(name)
        return getattr(self.inner, name)


def test_what_vcrpy_asks_of_the_dispatcher(provider, recorder):
    spy = Spy(Dispatcher(tuple(set(vcr.patch.PATCHER_NAMES) - {"httplib2", "tornado"})))
    with ExitStack() as stack:
        for patcher in vcr.patch.CassettePatcherBuilder(spy).build():
            stack.enter_context(patcher)
        with listening(recorder):
            first = [get(f"{provider.url}/text") for get in (with_httplib2, with_tornado)]
        with listening(served(recorder)):
            assert [get(f"{provider.url}/text") for get in (with_httplib2, with_tornado)] == first
    assert spy.touched == {
        "_path",
        "append",
        "can_play_response_for",
        "custom_patches",
        "play_response",
        "skip_patchers",
        "write_protected",
    }


def test_the_names_of_the_patchers():
    assert set(vcr.patch.PATCHER_NAMES) == {
        *("httplib", "requests", "boto3", "urllib3", "httplib2", "tornado", "aiohttp", "httpx", "httpx2"),
    }


@pytest.mark.usefixtures("_installed")
def test_only_the_two_clients_are_patched():
    others = [URLLIB3, AIOHTTP, HTTPX, HTTPX2]
    assert VCR_CLIENTS.patched() == [
        "vcr.patch.force_reset",
        "vcr.patch._SimpleAsyncHTTPClient_fetch_impl",
        "httplib2.HTTPConnectionWithTimeout",
        "httplib2.HTTPSConnectionWithTimeout",
        "httplib2.SCHEME_TO_CONNECTION",
        "tornado.simple_httpclient.SimpleAsyncHTTPClient.fetch_impl",
    ]
    for adapter in others:
        adapter.install()
    assert httplib2.HTTPConnectionWithTimeout.getresponse.__wrapped__
    for adapter in reversed(others):
        adapter.uninstall()


@pytest.mark.usefixtures("_installed")
def test_the_request_that_a_stub_keeps():
    connection = httplib2.HTTPConnectionWithTimeout("h")
    connection.request("POST", "/x", "body", {"a": "b"})
    request = connection._vcr_request
    assert isinstance(request, Request)
    assert (request.method, request.uri, request.body, request.headers) == ("POST", "http://h/x", b"body", {"a": "b"})
    assert vars(request) is not None


@pytest.mark.usefixtures("_installed")
def test_reset_touches_nothing_in_a_trial(recorder):
    URLLIB3.install()
    try:
        before = httplib2.HTTPConnectionWithTimeout
        with listening(recorder), vcr.patch.force_reset():
            assert httplib2.HTTPConnectionWithTimeout is before
        with vcr.patch.force_reset():
            assert httplib2.HTTPConnectionWithTimeout is not before
        assert httplib2.HTTPConnectionWithTimeout is before
    finally:
        URLLIB3.uninstall()


def test_vcrpy_is_not_imported_for_clients_that_nobody_imported():
    script = """
import sys
from adapters.vcr_clients import VCR_CLIENTS
VCR_CLIENTS.install()
print(VCR_CLIENTS.patched(), [name for name in ("vcr", "httplib2", "tornado") if name in sys.modules])
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.split("\n")[0] == "[] []"


# -- the two clients


@both
@pytest.mark.usefixtures("_installed")
@pytest.mark.parametrize("path", ["/text", "/binary", "/echo?a=1"])
def test_recorded_then_served_without_a_network(provider, recorder, get, path):
    with listening(recorder):
        first = get(provider.url + path)
    provider.stop()
    with listening(served(recorder)):
        assert get(provider.url + path) == first
    assert first[0] == 200


@both
@pytest.mark.usefixtures("_installed")
def test_the_connection_is_opened_inside_its_call(provider, recorder, get, monkeypatch):
    inside = []
    connect = socket.socket.connect

    def connecting(sock, address):
        if address[1] == int(provider.url.rpartition(":")[2]):
            inside.append(enclosing() is not None)
        return connect(sock, address)

    monkeypatch.setattr(socket.socket, "connect", connecting)
    with listening(recorder):
        get(f"{provider.url}/text")
    assert inside == [True]


@both
@pytest.mark.usefixtures("_installed")
def test_a_body_is_told_and_sent(provider, recorder, get):
    with listening(recorder):
        get(f"{provider.url}/echo", "POST", '{"a": [1]}')
    assert recorder.calls[0].arguments == {"url": f"{provider.url}/echo", "body": {"a": [1]}}
    assert provider.requests[0].json == {"a": [1]}


@both
@pytest.mark.usefixtures("_installed")
@pytest.mark.parametrize("encoding", ["gzip", "deflate", "br"])
def test_encoded_bodies(provider, recorder, get, encoding):
    with listening(recorder):
        first = get(f"{provider.url}/text", enc=encoding)
    with listening(served(recorder)):
        assert get(f"{provider.url}/text", enc=encoding)[:2] == first[:2]


@both
@pytest.mark.usefixtures("_installed")
def test_a_stream_is_kept_whole(provider, recorder, get):
    body = '{"model": "m", "stream": true, "messages": [{"role": "user", "content": "hi"}]}'
    with listening(recorder):
        first = get(f"{provider.base_url}/chat/completions", "POST", body)
    assert isinstance(recorder.interactions[0].outcome, Stream)
    with listening(served(recorder)):
        assert get(f"{provider.base_url}/chat/completions", "POST", body) == first


@both
@pytest.mark.usefixtures("_installed")
def test_without_a_trial_and_in_a_stopped_one(provider, get):
    assert get(f"{provider.url}/text")[0] == 200
    with listening(ListRecorder(source=[])), pytest.raises(TrialStopped):
        get(f"{provider.url}/text")
    assert provider.count == 1


@pytest.mark.usefixtures("_installed")
def test_several_requests_over_one_connection(provider, recorder):
    def two():
        http = httplib2.Http()
        try:
            return [http.request(f"{provider.url}/echo?n={n}")[1] for n in range(2)]
        finally:
            http.close()

    with listening(recorder):
        first = two()
    provider.stop()
    with listening(served(recorder)):
        assert two() == first
    assert len(recorder.interactions) == 2


@pytest.mark.usefixtures("_installed")
def test_a_failure_is_recorded_and_raised_again(provider, recorder):
    provider.stop()
    with listening(recorder), pytest.raises(ConnectionRefusedError):
        with_httplib2(f"{provider.url}/text")
    outcome = recorder.interactions[0].outcome
    assert isinstance(outcome, Error)
    with listening(served(recorder)), pytest.raises(ConnectionRefusedError):
        with_httplib2(f"{provider.url}/text")


@pytest.mark.usefixtures("_installed")
def test_a_cancelled_outcome_cannot_be_repeated():
    with listening(ListRecorder([Cancelled()])), pytest.raises(CassetteError, match="cancelled"):
        with_httplib2("http://h/")
