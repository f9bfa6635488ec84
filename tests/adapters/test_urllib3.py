from __future__ import annotations

import array
import gc
import inspect
import io
import json
import socket
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
import requests
import urllib3
from urllib3.connectionpool import HTTPConnectionPool, HTTPSConnectionPool
from urllib3.exceptions import (
    ConnectTimeoutError,
    DecodeError,
    MaxRetryError,
    NewConnectionError,
    ProtocolError,
    ReadTimeoutError,
)

from adapters.urllib3 import URLLIB3
from cassettes.errors import CassetteError, TrialStopped
from cassettes.model import Cancelled, Error, Stream, Value
from cassettes.recorder import listening
from tests.fakes import ListRecorder
from tests.provider import BINARY

CHAT = {"model": "m", "messages": [{"role": "user", "content": "hi"}]}
ORIGINALS = {HTTPConnectionPool: "_make_request", HTTPSConnectionPool: "_prepare_proxy"}


@pytest.fixture(autouse=True)
def _installed():
    originals = [vars(cls)[name] for cls, name in ORIGINALS.items()]
    URLLIB3.install()
    URLLIB3.install()
    yield
    URLLIB3.uninstall()
    assert [vars(cls)[name] for cls, name in ORIGINALS.items()] == originals
    assert URLLIB3.patched() == []


@pytest.fixture
def recorder():
    return ListRecorder()


@pytest.fixture
def pool():
    with urllib3.PoolManager(retries=False) as manager:
        yield manager


@pytest.fixture
def session():
    with requests.Session() as s:
        yield s


def served(recorder):
    return ListRecorder(source=recorder.interactions)


def streaming(provider, **headers):
    """Arguments of a request for a stream."""
    return {
        "url": f"{provider.base_url}/chat/completions",
        "json": CHAT | {"stream": True},
        "headers": {f"x-{name}": value for name, value in headers.items()},
    }


# -- what is patched


def test_the_private_parts_that_the_adapter_stands_on():
    assert URLLIB3.patched() == [
        "urllib3.connectionpool.HTTPConnectionPool._make_request",
        "urllib3.connectionpool.HTTPSConnectionPool._prepare_proxy",
    ]
    URLLIB3.uninstall()
    parameters = list(inspect.signature(HTTPConnectionPool._make_request).parameters)
    assert parameters[:6] == ["self", "conn", "method", "url", "body", "headers"]
    assert {"retries", "response_conn", "preload_content", "decode_content"} < set(parameters[6:])
    assert "_make_request" not in vars(HTTPSConnectionPool)
    assert list(inspect.signature(HTTPSConnectionPool._prepare_proxy).parameters) == ["self", "conn"]
    urlopen = inspect.getsource(HTTPConnectionPool.urlopen)
    assert urlopen.count("self._make_request(") == 1
    assert "headers=headers," in urlopen
    response = urllib3.HTTPResponse
    assert list(inspect.signature(response._raw_read).parameters) == ["self", "amt", "read1"]
    assert list(inspect.signature(response._handle_chunk).parameters) == ["self", "amt"]
    # Nothing but these two takes the body's bytes: the others read the sizes and line ends between chunks.
    taking = {
        "self._fp.read(": ["_fp_read"],
        "self._fp.read1(": ["_fp_read"],
        "self._fp._safe_read(": ["_handle_chunk"],
    }
    for call, takers in taking.items():
        assert [name for name, item in vars(response).items() if call in _source(item)] == takers
    assert [name for name, item in vars(response).items() if "self._fp_read(" in _source(item)] == ["_raw_read"]
    URLLIB3.install()
    assert URLLIB3.versions()["urllib3"] == urllib3.__version__
    assert URLLIB3.versions()["requests"] == requests.__version__


def _source(item):
    return inspect.getsource(item) if inspect.isfunction(item) else ""


