from __future__ import annotations

import ast
import datetime as dt
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cassettes.errors import BadInput
from replay.literals import literal

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: (
        st.lists(inner, max_size=4) | st.lists(inner, max_size=3).map(tuple) | st.dictionaries(st.text(), inner)
    ),
    max_leaves=12,
)


@given(VALUES, st.integers(20, 100))
def test_what_is_written_is_read_as_the_same(value, width):
    read = ast.literal_eval(literal(value, width))
    assert (read, repr(read)) == (value, repr(value))


def test_what_fits_stands_on_one_line():
    assert literal([("put", {"id": "W1", "n": 2})]) == '[("put", {"id": "W1", "n": 2})]'
    assert literal([]) == "[]"
    assert literal((1,)) == "(1,)"


def test_what_does_not_fit_has_an_item_per_line():
    assert literal([("put", {"id": "W1"}), ("get", [])], width=28) == (
        '[\n    ("put", {"id": "W1"}),\n    ("get", []),\n]'
    )
    assert literal({"names": ["a", "b"]}, width=14, before=8) == (
        '{\n    "names": [\n        "a",\n        "b",\n    ],\n}'
    )


def test_letters_that_cannot_be_printed_are_escaped():
    assert literal("a\n\x7f\u2028é😀\ud800") == '"a\\n\\u007f\\u2028é😀\\ud800"'


@pytest.mark.parametrize("value", [dt.date(2026, 1, 1), math.nan, math.inf, {"a": b"x"}, {1, 2}])
def test_what_has_no_literal_is_refused(value):
    with pytest.raises(BadInput, match="has no form as a literal"):
        literal(value)
