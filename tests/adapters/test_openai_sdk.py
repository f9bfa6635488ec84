"""The real SDK against the local provider: recorded, then served with the provider gone."""

from __future__ import annotations

import asyncio

import openai
import pytest

from adapters.httpx import HTTPX2
from cassettes.model import ToolRequest, Usage
from cassettes.recorder import listening
from tests.fakes import ListRecorder

ASKED = {"model": "m", "messages": [{"role": "user", "content": "hi"}]}
TOOLS = [{"type": "function", "function": {"name": "quote", "parameters": {"type": "object", "properties": {}}}}]
KEY = "sk-no-real-key"


@pytest.fixture(autouse=True)
def installed():
    HTTPX2.install()
    yield
    HTTPX2.uninstall()


def ask(provider, *, take=None, headers=None, **options):
    """What the SDK gives: the answer, or the list of chunks (the first ``take``) and how it ended."""
    with openai.OpenAI(api_key=KEY, base_url=provider.base_url, max_retries=0) as client:
        answer = client.chat.completions.create(**ASKED, **options, extra_headers=headers)
        if not options.get("stream"):
            return answer, None
        chunks = []
        try:
            with answer:
                for chunk in answer:
                    chunks.append(chunk)
                    if len(chunks) == take:
                        break
        except openai.APIConnectionError as error:
            return chunks, type(error)
        return chunks, None


def ask_async(provider, *, take=None, headers=None, **options):
    async def main():
        async with openai.AsyncOpenAI(api_key=KEY, base_url=provider.base_url, max_retries=0) as client:
            answer = await client.chat.completions.create(**ASKED, **options, extra_headers=headers)
            if not options.get("stream"):
                return answer, None
            chunks = []
            try:
                async with answer:
                    async for chunk in answer:
                        chunks.append(chunk)
                        if len(chunks) == take:
                            break
            except openai.APIConnectionError as error:
                return chunks, type(error)
            return chunks, None

    return asyncio.run(main())


WAYS = pytest.mark.parametrize("way", [ask, ask_async])


def twice(way, provider, **options):
    """Record, take the provider away, serve; both results and the one interaction."""
    recorder = ListRecorder()
    with listening(recorder):
        first = way(provider, **options)
    provider.stop()
    again = ListRecorder(source=recorder.interactions)
    with listening(again):
        second = way(provider, **options)
    assert (recorder.open, again.open) == (0, 0)
    (interaction,) = recorder.interactions
    return first, second, interaction


@WAYS
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"tools": TOOLS},
        {"stream": True},
        {"stream": True, "tools": TOOLS},
        {"stream": True, "stream_options": {"include_usage": True}},
        {"headers": {"x-enc": "gzip"}},
        {"stream": True, "headers": {"x-enc": "br"}},
    ],
)
def test_equal_objects_without_the_provider(way, provider, options):
    first, second, interaction = twice(way, provider, **options)
    assert first == second
    assert (interaction.call.kind, interaction.call.name) == ("model", "m")
    assert interaction.call.endpoint == "openai-chat /v1/chat/completions"
    assert interaction.call.arguments["messages"] == ASKED["messages"]
    assert KEY not in repr(interaction)


@WAYS
def test_the_reply_is_read(way, provider):
    _, _, whole = twice(way, provider, tools=TOOLS)
    assert whole.reply.tool_calls == (ToolRequest("call_1", "quote", '{"zip_code": "94105"}'),)
    assert whole.reply.usage == Usage(7, 5, 3, 2)
    assert (whole.reply.finish, whole.reply.model) == ("tool_calls", "m")


@WAYS
def test_a_stream_read_to_its_end_is_complete_with_all_its_pieces(way, provider):
    (chunks, _), _, interaction = twice(way, provider, stream=True, headers={"x-chunks": "20"})
    assert len(chunks) == 20
    assert interaction.outcome.complete
    assert sum(chunk.data.count(b"data: ") for chunk in interaction.outcome.chunks) == 21
    assert interaction.reply.text == "".join(f"tok{i} " for i in range(20))
    assert interaction.reply.finish == "stop"


@WAYS
def test_a_consumer_that_stops_early_is_recorded_as_such_at_once(way, provider):
    provider.release(3)  # the server sends three; whoever waits for more waits in vain
    options = {"stream": True, "take": 3, "headers": {"x-chunks": "20", "x-gate": "1"}}
    first, second, interaction = twice(way, provider, **options)
    assert first == second
    assert len(first[0]) == 3
    assert (interaction.outcome.complete, interaction.outcome.error) == (False, None)
    assert sum(chunk.data.count(b"data: ") for chunk in interaction.outcome.chunks) == 3
    assert interaction.reply.text == "tok0 tok1 tok2 "


@WAYS
def test_a_replayed_early_stop_gives_what_there_is_and_no_more(way, provider):
    recorder = ListRecorder()
    provider.release(3)
    with listening(recorder):
        way(provider, stream=True, take=3, headers={"x-gate": "1"})
    with listening(ListRecorder(source=recorder.interactions)):
        chunks, error = way(provider, stream=True)
    assert (len(chunks), error) == (3, None)


@WAYS
def test_a_connection_that_drops_drops_again(way, provider):
    first, second, interaction = twice(way, provider, stream=True, headers={"x-chunks": "20", "x-drop": "5"})
    assert first == second
    assert (len(first[0]), first[1]) == (5, openai.APIConnectionError)
    assert not interaction.outcome.complete
    assert type(interaction.outcome.error).__name__ == "RemoteProtocolError"


@WAYS
def test_an_error_status_raises_the_same_class(way, provider):
    recorder = ListRecorder()
    for turn in (recorder, None):
        for stream in (False, True):
            with (
                listening(turn or ListRecorder(source=recorder.interactions[int(stream) :])),
                pytest.raises(openai.RateLimitError, match="told to answer 429") as raised,
            ):
                way(provider, stream=stream, headers={"x-status": "429"})
            assert raised.value.body == {"message": "told to answer 429", "type": "test", "code": None}
    assert provider.count == 2
    assert [i.outcome.value["status"] for i in recorder.interactions] == [429, 429]
    assert recorder.interactions[0].reply.error == "told to answer 429"


def test_retries_carry_their_mark(provider):
    recorder = ListRecorder()
    client = openai.OpenAI(api_key=KEY, base_url=provider.base_url, max_retries=1)
    client._calculate_retry_timeout = lambda *args, **kwargs: 0
    with client, listening(recorder), pytest.raises(openai.InternalServerError):
        client.chat.completions.create(**ASKED, extra_headers={"x-status": "500"})
    counts = [call.detail["headers"]["x-stainless-retry-count"] for call in recorder.calls]
    assert counts == ["0", "1"]