def test_importing_the_adapters_imports_no_client():
    script = """
import sys
from adapters.aiohttp import AIOHTTP
from adapters.urllib3 import URLLIB3
from adapters.vcr_clients import VCR_CLIENTS
for adapter in (AIOHTTP, URLLIB3, VCR_CLIENTS):
    assert adapter.versions()
clients = ("aiohttp", "botocore", "httplib2", "requests", "tornado", "urllib3", "vcr")
print([name for name in clients if name in sys.modules])
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_an_old_urllib3_is_named_and_left_alone(monkeypatch, caplog):
    adapter = type(URLLIB3)()
    monkeypatch.setattr("importlib.metadata.version", lambda _: "1.26.20")
    adapter.install()
    assert adapter.patched() == []
    assert "1.26.20 is not captured" in caplog.text


def test_without_a_trial_nothing_is_touched(provider, pool):
    response = pool.request("GET", f"{provider.url}/forever", preload_content=False)
    assert type(response) is urllib3.HTTPResponse
    assert next(response.stream()).startswith(b"data: tick 0")
    response.close()
    response = pool.request("GET", f"{provider.url}/text")
    assert type(response) is urllib3.HTTPResponse


# -- ordinary bodies


def seen(response):
    return response.status, response.data, response.reason, response.headers.get("content-type"), response.version


@pytest.mark.parametrize("path", ["/echo?a=1", "/binary", "/text", "/redirect"])
@pytest.mark.parametrize("preload", [True, False])
def test_recorded_then_served_without_a_network(provider, pool, recorder, path, preload):
    def get():
        response = pool.request("GET", provider.url + path, preload_content=preload, retries=3)
        return seen(response), response.url

    with listening(recorder):
        first = get()
    provider.stop()
    with listening(served(recorder)):
        assert get() == first
    assert len(recorder.interactions) == (2 if path == "/redirect" else 1)
    body = recorder.interactions[-1].outcome.value["body"]
    assert body == (BINARY if path == "/binary" else first[0][1].decode())


@pytest.mark.parametrize("path", ["/echo?a=1", "/binary", "/text", "/redirect"])
def test_requests_gets_the_same_response(provider, session, recorder, path):
    def get():
        response = session.get(provider.url + path)
        history = [r.status_code for r in response.history]
        return response.status_code, response.content, response.text, response.reason, response.url, history

    with listening(recorder):
        first = get()
    provider.stop()
    with listening(served(recorder)):
        assert get() == first


def test_a_call_is_told_as_it_was_made(provider, session, recorder):
    with listening(recorder):
        session.post(f"{provider.url}/echo?x=1", json={"a": [1]}, headers={"Authorization": "Bearer secret-key"})
    (call,) = recorder.calls
    assert call.name == f"POST {provider.url.removeprefix('http://')}/echo"
    assert call.arguments == {"url": f"{provider.url}/echo?x=1", "body": {"a": [1]}}
    assert "secret" not in repr(recorder.interactions)


@pytest.mark.parametrize(
    ("make", "url"),
    [
        (lambda: urllib3.HTTPConnectionPool("h"), "http://h/x"),
        (lambda: urllib3.HTTPConnectionPool("h", 80), "http://h/x"),
        (lambda: urllib3.HTTPConnectionPool("h", 81), "http://h:81/x"),
        (lambda: urllib3.HTTPSConnectionPool("h", 443), "https://h/x"),
        (lambda: urllib3.HTTPConnectionPool("::1", 8080), "http://[::1]:8080/x"),
    ],
)
def test_the_url_is_the_one_asked_for(make, url):
    recorder = ListRecorder([Value({"status": 200, "body": "frozen"})])
    with make() as pool, listening(recorder):
        assert pool.request("GET", "/x").data == b"frozen"
    assert recorder.calls[0].arguments["url"] == url


@pytest.mark.parametrize("encoding", ["gzip", "deflate", "br", "zstd", "none-such"])
@pytest.mark.parametrize("path", ["/text", "/binary"])
def test_encoded_bodies_reach_the_agent_as_they_did_live(provider, pool, recorder, encoding, path):
    def get(**options):
        return pool.request("GET", provider.url + path, headers={"x-enc": encoding}, **options).data

    with listening(recorder):
        first = get(), get(decode_content=False)
    provider.stop()
    with listening(served(recorder)):
        assert (get(), get(decode_content=False)) == first
    decoded, raw = (i.outcome.value for i in recorder.interactions)
    assert ["content-encoding", encoding] in raw["headers"]
    known = encoding in urllib3.HTTPResponse.CONTENT_DECODERS
    assert (["content-encoding", encoding] in decoded["headers"]) is not known
    if path == "/text" and known:
        assert decoded["body"] == "Grüße \0 ☃"


@pytest.mark.parametrize("encoding", ["gzip", "deflate", "br"])
def test_requests_undoes_encodings_and_its_raw_stream_does_not(provider, session, recorder, encoding):
    def get():
        headers = {"x-enc": encoding}
        with session.get(f"{provider.url}/text", headers=headers, stream=True) as response:
            return session.get(f"{provider.url}/text", headers=headers).text, response.raw.read()

    with listening(recorder):
        first = get()
    assert first[0] == "Grüße \0 ☃"
    assert first[1] != first[0].encode()
    with listening(served(recorder)):
        assert get() == first


def test_a_damaged_encoding_raises_the_same_error(pool, recorder):
    damaged = HEAD + b"content-encoding: gzip\r\n\r\nnot gzip at all"
    with raw_server(damaged) as url, listening(recorder), pytest.raises(DecodeError):
        pool.request("GET", url)
    with listening(served(recorder)), pytest.raises(DecodeError):
        pool.request("GET", url)


def test_head_and_empty_answers(provider, pool, recorder):
    def head():
        return pool.request("HEAD", f"{provider.url}/text").data

    with listening(recorder):
        first = head()
    with listening(served(recorder)):
        assert head() == first
    assert recorder.interactions[0].outcome.value["body"] == ""


class _Whole(urllib3.BaseHTTPResponse):
    """Like a response of HTTP/2: read whole before anyone sees it."""

    def __init__(self, inner):
        options = {"version": 20, "version_string": "HTTP/2", "decode_content": True, "request_url": None}
        super().__init__(headers=inner.headers, status=inner.status, reason=None, **options)
        self._data = inner.read()
        self.length_remaining = 0

    @property
    def data(self):
        return self._data

    @property
    def url(self):
        return None

    @url.setter
    def url(self, url):
        """It has none."""


class _Other(urllib3.HTTPResponse):
    """A class of the user's own."""


