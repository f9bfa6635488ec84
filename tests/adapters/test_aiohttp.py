from __future__ import annotations

import asyncio
import gc
import inspect
import io
import json

import aiohttp
import aiohttp.web
import pytest
from aiohttp.client_proto import ResponseHandler
from aiohttp.client_reqrep import ClientRequest
from aiohttp.streams import StreamReader

from adapters.aiohttp import AIOHTTP
from cassettes.errors import CassetteError, TrialStopped
from cassettes.model import Cancelled, Error, Stream, Value
from cassettes.recorder import listening
from tests.fakes import ListRecorder
from tests.provider import BINARY

CHAT = {"model": "m", "messages": [{"role": "user", "content": "hi"}]}
ORIGINALS = {
    aiohttp.BaseConnector: "connect",
    ClientRequest: "send",
    aiohttp.ClientResponse: "start",
    ResponseHandler: "set_response_params",
}


@pytest.fixture(autouse=True)
def _installed():
    originals = [vars(cls)[name] for cls, name in ORIGINALS.items()]
    AIOHTTP.install()
    AIOHTTP.install()
    yield
    AIOHTTP.uninstall()
    assert [vars(cls)[name] for cls, name in ORIGINALS.items()] == originals
    assert AIOHTTP.patched() == []


@pytest.fixture
def recorder():
    return ListRecorder()


def served(recorder):
    return ListRecorder(source=recorder.interactions)


def under(recorder, agent, **options):
    """What an async function of a session gives while ``recorder`` listens (None: nobody does)."""

    async def main():
        async with aiohttp.ClientSession(**options) as session:
            return await agent(session)

    with listening(recorder):
        return asyncio.run(main())


def twice(recorder, provider, agent, **options):
    """The same live, and served with the provider gone."""
    first = under(recorder, agent, **options)
    provider.stop()
    return first, under(served(recorder), agent, **options)


def streaming(provider, **headers):
    """Arguments of a request for a stream."""
    return {
        "url": f"{provider.base_url}/chat/completions",
        "json": CHAT | {"stream": True},
        "headers": {f"x-{name}": value for name, value in headers.items()},
    }


# -- what is patched


def test_the_private_parts_that_the_adapter_stands_on():
    assert AIOHTTP.patched() == [
        "aiohttp.connector.BaseConnector.connect",
        "aiohttp.client_reqrep.ClientRequest.send",
        "aiohttp.client_reqrep.ClientResponse.start",
        "aiohttp.client_proto.ResponseHandler.set_response_params",
    ]
    AIOHTTP.uninstall()
    asking = inspect.getsource(aiohttp.ClientSession._request)
    steps = ("self._connector.connect(", "conn.protocol.set_response_params(", "req.send(conn)", "resp.start(conn)")
    assert [asking.count(step) for step in steps] == [1, 1, 1, 1]
    assert sorted(steps, key=asking.index) == list(steps)
    assert list(inspect.signature(aiohttp.BaseConnector.connect).parameters) == ["self", "req", "traces", "timeout"]
    assert {"_buffer", "_buffer_offset", "_eof", "_waiter"} < set(StreamReader.__slots__)
    # Bytes leave the buffer through one method, which two others call.
    pops = [name for name, item in vars(StreamReader).items() if "self._buffer.popleft" in _source(item)]
    assert pops == ["_read_nowait_chunk"]
    calls = [name for name, item in vars(StreamReader).items() if "self._read_nowait_chunk(" in _source(item)]
    assert calls == ["readuntil", "readchunk", "_read_nowait"]
    leaving = inspect.getsource(aiohttp.ClientResponse._notify_content)
    assert "set_exception(content, _CONNECTION_CLOSED_EXCEPTION)" in leaving
    AIOHTTP.install()
    assert AIOHTTP.versions() == {"aiohttp": aiohttp.__version__}


def _source(item):
    return inspect.getsource(item) if inspect.isfunction(item) else ""


def test_another_aiohttp_is_named_and_left_alone(monkeypatch, caplog):
    adapter = type(AIOHTTP)()
    monkeypatch.delattr(aiohttp.payload.Payload, "consumed")
    adapter.install()
    assert adapter.patched() == []
    assert f"aiohttp {aiohttp.__version__} is not captured" in caplog.text


def test_without_a_trial_nothing_is_touched(provider):
    async def agent(session):
        async with session.get(f"{provider.url}/forever") as response:
            assert type(response.content) is StreamReader
            return await response.content.readline()

    assert under(None, agent) == b"data: tick 0\n"


# -- ordinary bodies


