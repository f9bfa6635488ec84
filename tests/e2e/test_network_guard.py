# ruff: noqa: PT012, SIM117  # what leaves a trial's block of several calls is what is tested

"""While calls are frozen, nothing reaches the network that no live call owns, whatever library tries."""

from __future__ import annotations

import http.client
import urllib.request

import pytest

import trialtape as tt


@tt.tool(effect="read")
def ask(url):
    with urllib.request.urlopen(url) as response:  # a client that no adapter sees
        return response.read()


@tt.tool(effect="read", external=False)
def ask_locally(url):
    with urllib.request.urlopen(url) as response:
        return response.read()


@pytest.fixture
def url(provider):
    return f"{provider.url}/text"


@pytest.fixture
def recorded(tmp_path, url):
    with tt.trial(run="base", task="t", home=tmp_path):
        return ask(url)


def test_a_recorded_tool_is_answered_and_an_unknown_client_is_refused_before_a_socket_opens(
    tmp_path, url, provider, recorded
):
    before = provider.count
    with pytest.raises(tt.Refused, match=r"a connection to 127\.0\.0\.1:\d+ was refused"):
        with tt.trial(run="again", task="t", home=tmp_path, replay="base/t#0"):
            assert ask(url) == recorded
            try:
                http.client.HTTPConnection(url.split("/")[2]).request("GET", "/text")
            except Exception:  # an agent that catches everything does not catch it
                pytest.fail("the refusal was caught")
    assert provider.count == before


def test_a_live_call_may_connect_while_the_outside_is_frozen(tmp_path, url, provider, recorded):
    before = provider.count
    with tt.trial(run="frozen", task="t", home=tmp_path, freeze="external", source="base") as trial:
        assert ask(url) == recorded
        assert ask_locally(url) == recorded
    assert (provider.count - before, dict(trial.verdicts)) == (1, {"own": 1})


def test_recording_refuses_nothing(tmp_path, url, provider):
    with tt.trial(run="base", task="u", home=tmp_path):
        ask(url)
        with urllib.request.urlopen(url) as response:
            assert response.status == 200
    assert provider.count == 2