@pytest.mark.parametrize("kind", [_Whole, _Other])
def test_a_response_of_another_class(provider, recorder, monkeypatch, kind):
    original = urllib3.connection.HTTPConnection.getresponse

    def getresponse(connection):
        response = original(connection)
        if kind is _Whole:
            return _Whole(response)
        response.__class__ = _Other
        return response

    monkeypatch.setattr(urllib3.connection.HTTPConnection, "getresponse", getresponse)
    with urllib3.PoolManager() as pool:
        with listening(recorder):
            live = pool.request("GET", f"{provider.url}/text")
            assert isinstance(live, kind)
        with listening(served(recorder)):
            assert pool.request("GET", f"{provider.url}/text").data == live.data
    assert recorder.interactions[0].outcome.value["body"] == "Grüße \0 ☃"


# -- request bodies


@pytest.mark.parametrize(
    "body",
    [
        b"ab",
        "ab",
        bytearray(b"ab"),
        array.array("B", b"ab"),
        [b"a", b"b"],
        (b"a", "b"),
    ],
)
def test_a_body_of_any_form_is_recorded_and_sent(provider, pool, recorder, body):
    with listening(recorder):
        pool.request("POST", f"{provider.url}/echo", body=body)
    assert provider.requests[0].body == b"ab"
    assert recorder.calls[0].arguments["body"] == "ab"