@pytest.mark.parametrize("path", ["/echo?a=1", "/binary", "/text", "/redirect"])
def test_recorded_then_served_without_a_network(provider, recorder, path):
    async def agent(session):
        async with session.get(provider.url + path) as response:
            body = await response.read()
            history = [(r.status, str(r.url)) for r in response.history]
            info = response.request_info.method, str(response.request_info.real_url)
            kept = response.content_type, response.charset, str(response.url), response.reason, response.version
            return response.status, body, history, info, kept, response.ok, response.headers["content-length"]

    first, again = twice(recorder, provider, agent)
    assert again == first
    assert len(recorder.interactions) == (2 if path == "/redirect" else 1)
    body = recorder.interactions[-1].outcome.value["body"]
    assert body == (BINARY if path == "/binary" else first[1].decode())


@pytest.mark.parametrize("way", ["read", "text", "json", "__aenter__"])
def test_a_body_is_read_in_any_way(provider, recorder, way):
    async def agent(session):
        response = await session.post(f"{provider.url}/echo", json={"a": [1]})
        found = await getattr(response, way)()
        response.release()
        return None if found is response else found

    first, again = twice(recorder, provider, agent)
    assert again == first
    assert recorder.calls[0].arguments == {"url": f"{provider.url}/echo", "body": {"a": [1]}}


def test_no_secret_is_kept_and_no_cookie_is_set_in_replay(provider, recorder):
    async def agent(session):
        async with session.get(f"{provider.url}/text", headers={"Authorization": "Bearer secret-key"}) as response:
            return await response.text(), len(response.cookies)

    first, again = twice(recorder, provider, agent)
    assert (first, again) == (("Grüße \0 ☃", 1), ("Grüße \0 ☃", 0))
    assert "secret" not in repr(recorder.interactions)


@pytest.mark.parametrize("encoding", ["gzip", "deflate", "br", "none-such"])
@pytest.mark.parametrize("decompress", [True, False])
def test_encoded_bodies_reach_the_agent_as_they_did_live(provider, recorder, encoding, decompress):
    async def agent(session):
        async with session.get(f"{provider.url}/text", headers={"x-enc": encoding}) as response:
            return await response.read()

    first, again = twice(recorder, provider, agent, auto_decompress=decompress)
    assert again == first
    outcome = recorder.interactions[0].outcome.value
    undone = decompress and encoding != "none-such"
    assert (outcome["body"] == "Grüße \0 ☃") is undone
    assert (["content-encoding", encoding] in outcome["headers"]) is not undone


def test_an_answer_to_head_has_no_body(provider, recorder):
    async def agent(session):
        async with session.head(f"{provider.url}/text") as response:
            return response.status, await response.read()

    assert twice(recorder, provider, agent) == ((200, b""), (200, b""))


def test_an_answer_without_content():
    async def agent(session):
        async with session.get("http://h/") as response:
            return response.status, await response.read()

    assert under(ListRecorder([Value({"status": 204, "body": ""})]), agent) == (204, b"")


def test_an_error_status_is_raised_again(provider, recorder):
    async def agent(session):
        with pytest.raises(aiohttp.ClientResponseError) as caught:
            await session.get(f"{provider.url}/text", headers={"x-status": "404"}, raise_for_status=True)
        return caught.value.status, caught.value.message, str(caught.value.request_info.real_url)

    first, again = twice(recorder, provider, agent)
    assert again == first
    assert first[:2] == (404, "Not Found")


# -- request bodies


async def _pieces():
    for piece in (b"a", b"b"):
        yield piece


class _SentOnly(aiohttp.payload.Payload):
    """A payload that cannot be read as bytes, such as a part of another form."""

    def decode(self, *_):
        raise TypeError

    async def write(self, writer):
        self._consumed = True
        await writer.write(b"a")
        await writer.write(b"b")


class _Once(io.RawIOBase):
    """A file that cannot be rewound, such as a pipe."""

    _left = b"ab"

    def readable(self):
        return True

    def readinto(self, buffer):
        data, self._left = self._left[: len(buffer)], b""
        buffer[: len(data)] = data
        return len(data)


@pytest.mark.parametrize(
    "make",
    [
        lambda: b"ab",
        lambda: "ab",
        lambda: io.BytesIO(b"ab"),
        _pieces,
        lambda: io.BufferedReader(_Once()),
        lambda: _SentOnly(None),
    ],
)
def test_a_body_of_any_form_is_read_once_and_sent_as_without_a_trial(provider, recorder, make):
    async def agent(session):
        async with session.post(f"{provider.url}/echo", data=make()) as response:
            await response.read()

    under(None, agent)
    under(recorder, agent)
    plain, recorded = provider.requests
    assert (recorded.body, recorded.headers) == (plain.body, plain.headers)
    assert recorder.calls[0].arguments["body"] == "ab"


