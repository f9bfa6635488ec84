from __future__ import annotations

import pytest

from cassettes.model import Error, Stream, Value
from replay.orchestration.throttle import Throttle, status_of


@pytest.fixture
def clock(monkeypatch):
    now = [1000.0]
    monkeypatch.setattr("replay.orchestration.throttle.time.monotonic", lambda: now[0])
    return now


def answered(status, **headers):
    return Value({"status": status, "headers": [[name.replace("_", "-"), value] for name, value in headers.items()]})


def test_nobody_waits_before_a_refusal(clock):
    throttle = Throttle()
    throttle.heed(answered(200))
    assert throttle.delay() == 0.0


def test_everybody_waits_as_long_as_the_provider_says(clock):
    throttle = Throttle()
    throttle.heed(answered(429, retry_after="7"))
    assert throttle.delay() == 7.0
    clock[0] += 3
    assert throttle.delay() == 4.0
    clock[0] += 5
    assert throttle.delay() == 0.0


def test_without_a_word_of_the_provider_the_wait_doubles_up_to_a_minute(clock):
    throttle = Throttle()
    waits = []
    for _ in range(9):
        throttle.heed(answered(429))
        waits.append(throttle.delay())
        clock[0] += waits[-1]
    assert waits == [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 60.0, 60.0, 60.0]


def test_an_answer_starts_the_doubling_anew(clock):
    throttle = Throttle()
    for _ in range(3):
        throttle.heed(answered(429))
    clock[0] += 60
    throttle.heed(answered(200))
    throttle.heed(answered(429))
    assert throttle.delay() == 1.0


@pytest.mark.parametrize("text", ["Wed, 21 Oct 2026 07:28:00 GMT", "soon", "0"])
def test_a_retry_after_that_says_nothing_is_passed_over(clock, text):
    throttle = Throttle()
    throttle.heed(answered(429, retry_after=text))
    assert throttle.delay() == 1.0


def test_a_shorter_wait_does_not_shorten_a_longer_one(clock):
    throttle = Throttle()
    throttle.heed(answered(429, retry_after="30"))
    throttle.heed(answered(429, retry_after="2"))
    assert throttle.delay() == 30.0


def test_no_provider_closes_longer_than_a_minute(clock):
    throttle = Throttle()
    throttle.heed(answered(429, retry_after="86400"))
    assert throttle.delay() == 60.0


def test_status_of_an_outcome():
    assert status_of(answered(503)) == 503
    assert status_of(Stream({"status": 200}, ())) == 200
    assert status_of(Error(ValueError())) is None
    assert status_of(Value("text")) is None
