"""Rows 1 to 4, and the peers' rows of streams: what is streamed stays streamed, and is kept as it was read."""

from __future__ import annotations

import time

import httpx2
import openai
import pytest

import trialtape as tt

ASKED = {"model": "m", "messages": [{"role": "user", "content": "hi"}], "stream": True}


def client(url):
    return openai.OpenAI(api_key="k", base_url=url, max_retries=0)


def texts(chunks):
    return (chunk.choices[0].delta.content for chunk in chunks)


def kept(home, identity="r/t#0"):
    (step,) = tt.open(identity, home=home).steps
    return step.outcome


def test_row_01_each_of_20_chunks_arrives_before_the_next_is_sent_and_all_are_kept_with_their_times(
    trial, provider, home
):
    headers = {"x-chunks": "20", "x-gate": "1"}
    released, received = [], []
    with trial() as block:
        began = time.perf_counter() - block.session.journal.now()
        with client(provider.base_url) as model:
            provider.release()
            stream = model.chat.completions.create(**ASKED, extra_headers=headers)
            released.append(0.0)
            for number, chunk in enumerate(stream):
                received.append(time.perf_counter() - began)
                assert chunk.choices[0].delta.content == f"tok{number} "
                released.append(time.perf_counter() - began)
                provider.release()  # the server sends the next one only now
    assert len(received) == 20
    (step,) = tt.open("r/t#0", home=home).steps
    chunks = [chunk for chunk in step.outcome.chunks if b"tok" in chunk.data]
    assert step.outcome.complete
    assert len(chunks) == 20
    for number, chunk in enumerate(chunks):  # its time lies between its release and its receipt
        assert released[number] - 1e-5 <= step.interaction.at + chunk.at <= received[number] + 1e-5


def test_row_02_a_consumer_that_stops_after_3_of_20_returns_at_once_and_3_are_kept(trial, provider, home):
    headers = {"x-chunks": "20", "x-gate": "1"}

    def agent(url):
        got = []
        with client(url) as model, model.chat.completions.create(**ASKED, extra_headers=headers) as stream:
            for chunk in stream:
                got.append(chunk.choices[0].delta.content)
                if len(got) == 3:
                    return got
        return got

    provider.release(3)  # no more will ever come: who waits for more waits in vain
    with trial():
        assert agent(provider.base_url) == ["tok0 ", "tok1 ", "tok2 "]
    outcome = kept(home)
    assert [chunk.data.count(b"data: ") for chunk in outcome.chunks] == [1, 1, 1]
    assert (outcome.complete, outcome.error) == (False, None)
    url = provider.base_url
    provider.stop()
    with trial(run="again", replay="r/t#0"):
        assert agent(url) == ["tok0 ", "tok1 ", "tok2 "]


def test_row_03_of_a_connection_that_drops_after_5_chunks_5_are_kept_with_the_same_error(trial, provider, home):
    headers = {"x-chunks": "20", "x-drop": "5"}

    def agent(url):
        got = []
        with client(url) as model, pytest.raises(openai.APIConnectionError) as caught:
            got.extend(texts(model.chat.completions.create(**ASKED, extra_headers=headers)))
        return got, type(caught.value), type(caught.value.__cause__)

    with trial():
        live = agent(provider.base_url)
    assert live[0] == [f"tok{number} " for number in range(5)]
    outcome = kept(home)
    assert sum(chunk.data.count(b"data: ") for chunk in outcome.chunks) == 5
    assert not outcome.complete
    assert type(outcome.error) is live[2]
    url = provider.base_url
    provider.stop()
    with trial(run="again", replay="r/t#0"):
        assert agent(url) == live


def test_row_04_an_endless_event_stream_of_which_three_are_read_returns(trial, provider, home):
    def agent(url):
        with httpx2.Client() as web, web.stream("GET", f"{url}/forever") as response:
            lines = (line for line in response.iter_lines() if line)
            return [next(lines) for _ in range(3)]

    with trial():
        assert agent(provider.url) == ["data: tick 0", "data: tick 1", "data: tick 2"]
    assert provider.left.wait(20)  # the server saw its reader go
    assert not kept(home).complete
    url = provider.url
    provider.stop()
    with trial(run="again", replay="r/t#0"):
        assert agent(url) == ["data: tick 0", "data: tick 1", "data: tick 2"]
