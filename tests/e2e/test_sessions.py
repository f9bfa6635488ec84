"""The real SDK under `tt.session`: live traffic of a local provider, its streams and its faults, recorded or not."""

from __future__ import annotations

import asyncio

import openai
import pytest

import trialtape as tt
from cassettes.writer import CassetteWriter
from replay.orchestration.stub import write_stub

QUESTION = "Where is my order? I am mia@example.org."
ASKED = {"model": "m", "messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": QUESTION}]}


def traffic(url):
    """What a host gets: an answer, a stream, a stream that it leaves early, one that breaks off, and an error."""
    seen = []
    with openai.OpenAI(api_key="any", base_url=url, max_retries=0) as client:
        create = client.chat.completions.create
        seen.append(create(**ASKED).choices[0].message.content)
        with create(**ASKED, stream=True) as stream:
            seen.append([chunk.choices[0].delta.content for chunk in stream if chunk.choices])
        with create(**ASKED, stream=True) as stream:
            seen.append(next(iter(stream)).model)
        for options in ({"stream": True, "extra_headers": {"x-drop": "2"}}, {"extra_headers": {"x-status": "503"}}):
            try:
                list(create(**ASKED, **options))
            except openai.OpenAIError as error:
                seen.append((type(error), str(error)))
    seen.append(asyncio.run(async_traffic(url)))
    return seen


async def async_traffic(url):
    async with openai.AsyncOpenAI(api_key="any", base_url=url, max_retries=0) as client:
        answers = await asyncio.gather(*(client.chat.completions.create(**ASKED) for _ in range(3)))
        stream = await client.chat.completions.create(**ASKED, stream=True)
        pieces = [chunk.choices[0].delta.content async for chunk in stream if chunk.choices]
        return [answer.choices[0].message.content for answer in answers], pieces


def test_the_host_gets_the_same_recorded_or_not(provider, home):
    expected = traffic(provider.base_url)
    with tt.session(home=home, sample=0.0):
        assert traffic(provider.base_url) == expected
    with tt.session(home=home) as session:
        assert traffic(provider.base_url) == expected
    view = tt.open(str(session.id), home=home)
    assert (view.ending.status, session.reason, len(view.steps)) == ("completed", None, 9)
    assert {step.call.kind for step in view.steps} == {"model"}
    assert "mia@" not in str([step.call.arguments for step in view.steps])


@pytest.mark.parametrize("nth", [1, 2, 3, 5, 8])
def test_the_host_gets_the_same_when_the_disk_is_full(provider, home, monkeypatch, nth):
    expected = traffic(provider.base_url)
    append, calls = CassetteWriter.append, []

    def full(*args):
        calls.append(1)
        if len(calls) >= nth:
            raise OSError(28, "No space left on device")
        append(*args)

    monkeypatch.setattr(CassetteWriter, "append", full)
    with tt.session(home=home) as session:
        assert traffic(provider.base_url) == expected
    assert "No space left" in session.reason
    assert len(tt.open(str(session.id), home=home).steps) == nth - 1


def test_an_incident_of_a_model_alone_becomes_a_task(provider, home, tmp_path):
    with tt.session(home=home) as session:
        traffic(provider.base_url)
    text = write_stub(tt.open(str(session.id), home=home), tmp_path / "incident.py").path.read_text()
    assert "instruction='Where is my order? I am {secret:email:" in text