def test_the_second_upload_of_a_form_is_the_same_call(provider, recorder):
    async def agent(session):
        form = aiohttp.FormData()
        form.add_field("f", b"\x00\xff" * 10, filename="a.bin")
        async with session.post(f"{provider.url}/upload", data=form) as response:
            return response.status

    first, again = twice(recorder, provider, agent)
    assert (first, again, provider.count) == (200, 200, 1)


def test_a_compressed_body_is_recorded_as_it_was_before(provider, recorder):
    async def agent(session):
        async with session.post(f"{provider.url}/upload", data=b"abc", compress="deflate") as response:
            return response.status

    assert twice(recorder, provider, agent) == (200, 200)
    assert recorder.calls[0].arguments["body"] == "abc"


# -- streams


def test_the_first_chunk_arrives_before_the_second_is_sent(provider, recorder):
    async def agent(session):
        provider.release()
        async with session.post(**streaming(provider, gate="1", chunks="3")) as response:
            first = await response.content.readany()  # the server holds the second one back
            provider.release(3)
            return first, await response.read()

    first, rest = under(recorder, agent)
    assert b"tok0" in first
    assert b"tok1" not in first
    (interaction,) = recorder.interactions
    assert b"".join(c.data for c in interaction.outcome.chunks) == first + rest
    assert interaction.outcome.complete
    assert interaction.reply.text == "tok0 tok1 tok2 "


@pytest.mark.parametrize("encoding", ["gzip", "deflate", "br"])
def test_an_encoded_stream_arrives_piece_by_piece(provider, recorder, encoding):
    async def agent(session):
        provider.release()
        async with session.post(**streaming(provider, gate="1", enc=encoding)) as response:
            assert b"tok0" in await response.content.readany()
            provider.release(9)
            return await response.read()

    under(recorder, agent)
    outcome = recorder.interactions[0].outcome
    assert (outcome.head["encoding"], outcome.complete) == (encoding, True)
    assert sum(chunk.data.count(b"data:") for chunk in outcome.chunks) == 6
    assert recorder.interactions[0].reply.text == "tok0 tok1 tok2 tok3 tok4 "


async def _until_end(read):
    pieces = []
    while piece := await read():
        pieces.append(piece)
    return pieces


WAYS = {
    "read": lambda content: _until_end(content.read),
    "read 7": lambda content: _until_end(lambda: content.read(7)),
    "readany": lambda content: _until_end(content.readany),
    "readline": lambda content: _until_end(content.readline),
    "readuntil": lambda content: _until_end(lambda: content.readuntil(b"\n\n")),
    "readexactly": lambda content: _until_end(lambda: content.readexactly(20)),
    "iter_chunked": lambda content: _listed(content.iter_chunked(50)),
    "iter_any": lambda content: _listed(content.iter_any()),
    "iter_chunks": lambda content: _listed(content.iter_chunks()),
    "lines": lambda content: _listed(aiter(content)),
    "at_eof": lambda content: _while_not_at_eof(content, content.at_eof),
}


async def _listed(items):
    return [item async for item in items]


async def _while_not_at_eof(content, at_eof):
    pieces = []
    while not at_eof():
        pieces.append(await content.readline())
    return pieces


@pytest.mark.parametrize("way", WAYS)
def test_a_stream_is_read_in_any_way(provider, recorder, way):
    async def agent(session):
        async with session.post(**streaming(provider, chunks="3")) as response:
            try:
                return await WAYS[way](response.content)
            except asyncio.IncompleteReadError as error:
                return error.partial

    first, again = twice(recorder, provider, agent)
    if way in {"readline", "readuntil", "readexactly", "lines", "at_eof"}:
        assert [p for p in again if p] == [p for p in first if p]
    assert _bytes(again) == _bytes(first)
    assert recorder.interactions[0].outcome.complete


def _bytes(pieces):
    return b"".join(p[0] if isinstance(p, tuple) else p for p in pieces) if isinstance(pieces, list) else pieces


def test_what_was_read_at_once_is_read_at_once_again(provider, recorder):
    async def agent(session):
        async with session.post(**streaming(provider, chunks="3")) as response:
            return [piece async for piece in response.content.iter_any()]

    first, again = twice(recorder, provider, agent)
    assert again == first


