"""Attempts that an SDK marks as retries are one call."""

from __future__ import annotations

import openai
import pytest

import trialtape as tt
from cassettes.model import Error, Reply, Value
from replay.retries import folded
from tests import factories


def attempt(step, number, status=429, *, content="hi", error=None, **options):
    detail = {"headers": {"x-stainless-retry-count": str(number)}}
    call = factories.call("model", "m", arguments={"messages": [{"role": "user", "content": content}]}, detail=detail)
    outcome = Error(error) if error else Value({"status": status, "headers": [["retry-after", "9"]]})
    return factories.interaction(step, outcome, call=call, reply=Reply(text=f"of {step}"), **options)


def test_attempts_of_one_call_are_asked_as_the_first_and_answered_as_the_last():
    (one,) = folded([attempt(0, 0, 429), attempt(1, 1, 500), attempt(2, 2, 200)])
    assert (one.step, one.started, one.ended) == (0, 0, 5)
    assert one.outcome.value["status"] == 200
    assert one.reply.text == "of 2"


def test_unmarked_calls_stay_calls_of_their_own():
    calls = [attempt(0, 0, 429), attempt(1, 0, 200), factories.interaction(2)]
    assert folded(calls) == calls


def test_calls_with_other_messages_are_not_each_others_retries():
    calls = [attempt(0, 0, 429), attempt(1, 1, 200, content="other")]
    assert folded(calls) == calls


def test_retries_of_two_calls_at_once_stay_apart():
    calls = [
        attempt(0, 0, 429, content="a", started=0, ended=2),
        attempt(1, 0, 429, content="b", started=1, ended=3),
        attempt(2, 1, 200, content="b", started=4, ended=6),
        attempt(3, 1, 503, content="a", started=5, ended=7),
    ]
    assert [(i.step, i.ended, i.outcome.value["status"]) for i in folded(calls)] == [(0, 7, 503), (1, 6, 200)]


def test_a_last_refusal_tells_the_sdk_not_to_try_again():
    (one,) = folded([attempt(0, 0), attempt(1, 1)])
    assert one.outcome.value["headers"] == [["retry-after", "9"], ["x-should-retry", "false"]]


def test_attempts_that_reached_nobody_stay_as_they_are():
    calls = [attempt(0, 0, error=ConnectionError("no")), attempt(1, 1, error=ConnectionError("no"))]
    assert folded(calls) == calls


@pytest.mark.parametrize("status", [429, 503])
def test_a_call_that_failed_after_all_its_retries_is_replayed_at_once(tmp_path, monkeypatch, provider, status):
    waited = []
    monkeypatch.setattr("openai._base_client.SyncAPIClient._sleep_for_retry", lambda self, **options: waited.append(1))

    def agent(url):
        with openai.OpenAI(api_key="k", base_url=url, max_retries=2) as client, pytest.raises(openai.APIError) as got:
            client.chat.completions.create(model="m", messages=[], extra_headers={"x-status": str(status)})
        return type(got.value), got.value.body

    with tt.trial(run="r", task="t", home=tmp_path):
        live = agent(provider.base_url)
    assert (provider.count, len(waited)) == (3, 2)
    with tt.trial(run="again", task="t", replay="r/t#0", home=tmp_path) as again:
        assert agent(provider.base_url) == live
    assert again.ending.status == "completed"
    assert (provider.count, len(waited)) == (3, 2)
