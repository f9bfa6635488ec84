"""The table of clients: each of them, sync and async, whole and streamed, recorded, then replayed with no server."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import aiohttp
import anthropic
import botocore.config
import botocore.exceptions
import botocore.session
import httpx
import httpx2
import openai
import pytest
import requests
import urllib3
from google import genai
from google.genai import errors, types

import trialtape as tt
from adapters.aiohttp import AIOHTTP
from adapters.urllib3 import URLLIB3
from cassettes.recorder import listening
from tests.asking import KEY, Asked, with_async_openai, with_openai
from tests.fakes import ListRecorder

TOOL = {"type": "object", "properties": {"zip_code": {"type": "string"}}}


# -- bare clients


def bare_httpx(module):
    def agent(asked, got):
        with module.Client() as client:
            if not asked.stream:
                got.append(client.post(asked.chat, json=asked.body(), headers=asked.headers).json())
                return
            with client.stream("POST", asked.chat, json=asked.body(), headers=asked.headers) as response:
                asked.taken((line for line in response.iter_lines() if line), got)

    return agent


def bare_async_httpx(module):
    async def agent(asked, got):
        async with module.AsyncClient() as client:
            if not asked.stream:
                got.append((await client.post(asked.chat, json=asked.body(), headers=asked.headers)).json())
                return
            async with client.stream("POST", asked.chat, json=asked.body(), headers=asked.headers) as response:
                await asked.ataken(response.aiter_lines(), got)

    return agent


def with_requests(asked, got):
    with requests.Session() as session:
        options = {"json": asked.body(), "headers": asked.headers, "stream": asked.stream}
        with session.post(asked.chat, **options) as response:
            if asked.stream:
                asked.taken(response.iter_content(None), got)
            else:
                got += [response.json(), response.status_code, response.reason]


def with_urllib3(asked, got):
    with urllib3.PoolManager(retries=False) as pool:
        options = {"json": asked.body(), "headers": asked.headers, "preload_content": not asked.stream}
        response = pool.request("POST", asked.chat, **options)
        if asked.stream:
            asked.taken(response.stream(), got)
            response.close()
        else:
            got += [response.json(), response.status]


async def with_aiohttp(asked, got):
    async with (
        aiohttp.ClientSession() as session,
        session.post(asked.chat, json=asked.body(), headers=asked.headers) as response,
    ):
        if asked.stream:
            await asked.ataken(response.content, got)
        else:
            got += [await response.json(), response.status]


# -- SDKs


def anthropic_options(asked):
    tools = {"tools": [{"name": "quote", "description": "d", "input_schema": TOOL}]} if asked.tools else {}
    return asked.body() | {"max_tokens": 99, "extra_headers": asked.headers} | tools


def with_anthropic(asked, got):
    with anthropic.Anthropic(api_key=KEY, base_url=asked.url, max_retries=0) as client:
        answer = client.messages.create(**anthropic_options(asked))
        if asked.stream:
            with answer:
                asked.taken((event.model_dump() for event in answer), got)
        else:
            got.append(answer.model_dump())


async def with_async_anthropic(asked, got):
    async with anthropic.AsyncAnthropic(api_key=KEY, base_url=asked.url, max_retries=0) as client:
        answer = await client.messages.create(**anthropic_options(asked))
        if asked.stream:
            async with answer:
                await asked.ataken((event.model_dump() async for event in answer), got)
        else:
            got.append(answer.model_dump())


def google_options(asked):
    declared = [types.Tool(function_declarations=[{"name": "quote", "description": "d", "parameters": TOOL}])]
    config = {
        "tools": declared if asked.tools else None,
        "automatic_function_calling": {"disable": True},
        "http_options": {"headers": asked.headers},
    }
    return {"model": "m", "contents": "hi", "config": config}


def told(response):
    """A response of google-genai less its HTTP headers: those of the recording are a subset."""
    return response.model_dump(exclude={"sdk_http_response"})


def with_google(asked, got):
    with genai.Client(api_key=KEY, http_options={"base_url": asked.url}) as client:
        if asked.stream:
            stream = client.models.generate_content_stream(**google_options(asked))
            asked.taken(map(told, stream), got)
            stream.close()
        else:
            got.append(told(client.models.generate_content(**google_options(asked))))


async def with_async_google(asked, got):
    async with genai.Client(api_key=KEY, http_options={"base_url": asked.url}).aio as client:
        if asked.stream:
            stream = await client.models.generate_content_stream(**google_options(asked))
            await asked.ataken((told(chunk) async for chunk in stream), got)
            await stream.aclose()
        else:
            got.append(told(await client.models.generate_content(**google_options(asked))))


def with_botocore(asked, got):
    session = botocore.session.get_session()
    client = session.create_client(
        "bedrock-runtime",
        region_name="us-east-1",
        endpoint_url=asked.url,
        aws_access_key_id="AKIAIOSFODNN7EXAMPLE",
        aws_secret_access_key="no-real-secret",
        config=botocore.config.Config(retries={"total_max_attempts": 1}),
    )
    client.meta.events.register("before-sign", lambda request, **_: _add(request.headers, asked.headers))
    spec = {"name": "quote", "inputSchema": {"json": TOOL}}
    options = {"modelId": "m", "messages": [{"role": "user", "content": [{"text": "hi"}]}]}
    if asked.tools:
        options["toolConfig"] = {"tools": [{"toolSpec": spec}]}
    try:
        if asked.stream:
            stream = client.converse_stream(**options)["stream"]
            try:
                asked.taken(stream, got)
            finally:
                stream.close()
        else:
            answer = client.converse(**options)
            answer.pop("ResponseMetadata")
            got.append(answer)
    finally:
        client.close()


def _add(headers, more):
    for name, value in more.items():
        headers[name] = value


CELLS = {
    ("httpx", "sync"): bare_httpx(httpx),
    ("httpx", "async"): bare_async_httpx(httpx),
    ("httpx2", "sync"): bare_httpx(httpx2),
    ("httpx2", "async"): bare_async_httpx(httpx2),
    ("requests", "sync"): with_requests,
    ("urllib3", "sync"): with_urllib3,
    ("aiohttp", "async"): with_aiohttp,
    ("openai", "sync"): with_openai,
    ("openai", "async"): with_async_openai,
    ("anthropic", "sync"): with_anthropic,
    ("anthropic", "async"): with_async_anthropic,
    ("google-genai", "sync"): with_google,
    ("google-genai", "async"): with_async_google,
    ("botocore", "sync"): with_botocore,
}
# aiohttp gives up what it holds unread when the connection breaks: how much was read before is a matter of luck.
OVER_AIOHTTP = {("aiohttp", "async"), ("google-genai", "async")}
SDKS = [cell for cell in CELLS if cell[0] in {"anthropic", "google-genai", "botocore"}]
ERRORS = {
    "httpx": (httpx.HTTPError, httpx2.HTTPError),
    "requests": requests.RequestException,
    "urllib3": urllib3.exceptions.HTTPError,
    "aiohttp": aiohttp.ClientError,
    "openai": openai.OpenAIError,
    "anthropic": anthropic.AnthropicError,
    "botocore": (botocore.exceptions.BotoCoreError, botocore.exceptions.ClientError, urllib3.exceptions.HTTPError),
}
ANY = (
    *ERRORS["httpx"],
    *(e for e in ERRORS.values() if isinstance(e, type)),
    *ERRORS["botocore"],
    errors.APIError,
)

# google-genai derives from aiohttp's session, which aiohttp discourages.
pytestmark = pytest.mark.filterwarnings("ignore:Inheritance class AiohttpClientSession:DeprecationWarning")
cells = pytest.mark.parametrize("cell", CELLS, ids="-".join)
sdks = pytest.mark.parametrize("cell", SDKS, ids="-".join)
shapes = pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])


def run_async(cell, asked):
    got = []
    try:
        asyncio.run(CELLS[cell](asked, got))
    except ANY as error:
        return got, type(error).__name__, str(error)
    return got, None, None


def run_sync(cell, asked):
    got = []
    try:
        CELLS[cell](asked, got)
    except ANY as error:
        return got, type(error).__name__, str(error)
    return got, None, None


def ask(cell, asked):
    return (run_async if cell[1] == "async" else run_sync)(cell, asked)


def twice(cell, trial, provider, home, **options):
    """The same recorded, and replayed with the provider gone; ``(live, replayed, recorded outcome)``."""
    url = provider.url
    with trial():
        live = ask(cell, Asked(url, **options))
    seen = provider.count
    provider.stop()
    with trial(run="again", replay="r/t#0") as again:
        replayed = ask(cell, Asked(url, **options))
    assert again.ending.status == "completed"
    assert provider.count == seen == 1
    assert [step.origin.verdict for step in tt.open("again/t#0", home=home).steps] == ["own"]
    (step,) = tt.open("r/t#0", home=home).steps
    assert step.origin.live
    return live, replayed, step.outcome


@cells
@shapes
def test_a_cell_is_replayed_as_it_was_recorded(cell, stream, trial, provider, home):
    live, replayed, outcome = twice(cell, trial, provider, home, stream=stream)
    assert replayed == live
    assert live[1] is None
    text = json.dumps(live[0], default=str)
    assert all(f"tok{i}" in text for i in range(12))
    if stream:
        assert outcome.complete
        assert outcome.chunks


@cells
def test_a_consumer_that_stops_after_three_is_replayed_as_such(cell, trial, provider, home):
    live, replayed, outcome = twice(cell, trial, provider, home, stream=True, take=3)
    assert replayed == live
    assert len(live[0]) == 3
    assert outcome.error is None


@cells
def test_a_server_that_drops_after_five_is_replayed_as_such(cell, trial, provider, home):
    live, replayed, outcome = twice(cell, trial, provider, home, stream=True, headers={"x-drop": "5"})
    assert replayed == live
    assert live[0] or cell in OVER_AIOHTTP
    assert live[1] is not None
    assert not outcome.complete


@sdks
@shapes
def test_a_tool_call_is_asked_for_again(cell, stream, trial, provider, home):
    live, replayed, _ = twice(cell, trial, provider, home, stream=stream, tools=True)
    assert replayed == live
    assert "94105" in json.dumps(live[0], default=str).replace('", "', "") or stream
    assert "quote" in json.dumps(live[0], default=str)


@sdks
@shapes
@pytest.mark.parametrize("status", [400, 503])
def test_an_error_of_the_provider_is_raised_again(cell, stream, status, trial, provider, home):
    live, replayed, _ = twice(cell, trial, provider, home, stream=stream, headers={"x-status": str(status)})
    assert replayed == live
    assert live[1] == REFUSED.get((cell[0], status), "ThrottlingException")


REFUSED = {
    ("anthropic", 400): "BadRequestError",
    ("anthropic", 503): "ServiceUnavailableError",
    ("google-genai", 400): "ClientError",
    ("google-genai", 503): "ServerError",
}


@sdks
def test_the_first_piece_arrives_before_the_last_is_sent(cell, trial, provider):
    asked = Asked(provider.url, stream=True, headers={"x-gate": "1"})
    provider.release(4)  # the others wait until the first arrived
    arrived = []

    class Got(list):
        def append(self, piece):
            if not arrived:
                arrived.append(provider.left.is_set())
                provider.release(100)
            super().append(piece)

    got = Got()
    with trial():
        agent = CELLS[cell](asked, got)
        if agent is not None:
            asyncio.run(agent)
    assert "tok11" in json.dumps(got, default=str)
    assert arrived == [False]


@cells
def test_a_request_that_was_not_recorded_opens_no_connection(cell, trial, provider, home):
    with trial():
        ask(cell, Asked(provider.url, stream=False))
    seen = provider.count
    with pytest.raises(tt.Divergence), trial(run="again", replay="r/t#0"):
        ask(cell, Asked(provider.url.replace("127.0.0.1", "localhost") + "/elsewhere", stream=False))
    assert provider.count == seen


@pytest.mark.parametrize(
    ("cell", "adapter"),
    [(("google-genai", "async"), AIOHTTP), (("botocore", "sync"), URLLIB3)],
    ids=["aiohttp", "urllib3"],
)
@shapes
def test_an_sdk_is_seen_whole_by_the_adapter_of_the_client_below_it(cell, stream, adapter, provider):
    recorder = ListRecorder()
    adapter.install()
    try:
        with listening(recorder):
            first = ask(cell, Asked(provider.url, stream=stream))
        provider.stop()
        with listening(ListRecorder(source=recorder.interactions)):
            assert ask(cell, Asked(provider.url, stream=stream)) == first
    finally:
        adapter.uninstall()
    assert first[1] is None
    assert recorder.open == 0
    assert len(recorder.interactions) == provider.count == 1


def test_the_table_in_the_docs_holds_exactly_these_cells():
    """docs/reference/clients.md says which cells there are; each is a test above."""
    yes = dict.fromkeys(("recorded", "replayed", "server gone"), "yes")
    rows = [
        f"| {client} | {way} | {shape} | {' | '.join(yes.values())} |"
        for client, way in CELLS
        for shape in ("whole", "streamed")
    ]
    page = Path(__file__).parents[3] / "docs" / "reference" / "clients.md"
    shown = [line for line in page.read_text().splitlines() if line.startswith("| ") and "| yes |" in line]
    assert shown == rows