def test_an_endless_stream_is_left_after_three_events(provider, recorder):
    async def agent(session):
        async with session.get(f"{provider.url}/forever") as response:
            lines = []
            async for line in response.content:
                lines += [line] if line.strip() else []
                if len(lines) == 3:
                    break
            return lines

    first = under(recorder, agent)
    assert provider.left.wait(20)
    assert first == [b"data: tick 0\n", b"data: tick 1\n", b"data: tick 2\n"]
    outcome = recorder.interactions[0].outcome
    assert (outcome.complete, outcome.error) == (False, None)
    assert under(served(recorder), agent) == first


@pytest.mark.parametrize("leave", ["release", "close"])
def test_a_body_left_early_is_a_cut_stream(provider, recorder, leave):
    async def agent(session):
        response = await session.get(f"{provider.url}/forever")
        line = await response.content.readline()
        getattr(response, leave)()
        with pytest.raises(aiohttp.ClientConnectionError, match="closed"):
            await response.content.read()
        return line

    first, again = twice(recorder, provider, agent)
    assert first == again == b"data: tick 0\n"
    assert not recorder.interactions[0].outcome.complete


def test_a_server_that_drops_is_the_same_error_after_the_same_chunks(provider, recorder):
    async def agent(session):
        lines = []
        try:
            async with session.post(**streaming(provider, chunks="20", drop="5", gate="1")) as response:
                while True:
                    provider.release()
                    lines.append(await response.content.readuntil(b"\n\n"))
        except aiohttp.ClientPayloadError as error:
            return lines, str(error)

    first, again = twice(recorder, provider, agent)
    assert again == first
    assert len(first[0]) == 5
    outcome = recorder.interactions[0].outcome
    assert [c.data for c in outcome.chunks] == first[0]
    assert isinstance(outcome.error, aiohttp.ClientPayloadError)


def test_a_plain_body_that_breaks_off(provider, recorder):
    async def agent(session):
        with pytest.raises(aiohttp.ClientPayloadError) as caught:
            async with session.get(f"{provider.url}/binary", headers={"x-drop": "100"}) as response:
                await response.read()
        return str(caught.value)

    first, again = twice(recorder, provider, agent)
    assert again == first


def test_a_response_that_nobody_closed_is_recorded_when_it_is_collected(provider, recorder):
    async def agent(session):
        response = await session.get(f"{provider.url}/forever")
        connection = response.connection  # keeps the socket, so that nobody complains about it
        response._connection = None
        connection.close()
        del response, connection

    under(recorder, agent)
    gc.collect()
    assert recorder.wait(1)
    assert recorder.interactions[0].outcome.complete is False


# -- errors and cancellations


def test_a_provider_that_is_not_there(provider, recorder):
    provider.stop()

    async def agent(session):
        with pytest.raises(aiohttp.ClientConnectorError) as caught:
            await session.get(f"{provider.url}/x")
        error = caught.value
        return str(error), error.errno, error.strerror, error.host, error.port, type(error.os_error)

    first = under(recorder, agent)
    assert under(served(recorder), agent) == first


def test_a_read_timeout_is_a_read_timeout_again(provider, recorder):
    async def agent(session):
        with pytest.raises(aiohttp.SocketTimeoutError) as caught:
            async with session.post(**streaming(provider, gate="1")) as response:
                await response.read()
        return str(caught.value)

    timeout = aiohttp.ClientTimeout(sock_read=0.05)
    first, again = twice(recorder, provider, agent, timeout=timeout)
    assert again == first
    assert provider.count == 1


def test_a_timeout_while_connecting(recorder):
    class Slow(aiohttp.TCPConnector):
        async def _create_connection(self, *_):
            await asyncio.get_running_loop().create_future()

    async def main():
        async with aiohttp.ClientSession(connector=Slow(), timeout=aiohttp.ClientTimeout(connect=0.01)) as session:
            with pytest.raises(aiohttp.ConnectionTimeoutError) as caught:
                await session.get("http://nowhere.test/")
            return str(caught.value)

    with listening(recorder):
        first = asyncio.run(main())
    with listening(served(recorder)):
        assert asyncio.run(main()) == first


def test_a_request_that_cannot_be_sent(provider, recorder):
    class Broken(ClientRequest):
        async def write_bytes(self, *_):
            raise AssertionError("not reached")

        async def send(self, conn):
            conn.protocol.transport.close()
            return await super().send(conn)

    async def agent(session):
        with pytest.raises(aiohttp.ClientConnectionError) as caught:
            await session.post(f"{provider.url}/echo", data=b"x")
        return type(caught.value)

    first, again = twice(recorder, provider, agent, request_class=Broken)
    assert again is first
    assert isinstance(recorder.interactions[0].outcome, Error)


