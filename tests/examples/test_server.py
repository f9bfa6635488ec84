"""The stand-in speaks the protocol of the real openai SDK, and draws its answers as it says."""

import asyncio
import json
import subprocess
import sys
from pathlib import Path

import httpx
import openai
import pytest

from examples.support.policy import POLICY, tool_schemas
from examples.support.server import serving

AGENT = "shop-agent-1"
CUSTOMER = "shop-customer-1"
WISH = [
    {"role": "system", "content": POLICY},
    {"role": "user", "content": "Please cancel order W1002. My e-mail is ben@example.com."},
]
ROLE = [
    {"role": "system", "content": "You are Ben (ben@example.com). Cancel order W1002."},
    {"role": "user", "content": "How can I help you?"},
]


def ask(client, messages=WISH, *, model=AGENT, temperature=0.0, **options):
    return client.chat.completions.create(
        model=model, messages=messages, tools=tool_schemas(), temperature=temperature, **options
    )


def joined(chunks):
    """The text, the tool calls as (name, arguments), the finish reason and the usage of a stream."""
    text, calls, reason, usage = "", [], None, None
    for chunk in chunks:
        usage = chunk.usage or usage
        for choice in chunk.choices:
            text += choice.delta.content or ""
            reason = choice.finish_reason or reason
            for part in choice.delta.tool_calls or []:
                if part.id:
                    calls.append([part.function.name, ""])
                calls[part.index][1] += part.function.arguments or ""
    return text, calls, reason, usage


def test_whole_tool_call(client):
    completion = ask(client)
    choice = completion.choices[0]
    assert choice.finish_reason == "tool_calls"
    assert choice.message.content is None
    [call] = choice.message.tool_calls
    assert (call.type, call.function.name) == ("function", "find_customer")
    assert json.loads(call.function.arguments) == {"email": "ben@example.com"}
    usage = completion.usage
    assert usage.prompt_tokens > 1000
    assert usage.total_tokens == usage.prompt_tokens + usage.completion_tokens


def test_streamed_tool_call_is_the_whole_one(server, client):
    whole = ask(client)
    _, calls, reason, usage = joined(ask(client, stream=True, stream_options={"include_usage": True}))
    function = whole.choices[0].message.tool_calls[0].function
    assert calls == [[function.name, function.arguments]]
    assert reason == "tool_calls"
    assert usage == whole.usage


def test_streamed_text_is_the_whole_one(client):
    whole = ask(client, ROLE, model=CUSTOMER)
    text, calls, reason, usage = joined(ask(client, ROLE, model=CUSTOMER, stream=True))
    assert text == whole.choices[0].message.content
    assert "W1002" in text
    assert (calls, reason, usage) == ([], "stop", None)


def test_usage_is_its_own_last_chunk_only_on_request(client):
    chunks = list(ask(client, stream=True, stream_options={"include_usage": True}))
    assert (chunks[-1].choices, chunks[-1].usage is not None) == ([], True)
    assert all(chunk.usage is None for chunk in chunks[:-1])
    assert all(chunk.usage is None for chunk in ask(client, stream=True))


def test_async_client(server):
    async def both():
        async with openai.AsyncOpenAI(base_url=server.base_url, api_key="any", max_retries=0) as client:
            whole = await ask(client, ROLE, model=CUSTOMER)
            stream = await ask(client, ROLE, model=CUSTOMER, stream=True)
            return whole.choices[0].message.content, joined([chunk async for chunk in stream])[0]

    whole, streamed = asyncio.run(both())
    assert whole == streamed


def test_a_client_may_stop_listening(client):
    with ask(client, ROLE, model=CUSTOMER, stream=True) as stream:
        first = next(iter(stream))
    assert first.choices[0].delta.role == "assistant"
    assert ask(client).choices


def test_text_after_a_tool_result(client):
    calls = ask(client).choices[0].message.tool_calls
    messages = list(WISH)
    for name in ("find_customer", "get_order"):
        assert calls[0].function.name == name
        messages += [
            {"role": "assistant", "content": None, "tool_calls": [calls[0].model_dump()]},
            {"role": "tool", "tool_call_id": calls[0].id, "content": "{}"},
        ]
        message = ask(client, messages).choices[0].message
        calls = message.tool_calls
    assert message.content == "I would cancel order W1002. Shall I go ahead?"


