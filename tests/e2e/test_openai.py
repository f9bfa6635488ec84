"""The real SDK under `tt.trial`: recorded from a local provider, replayed with the provider shut down."""

from __future__ import annotations

import asyncio

import httpx2
import openai
import pytest

import trialtape as tt

ASKED = {"model": "m", "messages": [{"role": "user", "content": "hi"}]}
TOOLS = [{"type": "function", "function": {"name": "quote", "parameters": {"type": "object", "properties": {}}}}]
KEY = "sk-no-real-key-0123456789abcdef"


@tt.tool(effect="read")
def quote(zip_code: str) -> dict:
    quote.ran += 1
    return {"zip_code": zip_code, "price": 5.4}


quote.ran = 0


def client(url, **options):
    return openai.OpenAI(**{"api_key": KEY, "base_url": url, "max_retries": 0, **options})


def async_client(url, **options):
    return openai.AsyncOpenAI(**{"api_key": KEY, "base_url": url, "max_retries": 0, **options})


def whole(url):
    """Two model calls with a tool call between; what the SDK gave."""
    with client(url) as c:
        first = c.chat.completions.create(**ASKED, tools=TOOLS)
        call = first.choices[0].message.tool_calls[0]
        answer = quote(zip_code="94105")
        history = [*ASKED["messages"], first.choices[0].message.model_dump(exclude_none=True)]
        history.append({"role": "tool", "tool_call_id": call.id, "content": str(answer)})
        second = c.chat.completions.create(model="m", messages=history, tools=TOOLS)
    return [first.model_dump(), answer, second.model_dump()]


def streamed(url, take=None, **options):
    """The chunks of one stream, and the class of what broke it off."""
    chunks = []
    with client(url) as c:
        try:
            with c.chat.completions.create(**ASKED, stream=True, **options) as stream:
                for chunk in stream:
                    chunks.append(chunk.model_dump())
                    if len(chunks) == take:
                        break
        except openai.APIConnectionError as error:
            return chunks, type(error)
    return chunks, None


def whole_async(url):
    async def main():
        async with async_client(url) as c:
            return [(await c.chat.completions.create(**ASKED, tools=TOOLS)).model_dump()]

    return asyncio.run(main())


def streamed_async(url, take=None, **options):
    async def main():
        chunks = []
        async with async_client(url) as c:
            try:
                async with await c.chat.completions.create(**ASKED, stream=True, **options) as stream:
                    async for chunk in stream:
                        chunks.append(chunk.model_dump())
                        if len(chunks) == take:
                            break
            except openai.APIConnectionError as error:
                return chunks, type(error)
        return chunks, None

    return asyncio.run(main())


def recorded_then_replayed(trial, provider, agent):
    """What the agent got live, and what it got with the provider gone; ``(live, replayed, requests seen)``."""
    with trial():
        live = agent(provider.base_url)
    seen, url = provider.count, provider.base_url
    provider.stop()
    with trial(run="again", replay="r/t#0") as again:
        replayed = agent(url)
    assert again.ending.status == "completed"
    assert provider.count == seen
    return live, replayed


@pytest.mark.parametrize("agent", [whole, whole_async])
def test_replayed_completions_equal_the_recorded_ones(trial, provider, agent):
    live, replayed = recorded_then_replayed(trial, provider, agent)
    assert replayed == live
    assert live[0]["choices"][0]["message"]["tool_calls"][0]["function"]["name"] == "quote"


def test_a_replayed_tool_does_not_run(trial, provider):
    quote.ran = 0
    recorded_then_replayed(trial, provider, whole)
    assert quote.ran == 1


@pytest.mark.parametrize("agent", [streamed, streamed_async])
@pytest.mark.parametrize("options", [{}, {"tools": TOOLS}, {"stream_options": {"include_usage": True}}])
def test_replayed_streams_give_the_same_chunks(trial, provider, agent, options):
    live, replayed = recorded_then_replayed(trial, provider, lambda url: agent(url, **options))
    assert replayed == live
    assert len(live[0]) >= 3
    assert live[1] is None


@pytest.mark.parametrize("agent", [streamed, streamed_async])
def test_a_consumer_that_stops_after_three_chunks_is_recorded_and_replayed_as_such(home, trial, provider, agent):
    headers = {"x-chunks": "20"}
    live, replayed = recorded_then_replayed(trial, provider, lambda url: agent(url, take=3, extra_headers=headers))
    assert replayed == live
    assert len(live[0]) == 3
    outcome = tt.open("r/t#0", home=home).steps[0].outcome
    assert not outcome.complete
    assert outcome.error is None


@pytest.mark.parametrize("agent", [streamed, streamed_async])
def test_a_server_that_drops_after_five_chunks_is_recorded_and_replayed_as_such(home, trial, provider, agent):
    headers = {"x-chunks": "20", "x-drop": "5"}
    live, replayed = recorded_then_replayed(trial, provider, lambda url: agent(url, extra_headers=headers))
    assert replayed == live
    assert len(live[0]) == 5
    assert live[1] is not None
    outcome = tt.open("r/t#0", home=home).steps[0].outcome
    assert not outcome.complete
    assert outcome.error is not None