def test_cancelled_before_the_response(provider, recorder):
    async def agent(session):
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.05):
                await session.get(f"{provider.url}/silent")

    twice(recorder, provider, agent)
    assert recorder.interactions[0].outcome == Cancelled()


@pytest.mark.parametrize("by", ["caller", "session"])
def test_a_stream_cancelled_while_it_is_read_waits_to_be_cancelled_again(provider, recorder, by):
    async def agent(session):
        async with session.post(**streaming(provider, gate="1")) as response:
            provider.release()
            first = await response.content.readuntil(b"\n\n")
            if by == "session":
                asyncio.get_running_loop().call_soon(response._timer.timeout)  # as if its total time were over
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(0.01 if by == "caller" else None):
                    await response.read()
            return first

    first, again = twice(recorder, provider, agent, timeout=aiohttp.ClientTimeout(total=60))
    assert again == first
    error = recorder.interactions[0].outcome.error
    assert isinstance(error, asyncio.CancelledError if by == "caller" else TimeoutError)


def test_a_reader_that_waited_in_vain_may_read_on(provider, recorder):
    async def agent(session):
        async with session.post(**streaming(provider, gate="1", chunks="1")) as response:
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(response.content.readany(), 0.01)
            provider.release(9)
            return await response.read()

    assert b"tok0" in under(recorder, agent)
    outcome = recorder.interactions[0].outcome
    assert (outcome.complete, outcome.error) == (True, None)


@pytest.mark.parametrize("answer", [Value("text"), Value({"status": 200}), Stream(None, ())])
def test_an_answer_that_is_no_response(answer):
    async def agent(session):
        with pytest.raises(CassetteError, match="no HTTP response"):
            await session.get("http://h/")

    under(ListRecorder([answer]), agent)


def test_a_websocket_is_passed_on_and_cannot_be_replayed(recorder):
    async def handler(request):
        socket = aiohttp.web.WebSocketResponse()
        await socket.prepare(request)
        await socket.send_str("hello")
        await socket.close()
        return socket

    async def main():
        app = aiohttp.web.Application()
        app.router.add_get("/", handler)
        runner = aiohttp.web.AppRunner(app)
        await runner.setup()
        site = aiohttp.web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        port = runner.addresses[0][1]
        async with aiohttp.ClientSession() as session:
            with listening(recorder):
                async with session.ws_connect(f"http://127.0.0.1:{port}/") as socket:
                    assert (await socket.receive()).data == "hello"
            with listening(ListRecorder([recorder.interactions[0].outcome])), pytest.raises(CassetteError, match="web"):
                await session.ws_connect(f"http://127.0.0.1:{port}/")
        await runner.cleanup()

    asyncio.run(main())


def test_a_stopped_trial_opens_no_connection(monkeypatch):
    async def agent(session):
        with pytest.raises(TrialStopped):
            await session.get("http://127.0.0.1/")

    monkeypatch.setattr(aiohttp.TCPConnector, "_create_connection", lambda *_: pytest.fail("a connection was opened"))
    under(ListRecorder(source=[]), agent)


def test_an_error_outcome_can_be_served_twice():
    error = Error(aiohttp.ServerDisconnectedError("gone"))

    async def agent(session):
        for _ in range(2):
            with pytest.raises(aiohttp.ServerDisconnectedError, match="gone"):
                await session.post("http://h/")

    under(ListRecorder([error, error]), agent)


def test_a_replayed_connection_is_not_kept_for_the_next_request(provider, recorder):
    async def agent(session):
        with listening(ListRecorder([Value({"status": 200, "body": "frozen"})])):
            async with session.get(f"{provider.url}/text") as response:
                frozen = await response.text()
        async with session.get(f"{provider.url}/text") as response:
            return frozen, await response.text()

    assert under(recorder, agent) == ("frozen", "Grüße \0 ☃")


# -- several trials at once


def test_trials_in_tasks_do_not_mix(provider):
    recorders = [ListRecorder() for _ in range(4)]

    async def trial(number, session):
        with listening(recorders[number]):
            for call in range(8):
                async with session.get(f"{provider.url}/echo?trial={number}&call={call}") as response:
                    await response.read()

    async def main():
        async with aiohttp.ClientSession() as session:
            await asyncio.gather(*(trial(number, session) for number in range(4)))

    asyncio.run(main())
    for number, recorder in enumerate(recorders):
        paths = [json.loads(i.outcome.value["body"])["path"] for i in recorder.interactions]
        assert paths == [f"/echo?trial={number}&call={call}" for call in range(8)]
