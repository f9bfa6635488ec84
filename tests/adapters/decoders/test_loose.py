from __future__ import annotations

import json
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.decoders.loose import (
    dumped,
    failure,
    fault,
    first_choice,
    looks_like_json,
    parsed,
    problem,
    total,
    values_in,
)


def test_what_is_too_deep_is_absent():
    deep = "[" * 100_000 + "]" * 100_000
    assert parsed(deep) is None
    assert list(values_in(f"1 {{}} {deep[100_000:]}")) == [1, {}]


def test_what_is_too_deep_to_be_written_is_empty():
    nested = []
    for _ in range(sys.getrecursionlimit() * 200):
        nested = [nested]
    assert dumped(nested) == ""


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("", []),
        ("[", []),
        ('[{"a": 1},\n {"b"', [{"a": 1}]),
        ("[1, 2]", [1, 2]),
        ('{"a": [1]}\r\n,{}', [{"a": [1]}, {}]),
        ("oops", []),
    ],
)
def test_values_of_an_array_that_may_be_cut_off(text, values):
    assert list(values_in(text)) == values


@given(st.lists(st.dictionaries(st.text(), st.integers() | st.text()), max_size=4))
def test_an_array_of_objects_comes_back(values):
    assert list(values_in(json.dumps(values))) == values


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ({"error": {"message": "m"}}, "m"),
        ({"error": {"code": 1}}, '{"code": 1}'),
        ({"error": "m"}, "m"),
        ({"error": ["m"]}, '["m"]'),
        ({"object": "error", "message": "m"}, "m"),
        ({"detail": "m"}, "m"),
        ([{"error": {"message": "m"}}], "m"),
        ({"error": None}, None),
        ({"message": "m"}, None),
        ([{}, {}], None),
        (None, None),
    ],
)
def test_what_is_an_error(data, message):
    assert problem(data) == message


def test_an_error_by_its_status_always_has_a_message():
    assert failure(500, {"message": "m"}) == failure(500, {"Message": "m"}) == "m"
    assert failure(500, {"message": 5}) == failure(500, "m") == failure(500, None) == "HTTP 500"


def test_an_answer_is_an_error_by_its_status_or_by_its_body():
    assert (fault(200, {}), fault(200, {"error": "m"}), fault(500, {})) == (None, "m", "HTTP 500")


def test_the_first_choice_stands_for_the_reply():
    assert first_choice([{"index": 1}, {"index": 0, "a": 1}]) == {"index": 0, "a": 1}
    assert first_choice([{"a": 1}, {"a": 2}]) == {"a": 1}
    assert first_choice([{"index": 1}, "x"]) == first_choice(None) == {}


def test_totals_and_beginnings():
    assert (total(1, 2, None, "3"), total(None, 2), total(True)) == (3, None, None)
    assert [looks_like_json(data) for data in (b" {", b"\n[1]", b"data: {", b"\0", b"")] == [
        True,
        True,
        False,
        False,
        False,
    ]