@pytest.mark.parametrize("make", [lambda: iter([b"a", b"b"]), lambda: io.BytesIO(b"ab"), lambda: io.StringIO("ab")])
def test_a_streamed_upload_is_read_once_and_sent_as_without_a_trial(provider, session, recorder, make):
    session.post(f"{provider.url}/echo", data=make())
    session.cookies.clear()
    with listening(recorder):
        session.post(f"{provider.url}/echo", data=make())
    plain, recorded = provider.requests
    assert (recorded.body, recorded.headers) == (plain.body, plain.headers)
    assert recorder.calls[0].arguments["body"] == "ab"


def test_the_second_upload_of_a_form_is_the_same_call(provider, session, recorder):
    def upload():
        return session.post(f"{provider.url}/upload", files={"f": ("a.bin", b"\x00\xff" * 10)}).status_code

    with listening(recorder):
        assert upload() == 200
    with listening(served(recorder)):
        assert upload() == 200
    assert provider.count == 1


# -- streams


def test_the_first_chunk_arrives_before_the_second_is_sent(provider, session, recorder):
    with listening(recorder):
        provider.release()
        asked = streaming(provider, gate="1", chunks="3")
        with session.post(**asked, stream=True) as response:
            pieces = response.iter_content(None)
            first = next(pieces)  # the server holds the second one back
            assert b"tok0" in first
            assert b"tok1" not in first
            provider.release(3)
            rest = b"".join(pieces)
    (interaction,) = recorder.interactions
    assert b"".join(c.data for c in interaction.outcome.chunks) == first + rest
    assert (len(interaction.outcome.chunks), interaction.outcome.complete) == (4, True)
    assert interaction.reply.text == "tok0 tok1 tok2 "


@pytest.mark.parametrize("encoding", ["gzip", "deflate", "br"])
def test_an_encoded_stream_arrives_and_is_recorded_piece_by_piece(provider, session, recorder, encoding):
    with listening(recorder):
        provider.release()
        with session.post(**streaming(provider, gate="1", enc=encoding), stream=True) as response:
            pieces = response.iter_content(None)
            assert b"tok0" in next(pieces)
            provider.release(9)
            for _ in pieces:
                pass
    outcome = recorder.interactions[0].outcome
    assert (outcome.head["encoding"], outcome.complete) == (encoding, True)
    assert sum(chunk.data.count(b"data:") for chunk in outcome.chunks) == 6


WAYS = {
    "stream": lambda r: list(r.stream()),
    "stream of 7": lambda r: list(r.stream(7)),
    "read all": lambda r: [r.read()],
    "read 10": lambda r: list(iter(lambda: r.read(10), b"")),
    "read1": lambda r: b"".join(iter(r.read1, b"")),
    "lines": list,
    "data": lambda r: [r.data],
    "chunked": lambda r: list(r.read_chunked()),
    "buffered": lambda r: io.BufferedReader(r, 100).read(50),
    "readinto": lambda r: [r.readinto(bytearray(9)), r.drain_conn()],
}


@pytest.mark.parametrize("way", WAYS)
def test_a_stream_is_read_in_any_way(provider, pool, recorder, way):
    def read():
        response = pool.request("POST", **streaming(provider, chunks="3"), preload_content=False)
        pieces = WAYS[way](response)
        response.close()
        return pieces

    with listening(recorder):
        first = read()
    provider.stop()
    with listening(served(recorder)):
        assert read() == first
    outcome = recorder.interactions[0].outcome
    assert outcome.complete is (way != "buffered")
    if way.startswith("stream"):
        assert len(outcome.chunks) == 4  # as they came, however small the pieces in which they were read


@pytest.mark.parametrize(
    "way",
    [
        lambda r: list(r.iter_content(5)),
        lambda r: list(r.iter_content(None)),
        lambda r: list(r.iter_lines()),
        lambda r: r.text,
        lambda r: r.raw.read(20),
    ],
)
@pytest.mark.parametrize("stream", [True, False])
def test_requests_reads_a_stream_in_any_way(provider, session, recorder, way, stream):
    def read():
        with session.post(**streaming(provider, chunks="3"), stream=stream) as response:
            return way(response)

    with listening(recorder):
        first = read()
    with listening(served(recorder)):
        assert read() == first
    assert provider.count == 1


