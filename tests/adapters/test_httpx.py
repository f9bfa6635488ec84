from __future__ import annotations

import asyncio
import gc
import inspect
import json
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import httpx
import httpx2
import pytest

from adapters.httpx import HTTPX, HTTPX2
from cassettes.errors import CassetteError, TrialStopped
from cassettes.model import Cancelled, Chunk, Error, Stream, Value
from cassettes.recorder import listening
from tests.fakes import ListRecorder
from tests.provider import BINARY

LIBRARIES = {"httpx": (httpx, HTTPX), "httpx2": (httpx2, HTTPX2)}
CHAT = {"model": "m", "messages": [{"role": "user", "content": "hi"}]}


@pytest.fixture(params=LIBRARIES)
def lib(request):
    module, adapter = LIBRARIES[request.param]
    originals = [vars(cls)["_transport_for_url"] for cls in (module.Client, module.AsyncClient)]
    adapter.install()
    adapter.install()
    yield module
    adapter.uninstall()
    assert [vars(cls)["_transport_for_url"] for cls in (module.Client, module.AsyncClient)] == originals
    assert adapter.patched() == []


@pytest.fixture
def recorder():
    return ListRecorder()


def served(recorder):
    return ListRecorder(source=recorder.interactions)


def seen(response):
    return response.status_code, response.content, response.http_version, response.headers.get("content-type")


async def asent(lib, method, url, **options):
    async with lib.AsyncClient() as client:
        return await client.request(method, url, **options)


# -- what is patched


@pytest.mark.parametrize("name", LIBRARIES)
def test_the_private_parts_that_the_adapter_stands_on(name):
    module, adapter = LIBRARIES[name]
    for cls in (module.Client, module.AsyncClient):
        assert list(inspect.signature(cls._transport_for_url).parameters) == ["self", "url"]
        assert "self._transport_for_url(request.url)" in inspect.getsource(cls._send_single_request)
    assert {"identity", "gzip", "deflate"} <= set(module._decoders.SUPPORTED_DECODERS)
    assert adapter.versions() == {name: module.__version__}
    adapter.install()
    assert adapter.patched() == [f"{name}.Client._transport_for_url", f"{name}.AsyncClient._transport_for_url"]
    adapter.uninstall()


