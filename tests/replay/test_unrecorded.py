from __future__ import annotations

from datetime import UTC, datetime
from uuid import UUID

import pytest
from hypothesis import given

from replay.unrecorded import advice, source_of
from tests.strategies import values

ONE, OTHER = "3f5bd6e8-8df7-4e03-bee2-ae14b524d225", "0c5bd6e8-8df7-4e03-bee2-ae14b524d2aa"


@pytest.mark.parametrize(
    ("left", "right", "source"),
    [
        (1_780_000_000.25, 1_780_000_001.5, "clock"),
        ("2026-11-29T23:01:39Z", "2026-11-30T00:00:00Z", "clock"),
        ("2026-11-29", "2026-11-30", "clock"),
        ("23:01:39", "23:01:40", "clock"),
        (datetime(2026, 1, 1, tzinfo=UTC), datetime(2026, 1, 2, tzinfo=UTC), "clock"),
        ("Today is 29 November 2026, 23:01.", "Today is 30 November 2026, 00:04.", "clock"),
        ("It is Nov 29, 2026.", "It is Nov 30, 2026.", "clock"),
        (f"[2026-11-29 23:01:39] {ONE}", f"[2026-11-29 23:01:40] {ONE}", "clock"),
        (ONE, OTHER, "random"),
        (UUID(ONE), UUID(OTHER), "random"),
        (f"your number is {ONE}.", f"your number is {OTHER}.", "random"),
        (f"[2026-11-29 23:01:39] {ONE}", f"[2026-11-29 23:01:40] {OTHER}", "random"),
        (0.8444218515250481, 0.7579544029403025, "random"),
        ("req_3f5bd6e8a0b1c2d3", "req_3f5bd6e8a0b1c2d4", "random"),
        (["a", "b", {"c": 1}], [{"c": 1}, "a", "b"], "order"),
        ("tools: {'a', 'b'}", "tools: {'b', 'a'}", "order"),
        ({"x": 1, "ids": [ONE, 2]}, {"x": 1, "ids": [OTHER, 2]}, "random"),
        ({"m": [{"at": "23:01:39"}]}, {"m": [{"at": "23:01:40"}]}, "clock"),
    ],
)
def test_what_may_explain_a_difference(left, right, source):
    assert source_of(left, right) == source
    assert source_of(right, left) == source


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("hello", "goodbye"),
        (1, 2),
        (0.5, 0.25),
        ("order 17", "order 18"),
        ([1, 2], [1, 2, 3]),
        ([1, True], [1, 1.0]),
        ({"a": 1}, {"b": 1}),
        (None, ONE),
        ("2026-11-29T23:01:39Z", "tomorrow"),
        (f"refund {ONE} at once", f"cancel {OTHER} at once"),
    ],
)
def test_what_means_something_is_explained_by_nothing(left, right):
    assert source_of(left, right) is None


@given(values, values)
def test_any_two_values_can_be_judged_and_equal_ones_need_no_explanation(left, right):
    assert source_of(left, right) in {None, "clock", "random", "order"}
    assert source_of(left, left) is None


@pytest.mark.parametrize("source", ["clock", "random"])
def test_the_advice_says_how_to_freeze_it_or_why_that_did_not_help(source):
    assert f"--ambient {source}" in advice(source, recorded=False)
    assert "holds that" in advice(source, recorded=True)
    assert "sort" in advice("order", recorded=False)