def test_an_endless_stream_is_left_after_three_events(provider, session, recorder):
    def three():
        with session.get(f"{provider.url}/forever", stream=True) as response:
            lines = (line for line in response.iter_lines(chunk_size=1) if line)
            return [next(lines) for _ in range(3)]

    with listening(recorder):
        assert three() == [b"data: tick 0", b"data: tick 1", b"data: tick 2"]
    assert provider.left.wait(20)
    outcome = recorder.interactions[0].outcome
    assert (outcome.complete, outcome.error, len(outcome.chunks)) == (False, None, 3)
    with listening(served(recorder)):
        assert three() == [b"data: tick 0", b"data: tick 1", b"data: tick 2"]


def test_a_server_that_drops_is_the_same_error_after_the_same_chunks(provider, session, recorder):
    def read():
        pieces = []
        with session.post(**streaming(provider, chunks="20", drop="5"), stream=True) as response:
            try:
                for piece in response.iter_content(None):
                    pieces.append(piece)  # noqa: PERF402 - the error comes in the middle
            except requests.exceptions.ChunkedEncodingError as error:
                return pieces, str(error)

    with listening(recorder):
        first = read()
    assert len(first[0]) == 5
    outcome = recorder.interactions[0].outcome
    assert [c.data for c in outcome.chunks] == first[0]
    assert isinstance(outcome.error, ProtocolError)
    with listening(served(recorder)):
        assert read() == first


@pytest.mark.parametrize("preload", [True, False])
def test_a_plain_body_that_breaks_off(provider, pool, recorder, preload):
    def get():
        asked = {"headers": {"x-drop": "100"}, "preload_content": preload}
        with pytest.raises(ProtocolError) as caught:
            pool.request("GET", f"{provider.url}/binary", **asked).read(9999)
        return str(caught.value)

    with listening(recorder):
        first = get()
    with listening(served(recorder)):
        assert get() == first
    outcome = recorder.interactions[0].outcome
    assert not outcome.complete
    assert b"".join(c.data for c in outcome.chunks) in {BINARY[:100], b""}


def test_a_body_shorter_than_promised_reaches_a_client_that_does_not_mind(provider, recorder):
    def get():
        asked = {"headers": {"x-drop": "100"}, "preload_content": False, "enforce_content_length": False}
        with urllib3.HTTPConnectionPool("127.0.0.1", port) as pool:
            response = pool.urlopen("GET", "/binary", **asked)
            return response.read(9999), response.read(9999), response.headers["content-length"]

    port = int(provider.url.rpartition(":")[2])
    with listening(recorder):
        first = get()
    assert first == (BINARY[:100], b"", str(len(BINARY)))
    with listening(served(recorder)):
        assert get() == first


def test_a_plain_body_left_early_is_a_cut_stream(provider, pool, recorder):
    with listening(recorder):
        response = pool.request("GET", f"{provider.url}/binary", preload_content=False)
        response.close()
    assert recorder.interactions[0].outcome == Stream(recorder.interactions[0].outcome.head, (), complete=False)


def test_a_response_that_nobody_closed_is_recorded_when_it_is_collected(provider, pool, recorder):
    with listening(recorder):
        response = pool.request("GET", f"{provider.url}/forever", preload_content=False)
    assert not recorder.interactions
    del response
    gc.collect()
    assert recorder.wait(1)
    assert recorder.interactions[0].outcome.complete is False


def test_a_replayed_response_gives_its_connection_back(provider, recorder):
    answers = [Value({"status": 200, "body": "one"}), Value({"status": 200, "body": "two"})]
    with urllib3.HTTPConnectionPool("nowhere.test", maxsize=1, block=True) as pool, listening(ListRecorder(answers)):
        for text in (b"one", b"two"):
            response = pool.urlopen("GET", "/", preload_content=False, pool_timeout=1)
            assert b"".join(response.stream()) == text