def test_temperature_0_is_deterministic(client):
    answers = {ask(client).choices[0].message.tool_calls[0].function.name for _ in range(20)}
    assert answers == {"find_customer"}
    assert len({ask(client, ROLE, model=CUSTOMER).choices[0].message.content for _ in range(20)}) == 1


def test_repeated_requests_vary_with_temperature(client):
    texts = [ask(client, ROLE, model=CUSTOMER, temperature=0.7).choices[0].message.content for _ in range(20)]
    assert len(set(texts)) > 3


def test_the_seed_fixes_every_repeat():
    def texts(seed):
        with (
            serving(seed) as server,
            openai.OpenAI(base_url=server.base_url, api_key="any", max_retries=0) as client,
        ):
            answers = [ask(client, ROLE, model=CUSTOMER, temperature=0.7) for _ in range(10)]
            return [answer.choices[0].message.content for answer in answers]

    assert texts(1) == texts(1)
    assert texts(1) != texts(2)


def test_a_request_with_a_seed_gets_the_same_answer_however_often_it_comes(client):
    def texts(seed, times):
        answers = [ask(client, ROLE, model=CUSTOMER, temperature=0.7, seed=seed) for _ in range(times)]
        return {answer.choices[0].message.content for answer in answers}

    assert len(texts(1, 5)) == 1
    assert len(set.union(*(texts(seed, 1) for seed in range(10)))) > 1


def test_no_two_responses_share_an_id(client):
    answers = [ask(client) for _ in range(20)]
    assert len({answer.id for answer in answers}) == 20


def test_call_ids_differ_between_repeats(client):
    ids = {ask(client).choices[0].message.tool_calls[0].id for _ in range(20)}
    assert len(ids) == 20


def test_a_conversation_that_names_no_order_is_asked_for_one(client):
    message = ask(client, [{"role": "user", "content": "Hello"}]).choices[0].message
    assert "number of your order" in message.content


def test_models(client):
    assert [model.id for model in client.models.list()] == [AGENT, CUSTOMER]


def test_unknown_model(client):
    with pytest.raises(openai.NotFoundError, match="gpt-unknown") as caught:
        ask(client, model="gpt-unknown")
    assert caught.value.code == "model_not_found"
    assert caught.value.param == "model"


@pytest.mark.parametrize("method", ["GET", "POST"])
def test_missing_key(server, method):
    path = "/models" if method == "GET" else "/chat/completions"
    response = httpx.request(method, server.base_url + path, json={"model": AGENT, "messages": WISH})
    assert response.status_code == 401
    assert response.json()["error"]["code"] == "invalid_api_key"


def test_no_messages(client):
    with pytest.raises(openai.BadRequestError, match="messages"):
        ask(client, [])


@pytest.mark.parametrize("content", [b"not json", b"[]", b"{}", b""])
def test_bad_body(server, content):
    url = f"{server.base_url}/chat/completions"
    response = httpx.post(url, content=content, headers={"Authorization": "Bearer any"})
    assert response.status_code == 400
    assert response.json()["error"]["type"] == "invalid_request_error"


def test_unknown_path(client):
    with pytest.raises(openai.NotFoundError, match="/v1/embeddings"):
        client.embeddings.create(model=AGENT, input="x")


def test_one_connection_serves_many_requests(server):
    with httpx.Client(headers={"Authorization": "Bearer any"}) as client:
        streams = [client.get(f"{server.base_url}/models").extensions["network_stream"] for _ in range(3)]
    assert len({id(stream) for stream in streams}) == 1


def test_as_a_command():
    command = [sys.executable, "-m", "examples.support.server", "--port", "0", "--seed", "7"]
    root = Path(__file__).parents[2]
    with subprocess.Popen(command, cwd=root, stdout=subprocess.PIPE, text=True) as process:
        try:
            base_url = process.stdout.readline().strip().removeprefix("listening on ")
            assert base_url.startswith("http://127.0.0.1:")
            with openai.OpenAI(base_url=base_url, api_key="any", max_retries=0) as client:
                assert ask(client).choices
        finally:
            process.terminate()