def test_importing_the_package_imports_no_client():
    script = """
import sys, adapters, adapters.httpx
adapters.httpx.HTTPX.versions()
print([name for name in ("httpx", "httpx2", "openai", "vcr") if name in sys.modules])
adapters.httpx.HTTPX2.install()
print([name for name in ("httpx", "httpx2", "openai", "vcr") if name in sys.modules])
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["[]", "['httpx2']"]


def test_a_library_that_is_not_installed_is_left_alone():
    adapter = type(HTTPX)("no_such_client")
    adapter.install()
    assert (adapter.patched(), adapter.versions()) == ([], {})
    adapter.uninstall()


def test_without_a_trial_nothing_is_touched(lib, provider):
    class Transport(lib.BaseTransport):
        def handle_request(self, request):
            self.request = request
            self.response = lib.Response(200, stream=lib.ByteStream(b"ab"))
            self.stream = self.response.stream
            return self.response

    transport = Transport()
    with lib.Client(transport=transport) as client:
        assert client._transport_for_url(lib.URL("http://h/")) is transport
        with client.stream("POST", "http://h/", content=iter([b"x"])) as response:
            assert transport.response is response
            assert response.stream._stream is transport.stream
            assert not hasattr(transport.request, "_content")


# -- ordinary bodies


@pytest.mark.parametrize("path", ["/echo?a=1", "/binary", "/text", "/redirect"])
def test_recorded_then_served_without_a_network(lib, provider, recorder, path):
    with lib.Client(follow_redirects=True) as client:
        with listening(recorder):
            first = client.get(provider.url + path)
        provider.stop()
        with listening(served(recorder)):
            again = client.get(provider.url + path)
    assert seen(again) == seen(first)
    assert [r.status_code for r in again.history] == [r.status_code for r in first.history]
    assert again.headers["content-length"] == str(len(first.content))
    assert again.text == first.text
    outcome = recorder.interactions[-1].outcome.value
    assert outcome["body"] == (BINARY if path == "/binary" else first.text)


def test_the_same_in_async(lib, provider, recorder):
    with listening(recorder):
        first = asyncio.run(asent(lib, "POST", f"{provider.url}/echo", json={"a": [1]}))
    provider.stop()
    with listening(served(recorder)):
        again = asyncio.run(asent(lib, "POST", f"{provider.url}/echo", json={"a": [1]}))
    assert seen(again) == seen(first)
    (interaction,) = recorder.interactions
    assert interaction.call.arguments == {"url": f"{provider.url}/echo", "body": {"a": [1]}}
    assert interaction.call.effect == "write"


def test_no_secret_is_kept(lib, provider, recorder):
    with listening(recorder):
        lib.get(f"{provider.url}/echo", headers={"Authorization": "Bearer secret-key", "Cookie": "a=secret"})
    assert "secret" not in repr(recorder.interactions)
    assert ["content-type", "application/json"] in recorder.interactions[0].outcome.value["headers"]


@pytest.mark.parametrize("encoding", ["gzip", "deflate", "br", "zstd", "none-such"])
@pytest.mark.parametrize("path", ["/text", "/binary"])
def test_encoded_bodies_reach_the_agent_as_they_did_live(lib, provider, recorder, encoding, path):
    def get(client):
        response = client.get(provider.url + path, headers={"x-enc": encoding})
        return response.content, [c for _, c in zip(range(3), [response.content[:9]], strict=False)]

    with lib.Client() as client:
        with listening(recorder):
            first = get(client)
        provider.stop()
        with listening(served(recorder)):
            assert get(client) == first
    outcome = recorder.interactions[0].outcome.value
    assert outcome["encoding"] == encoding
    raw = encoding not in lib._decoders.SUPPORTED_DECODERS
    assert (["content-encoding", encoding] in outcome["headers"]) is raw
    if path == "/text":
        assert raw or outcome["body"] == "Grüße \0 ☃"


def test_a_damaged_encoding_raises_the_same_error(lib, recorder):
    def handler(request):
        return lib.Response(200, headers={"content-encoding": "gzip"}, stream=lib.ByteStream(b"not gzip at all"))

    with lib.Client(transport=lib.MockTransport(handler)) as client:
        for turn in (recorder, served_later := ListRecorder()):
            with listening(turn), pytest.raises(lib.DecodingError):
                client.get("http://h/")
        with listening(served(served_later)), pytest.raises(lib.DecodingError):
            client.get("http://h/")
    assert isinstance(recorder.interactions[0].outcome.error, lib.DecodingError)


def test_head_and_empty_answers(lib, provider, recorder):
    with lib.Client() as client:
        with listening(recorder):
            client.head(f"{provider.url}/text")
            with client.stream("HEAD", f"{provider.url}/text"):
                pass
        with listening(served(recorder)):
            assert client.head(f"{provider.url}/text").content == b""
    assert [i.outcome.value["body"] for i in recorder.interactions] == ["", ""]


def test_a_streamed_request_body_is_read_once_and_still_sent(lib, provider, recorder):
    async def pieces():
        for piece in (b"a", b"b"):
            yield piece

    with listening(recorder):
        lib.post(f"{provider.url}/echo", content=iter([b"a", b"b"]))
        asyncio.run(asent(lib, "POST", f"{provider.url}/echo", content=pieces()))
    assert [r.body for r in provider.requests] == [b"ab", b"ab"]
    assert [c.arguments["body"] for c in recorder.calls] == ["ab", "ab"]


def test_the_second_upload_of_a_form_is_the_same_call(lib, provider, recorder):
    def upload():
        return lib.post(f"{provider.url}/upload", files={"f": ("a.txt", b"hello")})

    with listening(recorder):
        upload()
    with listening(served(recorder)):
        assert upload().status_code == 200
    assert provider.count == 1


# -- transports


def test_a_transport_of_the_user_is_captured_like_any_other(lib, recorder):
    class Own(lib.BaseTransport):
        calls = 0

        def handle_request(self, request):
            Own.calls += 1
            return lib.Response(201, json={"n": Own.calls})

    mounted = {"http://m": lib.MockTransport(lambda _: lib.Response(202, text="mounted"))}
    with lib.Client(transport=Own(), mounts=mounted) as client:
        for turn in (recorder, lambda: None):
            with listening(turn if turn is recorder else served(recorder)):
                assert client.get("http://h/").json() == {"n": 1}
                assert client.get("http://m/").text == "mounted"
    assert Own.calls == 1


def test_an_asgi_app_is_captured_and_its_own_calls_are_children(lib, provider, recorder):
    async def app(scope, receive, send):
        await asent(lib, "GET", f"{provider.url}/text")
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", b"text/plain")]})
        await send({"type": "http.response.body", "body": b"from the app"})

    async def get():
        async with lib.AsyncClient(transport=lib.ASGITransport(app)) as client:
            return (await client.get("http://app/")).text

    with listening(recorder):
        assert asyncio.run(get()) == "from the app"
    assert [(i.call.name.partition(" ")[2][:4], i.parent) for i in recorder.interactions] == [
        ("app/", None),
        ("127.", 0),
    ]
    with listening(ListRecorder(source=recorder.interactions[:1])):
        assert asyncio.run(get()) == "from the app"
    assert provider.count == 1


def test_a_mock_answer_read_beforehand_is_recorded_as_what_it_is(lib, recorder):
    event = {"content": b"data: 1\n\n", "headers": {"content-type": "text/event-stream"}}
    with lib.Client(transport=lib.MockTransport(lambda _: lib.Response(200, **event))) as client, listening(recorder):
        assert client.get("http://h/").content == b"data: 1\n\n"
    assert recorder.interactions[0].outcome.chunks == (Chunk(0.0, b"data: 1\n\n"),)


# -- streams


def test_the_first_chunk_arrives_before_the_second_is_sent(lib, provider, recorder):
    options = {"json": CHAT | {"stream": True}, "headers": {"x-gate": "1", "x-chunks": "3"}}
    with listening(recorder), lib.Client() as client:
        provider.release()
        with client.stream("POST", f"{provider.base_url}/chat/completions", **options) as response:
            pieces = response.iter_bytes()
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
def test_an_encoded_stream_arrives_and_is_recorded_piece_by_piece(lib, provider, recorder, encoding):
    options = {"json": CHAT | {"stream": True}, "headers": {"x-gate": "1", "x-enc": encoding}}
    with listening(recorder), lib.Client() as client:
        provider.release()
        with client.stream("POST", f"{provider.base_url}/chat/completions", **options) as response:
            pieces = response.iter_bytes()
            assert b"tok0" in next(pieces)
            provider.release(9)
            for _ in pieces:
                pass
    outcome = recorder.interactions[0].outcome
    assert (outcome.head["encoding"], outcome.complete) == (encoding, True)
    assert sum(chunk.data.count(b"data:") for chunk in outcome.chunks) == 6
    assert recorder.interactions[0].reply.text == "tok0 tok1 tok2 tok3 tok4 "


def test_an_endless_stream_is_left_after_three_events(lib, provider, recorder):
    def three(client):
        with client.stream("GET", f"{provider.url}/forever") as response:
            lines = (line for line in response.iter_lines() if line)
            return [next(lines) for _ in range(3)]

    with lib.Client() as client:
        with listening(recorder):
            assert three(client) == ["data: tick 0", "data: tick 1", "data: tick 2"]
        assert provider.left.wait(20)
        outcome = recorder.interactions[0].outcome
        assert (outcome.complete, outcome.error) == (False, None)
        with listening(served(recorder)):
            assert three(client) == ["data: tick 0", "data: tick 1", "data: tick 2"]


def test_an_endless_stream_in_async(lib, provider, recorder):
    async def three():
        async with lib.AsyncClient() as client, client.stream("GET", f"{provider.url}/forever") as response:
            found = []
            async for line in response.aiter_lines():
                if line:
                    found.append(line)
                if len(found) == 3:
                    break
            return found

    with listening(recorder):
        first = asyncio.run(three())
    provider.stop()
    with listening(served(recorder)):
        assert asyncio.run(three()) == first
    assert not recorder.interactions[0].outcome.complete


def test_a_plain_body_left_early_is_a_cut_stream(lib, provider, recorder):
    with listening(recorder), lib.Client() as client, client.stream("GET", f"{provider.url}/binary"):
        pass
    assert recorder.interactions[0].outcome == Stream(recorder.interactions[0].outcome.head, (), complete=False)


def test_a_plain_body_that_breaks_off(lib, provider, recorder):
    with lib.Client() as client:
        with listening(recorder), pytest.raises(lib.RemoteProtocolError) as live:
            client.get(f"{provider.url}/binary", headers={"x-drop": "100"})
        with listening(served(recorder)), pytest.raises(lib.RemoteProtocolError) as again:
            client.get(f"{provider.url}/binary", headers={"x-drop": "100"})
    outcome = recorder.interactions[0].outcome
    assert b"".join(c.data for c in outcome.chunks) == BINARY[:100]
    assert outcome.error._request is None
    assert again.value.args == live.value.args
    assert again.value.request.url == live.value.request.url


def test_a_response_that_nobody_closed_is_recorded_when_it_is_collected(lib, provider, recorder):
    client = lib.Client()
    with listening(recorder):
        response = client.send(client.build_request("GET", f"{provider.url}/forever"), stream=True)
    assert not recorder.interactions
    stream = response.stream._stream._inner  # close the socket by hand at the end: nobody else will
    del response
    gc.collect()
    assert recorder.wait(1)
    assert recorder.interactions[0].outcome.complete is False
    stream.close()
    client.close()


# -- errors


def test_a_connection_error(lib, provider):
    provider.stop()
    for get in (lib.get, lambda url: asyncio.run(asent(lib, "GET", url))):
        recorder = ListRecorder()
        with listening(recorder), pytest.raises(lib.ConnectError) as live:
            get(f"{provider.url}/echo")
        with listening(served(recorder)), pytest.raises(lib.ConnectError) as again:
            get(f"{provider.url}/echo")
        assert str(again.value) == str(live.value)
        assert again.value.request.url == f"{provider.url}/echo"
        assert again.value.__cause__ is None


@pytest.mark.parametrize("error", [KeyboardInterrupt(), SystemExit(3), OSError(5, "io"), ValueError("x", 1)])
def test_other_exceptions_of_a_transport(lib, recorder, error):
    def handler(request):
        raise error

    def get():
        with lib.Client(transport=lib.MockTransport(handler)) as client:
            client.get("http://h/")

    with listening(recorder), pytest.raises(type(error)):
        get()
    with listening(served(recorder)), pytest.raises(type(error)) as again:
        get()
    assert again.value.args == error.args
    assert getattr(again.value, "code", None) == getattr(error, "code", None)
    assert getattr(again.value, "errno", None) == getattr(error, "errno", None)


def test_a_cancelled_request_waits_to_be_cancelled_again(lib, provider, recorder):
    async def timed():
        url, body = f"{provider.base_url}/chat/completions", CHAT | {"stream": True}
        async with lib.AsyncClient() as client, client.stream("POST", url, json=body, **GATED) as response:
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(0.05):
                    await response.aread()

    with listening(recorder):
        asyncio.run(timed())
    (interaction,) = recorder.interactions
    assert isinstance(interaction.outcome.error, asyncio.CancelledError)  # the head had arrived
    with listening(served(recorder)):
        asyncio.run(timed())
    assert provider.count == 1


GATED = {"headers": {"x-gate": "1"}}


def test_cancelled_before_the_response(lib, recorder):
    class Endless(lib.AsyncBaseTransport):
        async def handle_async_request(self, request):
            await asyncio.get_running_loop().create_future()

    async def timed():
        async with lib.AsyncClient(transport=Endless()) as client:
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(0.01):
                    await client.get("http://h/")

    with listening(recorder):
        asyncio.run(timed())
    assert recorder.interactions[0].outcome == Cancelled()
    with listening(served(recorder)):
        asyncio.run(timed())
    with listening(ListRecorder([Cancelled()])), pytest.raises(CassetteError, match="cancelled"):
        lib.get("http://h/")


@pytest.mark.parametrize("answer", [Value("text"), Value({"status": 200}), Stream(None, ())])
def test_an_answer_that_is_no_response(lib, answer):
    with listening(ListRecorder([answer])), pytest.raises(CassetteError, match="no HTTP response"):
        lib.get("http://h/")


def test_a_stopped_trial_passes_through_untouched(lib):
    with listening(ListRecorder(source=[])):
        with pytest.raises(TrialStopped):
            lib.get("http://h/")
        with pytest.raises(TrialStopped):
            asyncio.run(asent(lib, "GET", "http://h/"))


def test_the_delay_is_waited_for(lib, provider, monkeypatch):
    slept = []
    monkeypatch.setattr("time.sleep", slept.append)
    with listening(ListRecorder(delay=3.0)):
        lib.get(f"{provider.url}/text")
    assert slept == [3.0]


# -- several trials at once


def test_trials_in_threads_do_not_mix(lib, provider):
    recorders = [ListRecorder() for _ in range(4)]
    start = threading.Barrier(4, timeout=20)

    def trial(number):
        with listening(recorders[number]):
            start.wait()
            for call in range(8):
                lib.get(f"{provider.url}/echo?trial={number}&call={call}")

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(trial, range(4)))
    assert_own(recorders)


def test_trials_in_tasks_do_not_mix(lib, provider):
    recorders = [ListRecorder() for _ in range(4)]

    async def trial(number):
        with listening(recorders[number]):
            for call in range(8):
                await asent(lib, "GET", f"{provider.url}/echo?trial={number}&call={call}")

    async def main():
        await asyncio.gather(*(trial(number) for number in range(4)))

    asyncio.run(main())
    assert_own(recorders)


def assert_own(recorders):
    for number, recorder in enumerate(recorders):
        paths = [json.loads(i.outcome.value["body"])["path"] for i in recorder.interactions]
        assert paths == [f"/echo?trial={number}&call={call}" for call in range(8)]


def test_an_error_outcome_can_be_served_twice(lib):
    error = Error(lib.ReadTimeout("slow"))
    with listening(ListRecorder([error, error])):
        for _ in range(2):
            with pytest.raises(lib.ReadTimeout, match="slow"):
                lib.get("http://h/")
    assert error.error.__traceback__ is None


def test_an_upgraded_connection_is_passed_on_and_cannot_be_replayed(lib, recorder):
    with lib.Client(transport=lib.MockTransport(lambda _: lib.Response(101))) as client:
        with listening(recorder):
            assert client.get("http://h/ws").status_code == 101
        with listening(served(recorder)), pytest.raises(CassetteError, match="websocket"):
            client.get("http://h/ws")


def test_interrupted_while_reading(lib, recorder):
    class Body(lib.SyncByteStream):
        def __iter__(self):
            yield b"ab"
            raise KeyboardInterrupt

    with lib.Client(transport=lib.MockTransport(lambda _: lib.Response(200, stream=Body()))) as client:
        for turn in (recorder, None):
            with listening(turn or served(recorder)), pytest.raises(KeyboardInterrupt):
                client.get("http://h/")
    outcome = recorder.interactions[0].outcome
    assert (outcome.complete, [c.data for c in outcome.chunks]) == (False, [b"ab"])