# -- errors


def test_a_provider_that_is_not_there(provider, session, pool):
    provider.stop()
    for get, kind in (
        (lambda: pool.request("GET", f"{provider.url}/x"), NewConnectionError),
        (lambda: pool.request("GET", f"{provider.url}/x", retries=0), MaxRetryError),
        (lambda: session.get(f"{provider.url}/x"), requests.ConnectionError),
    ):
        recorder = ListRecorder()
        with listening(recorder), pytest.raises(kind) as live:
            get()
        with listening(served(recorder)), pytest.raises(kind) as again:
            get()
        assert str(again.value) == str(live.value)


def test_a_read_timeout_is_a_read_timeout_again(provider, pool, recorder):
    def read():
        response = pool.request("POST", **streaming(provider, gate="1"), preload_content=False)
        if response.connection.sock is not None:
            response.connection.sock.settimeout(0.01)
        with pytest.raises(ReadTimeoutError) as caught:
            response.read()
        return str(caught.value)

    with listening(recorder):
        first = read()
    assert isinstance(recorder.interactions[0].outcome.error, ReadTimeoutError)
    with listening(served(recorder)):
        assert read() == first
    assert provider.count == 1


def test_a_timeout_before_the_head(provider, recorder, session):
    url = f"{provider.url}/silent"
    with listening(recorder), pytest.raises(requests.ReadTimeout) as live:
        session.get(url, timeout=(20, 0.05))
    with listening(served(recorder)), pytest.raises(requests.ReadTimeout) as again:
        session.get(url, timeout=(20, 0.05))
    assert str(again.value) == str(live.value)


def test_a_connect_timeout_names_the_connection_again(recorder, session, monkeypatch):
    def never(*_, **__):
        raise TimeoutError

    monkeypatch.setattr("urllib3.util.connection.create_connection", never)
    with listening(recorder), pytest.raises(requests.ConnectTimeout) as live:
        session.get("http://nowhere.test/", timeout=1)
    assert isinstance(recorder.interactions[0].outcome.error, ConnectTimeoutError)
    with listening(served(recorder)), pytest.raises(requests.ConnectTimeout) as again:
        session.get("http://nowhere.test/", timeout=1)
    assert type(again.value.args[0].reason.args[0]) is type(live.value.args[0].reason.args[0])


@pytest.mark.parametrize("error", [KeyboardInterrupt(), SystemExit(3), ValueError("x", 1)])
def test_other_exceptions(pool, recorder, monkeypatch, error):
    def connect(*_, **__):
        raise error

    monkeypatch.setattr("urllib3.util.connection.create_connection", connect)
    for turn in (recorder, None):
        with listening(turn or served(recorder)), pytest.raises(type(error)) as caught:
            pool.request("GET", "http://nowhere.test/")
        assert caught.value.args == error.args


def test_each_attempt_of_a_retry_is_an_interaction(provider, recorder):
    def get():
        retries = urllib3.Retry(2, status_forcelist=[503], backoff_factor=0)
        with urllib3.PoolManager(retries=retries) as manager, pytest.raises(MaxRetryError) as caught:
            manager.request("GET", f"{provider.url}/text", headers={"x-status": "503"})
        return str(caught.value)

    with listening(recorder):
        first = get()
    assert len(recorder.interactions) == 3
    with listening(served(recorder)):
        assert get() == first
    assert provider.count == 3


def test_a_cancelled_outcome_cannot_be_repeated_by_sync_code(pool):
    with listening(ListRecorder([Cancelled()])), pytest.raises(CassetteError, match="cancelled"):
        pool.request("GET", "http://h/")


@pytest.mark.parametrize("answer", [Value("text"), Value({"status": 200}), Stream(None, ())])
def test_an_answer_that_is_no_response(pool, answer):
    with listening(ListRecorder([answer])), pytest.raises(CassetteError, match="no HTTP response"):
        pool.request("GET", "http://h/")


