"""``--freeze external --offline``: no outside call, counted by the server that would have answered."""

from __future__ import annotations

import socket

import httpx
import pytest

import trialtape as tt


@tt.tool(effect="read")
def weather(base: str, city: str) -> str:
    return httpx.get(f"{base}/models", params={"city": city}).headers["content-type"]


@tt.tool(effect="write")
def book(base: str, city: str) -> int:
    return httpx.get(f"{base}/models", params={"book": city}).status_code


def agent(base, *cities):
    for city in cities:
        weather(base, city)
        book(base, city)
    return httpx.get(f"{base}/models", params={"by": "the agent itself"}).status_code


@pytest.fixture
def recorded(tmp_path, provider):
    with tt.trial(run="base", task="t", home=tmp_path):
        agent(provider.base_url, "Oslo")
    asked = len(provider.requests)
    assert asked == 3
    return provider, asked


@pytest.fixture
def offline(tmp_path):
    return lambda run: tt.trial(
        run=run, task="t", freeze="external", source="base", world=0, offline=True, home=tmp_path
    )


def test_what_was_recorded_is_answered_and_the_server_is_not_asked(recorded, offline):
    provider, asked = recorded
    with offline("f") as trial:
        assert agent(provider.base_url, "Oslo") == 200
    assert trial.verdicts == {"own": 3}
    assert len(provider.requests) == asked


@pytest.mark.parametrize("cities", [("Rome",), ("Oslo", "Rome")])
def test_what_was_not_recorded_ends_the_trial_and_the_server_is_not_asked(recorded, offline, cities):
    provider, asked = recorded
    with pytest.raises(tt.Unanswered), offline("f"):
        agent(provider.base_url, *cities)
    assert len(provider.requests) == asked


def test_a_client_that_nobody_sees_gets_no_connection(recorded, offline):
    provider, asked = recorded
    host, port = provider.base_url.removeprefix("http://").split("/")[0].split(":")
    with pytest.raises(tt.Refused, match="belongs to no live call"), offline("f"):
        socket.create_connection((host, int(port)))
    assert len(provider.requests) == asked


def test_without_offline_a_read_goes_live_once(recorded, tmp_path):
    provider, asked = recorded
    for _ in range(2):
        with tt.trial(run="g", task="t", freeze="external", source="base", world=0, home=tmp_path):
            weather(provider.base_url, "Rome")
    assert len(provider.requests) == asked + 1
