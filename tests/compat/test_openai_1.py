"""openai 1.x on httpx: recorded, and replayed with no server. `make test-compat` runs it in an environment of its own.

The same holds for the generation that the project's environment has: TRIALTAPE_COMPAT=1 runs it there too.
"""

from __future__ import annotations

import asyncio
import functools
import os
import sys

import openai
import pytest

import trialtape as tt
from tests.asking import Asked, with_async_openai, with_openai

pytestmark = pytest.mark.skipif(
    not openai.__version__.startswith("1.") and "TRIALTAPE_COMPAT" not in os.environ,
    reason=f"openai {openai.__version__} is no 1.x: `make test-compat` has an environment with one",
)
# Of the HTTP client below, which openai lets through while a stream is read: httpx, or httpx2 from 3.x on.
HTTP_ERROR = sys.modules[openai.DefaultHttpxClient.__base__.__module__.partition(".")[0]].HTTPError
ways = pytest.mark.parametrize("way", ["sync", "async"])
shapes = pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])


@pytest.fixture
def home(tmp_path):
    return tmp_path / "home"


@pytest.fixture
def trial(home):
    return functools.partial(_trial, home)


def _trial(home, **options):
    return tt.trial(**{"run": "r", "task": "t", "home": home, **options})


def ask(way, asked):
    """What the SDK gave, and what it raised."""
    got = []
    try:
        if way == "sync":
            with_openai(asked, got)
        else:
            asyncio.run(with_async_openai(asked, got))
    except (openai.OpenAIError, HTTP_ERROR) as error:
        return got, type(error).__name__, str(error)
    return got, None, None


@pytest.fixture
def twice(trial, provider, home):
    """The same recorded, and replayed with the provider gone: ``(live, replayed, outcome)``."""

    def run(way, **options):
        with trial():
            live = ask(way, Asked(provider.url, **options))
        seen = provider.count
        provider.stop()
        with trial(run="again", replay="r/t#0") as again:
            replayed = ask(way, Asked(provider.url, **options))
        assert again.ending.status == "completed"
        assert provider.count == seen == 1
        (step,) = tt.open("r/t#0", home=home).steps
        assert (step.call.kind, step.origin.live) == ("model", True)
        assert [step.origin.verdict for step in tt.open("again/t#0", home=home).steps] == ["own"]
        return live, replayed, step.outcome

    return run


@ways
@shapes
def test_a_call_is_replayed_as_it_was_recorded(way, stream, twice):
    live, replayed, outcome = twice(way, stream=stream)
    assert replayed == live
    assert live[1] is None
    assert all(f"tok{i}" in str(live[0]) for i in range(12))
    assert not stream or (outcome.complete and outcome.chunks)


@ways
def test_a_consumer_that_stops_after_three_is_replayed_as_such(way, twice):
    live, replayed, outcome = twice(way, stream=True, take=3)
    assert replayed == live
    assert len(live[0]) == 3
    assert outcome.error is None


@ways
def test_a_server_that_drops_after_five_is_replayed_as_such(way, twice):
    live, replayed, outcome = twice(way, stream=True, headers={"x-drop": "5"})
    assert replayed == live
    assert live[0]
    assert live[1] is not None
    assert not outcome.complete


@ways
@pytest.mark.parametrize("status", [400, 500])
def test_an_error_of_the_provider_is_raised_again(way, status, twice):
    live, replayed, _ = twice(way, stream=False, headers={"x-status": str(status)})
    assert replayed == live
    assert live[1] == {400: "BadRequestError", 500: "InternalServerError"}[status]


@ways
def test_a_request_that_was_not_recorded_opens_no_connection(way, trial, provider):
    with trial():
        ask(way, Asked(provider.url, stream=False))
    with pytest.raises(tt.Divergence), trial(run="again", replay="r/t#0"):
        ask(way, Asked(f"{provider.url}/elsewhere", stream=False))
    assert provider.count == 1