def test_an_upgraded_connection_cannot_be_replayed(pool, recorder):
    with raw_server(b"HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\n\r\n") as url, listening(recorder):
        response = pool.request("GET", url, preload_content=False)
        assert response.status == 101
        response.close()
    with listening(served(recorder)), pytest.raises(CassetteError, match="websocket"):
        pool.request("GET", url)


def test_an_error_outcome_can_be_served_twice(pool):
    error = Error(ReadTimeoutError(None, "/x", "slow"))
    with listening(ListRecorder([error, error])):
        for _ in range(2):
            with pytest.raises(ReadTimeoutError, match="slow") as caught:
                pool.request("GET", "http://h/")
            assert isinstance(caught.value.pool, HTTPConnectionPool)
    assert error.error.pool is None


def test_a_stopped_trial_opens_no_connection(session, monkeypatch):
    monkeypatch.setattr("socket.socket.connect", lambda *_: pytest.fail("a connection was opened"))
    proxies = {"https": "http://127.0.0.1:9"}
    for url, options in (("http://127.0.0.1/", {}), ("https://127.0.0.1/", {"proxies": proxies})):
        with listening(ListRecorder(source=[])), pytest.raises(TrialStopped):
            session.get(url, **options)


def test_a_tunnel_is_opened_only_when_the_request_goes_live(recorder, session):
    with raw_server(b"HTTP/1.1 407 Proxy Authentication Required\r\n\r\n") as proxy:
        options = {"proxies": {"https": proxy}, "verify": False}
        session.trust_env = False
        with listening(recorder), pytest.raises(requests.exceptions.ProxyError) as live:
            session.get("https://nowhere.test/", **options)
    with listening(served(recorder)), pytest.raises(requests.exceptions.ProxyError) as again:
        session.get("https://nowhere.test/", **options)
    assert str(again.value) == str(live.value)


# -- several trials at once, and adapters of the user


def test_trials_in_threads_do_not_mix(provider):
    recorders = [ListRecorder() for _ in range(4)]
    start = threading.Barrier(4, timeout=20)

    def trial(number):
        with listening(recorders[number]):
            start.wait()
            for call in range(8):
                requests.get(f"{provider.url}/echo?trial={number}&call={call}", timeout=20)

    with ThreadPoolExecutor(4) as executor:
        list(executor.map(trial, range(4)))
    for number, recorder in enumerate(recorders):
        paths = [json.loads(i.outcome.value["body"])["path"] for i in recorder.interactions]
        assert paths == [f"/echo?trial={number}&call={call}" for call in range(8)]


def test_an_adapter_of_the_user_is_captured_like_any_other(provider, session, recorder):
    class Own(requests.adapters.HTTPAdapter):
        def send(self, request, **options):
            request.headers["x-own"] = "1"
            return super().send(request, **options)

    session.mount("http://", Own())
    with listening(recorder):
        first = session.get(f"{provider.url}/text").text
    assert provider.requests[0].headers["x-own"] == "1"
    with listening(served(recorder)):
        assert session.get(f"{provider.url}/text").text == first
    assert provider.count == 1


def test_no_cookie_is_set_in_replay(provider, session, recorder):
    with listening(recorder):
        session.get(f"{provider.url}/text")
    assert session.cookies.get("session") == "secret-cookie"
    session.cookies.clear()
    with listening(served(recorder)):
        session.get(f"{provider.url}/text")
    assert not session.cookies


HEAD = b"HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-type: text/plain\r\n"


class raw_server:  # noqa: N801 - used like a function
    """Answers one connection with these bytes."""

    def __init__(self, answer):
        self._answer = answer
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._thread = threading.Thread(target=self._serve)

    def __enter__(self):
        self._thread.start()
        return f"http://127.0.0.1:{self._listener.getsockname()[1]}/"

    def __exit__(self, *_):
        self._thread.join()
        self._listener.close()

    def _serve(self):
        connection, _ = self._listener.accept()
        with connection:
            connection.recv(65536)
            connection.sendall(self._answer)