def test_the_first_chunk_arrives_before_the_last_is_sent(trial, provider):
    with trial(), client(provider.base_url) as c:
        provider.release(1)  # the others wait until the test lets them pass
        stream = c.chat.completions.create(**ASKED, stream=True, extra_headers={"x-gate": "1"})
        first = next(iter(stream))
        provider.release(100)
        rest = list(stream)
    assert first.choices[0].delta.content == "tok0 "
    assert [chunk.choices[0].delta.content for chunk in rest] == ["tok1 ", "tok2 ", "tok3 ", "tok4 "]


def answering(statuses):
    """A transport that gives these statuses one after the other, and then fails."""
    body = {"id": "x", "object": "chat.completion", "created": 1, "model": "m", "choices": []}

    def answer(request):
        status = statuses.pop(0)
        headers = {"retry-after-ms": "1"}
        return httpx2.Response(status, json=body if status == 200 else {"error": {"message": "no"}}, headers=headers)

    return mocked(answer)


def test_retries_of_the_sdk_are_one_call_which_a_replay_serves_once(home, trial):
    statuses = [429, 500, 200]

    def agent():
        with client("http://nowhere.test/v1", max_retries=2, http_client=answering(statuses)) as c:
            return c.chat.completions.create(**ASKED).model_dump()

    with trial():
        live = agent()
    assert statuses == []
    with trial(run="again", replay="r/t#0"):
        assert agent() == live
    assert len(tt.open("again/t#0", home=home).steps) == 1


def test_an_agents_own_retries_stay_calls_of_their_own(home, trial):
    statuses = [429, 500, 200]

    def agent():
        told = []
        for _ in range(3):
            with client("http://nowhere.test/v1", http_client=answering(statuses)) as c:
                try:
                    told.append(c.chat.completions.create(**ASKED).id)
                except openai.APIStatusError as error:
                    told.append(error.status_code)
        return told

    with trial():
        live = agent()
    with trial(run="again", replay="r/t#0"):
        assert agent() == live == [429, 500, "x"]
    assert len(tt.open("again/t#0", home=home).steps) == 3


def mocked(answer):
    return openai.DefaultHttpxClient(transport=httpx2.MockTransport(answer))


def test_a_users_own_transport_is_recorded_and_not_reached_in_replay(trial):
    reached = []

    def answer(request):
        reached.append(request.url.path)
        return httpx2.Response(200, json={"id": "x", "object": "chat.completion", "created": 1, "choices": []})

    def agent():
        with client("http://nowhere.test/v1", http_client=mocked(answer)) as c:
            return c.chat.completions.create(**ASKED).id

    with trial():
        live = agent()
    with trial(run="again", replay="r/t#0"):
        assert agent() == live == "x"
    assert reached == ["/v1/chat/completions"]


@pytest.mark.parametrize(
    ("status", "kind"), [(400, openai.BadRequestError), (401, openai.AuthenticationError), (429, openai.RateLimitError)]
)
def test_an_error_of_the_provider_is_raised_again_in_replay(trial, provider, status, kind):
    def agent(url):
        with client(url) as c, pytest.raises(kind) as caught:
            c.chat.completions.create(**ASKED, extra_headers={"x-status": str(status)})
        return caught.value.status_code, caught.value.body

    live, replayed = recorded_then_replayed(trial, provider, agent)
    assert live == replayed
    assert live[0] == status


def test_a_provider_that_is_not_there_is_the_same_error_in_replay(trial, provider):
    url = provider.base_url
    provider.stop()

    def agent():
        with client(url) as c, pytest.raises(openai.APIConnectionError) as caught:
            c.chat.completions.create(**ASKED)
        return type(caught.value), type(caught.value.__cause__)

    with trial():
        live = agent()
    with trial(run="again", replay="r/t#0"):
        assert agent() == live


def test_replay_refuses_a_request_that_was_not_recorded_before_a_socket_opens(trial, provider):
    with trial():
        whole_async(provider.base_url)
    seen = provider.count
    with (
        pytest.raises(tt.Divergence) as caught,
        trial(run="again", replay="r/t#0"),
        client(provider.base_url) as c,
    ):
        c.chat.completions.create(model="m", messages=[{"role": "user", "content": "something else"}], tools=TOOLS)
    assert "messages[0].content" in str(caught.value)
    assert provider.count == seen


def test_a_cancelled_model_call_is_cancelled_again_in_replay(trial):
    async def never(request):
        await asyncio.get_running_loop().create_future()

    async def agent():
        limit = asyncio.timeout(None)

        async def about_to_send(request):
            loop = asyncio.get_running_loop()
            loop.call_soon(limit.reschedule, loop.time())  # runs when the call waits for its answer

        http = openai.DefaultAsyncHttpxClient(
            transport=httpx2.MockTransport(never), event_hooks={"request": [about_to_send]}
        )
        async with async_client("http://nowhere.test/v1", http_client=http) as c:
            with pytest.raises(TimeoutError):
                async with limit:
                    await c.chat.completions.create(**ASKED)
        return quote("94105")

    with trial():
        live = asyncio.run(agent())
    with trial(run="again", replay="r/t#0") as again:
        assert asyncio.run(agent()) == live
    assert again.ending.status == "completed"
