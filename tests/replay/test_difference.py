from __future__ import annotations

import copy

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cassettes.canonical import canonical
from replay.difference import ABSENT, first_difference, shortened

json_like = st.recursive(
    st.none() | st.booleans() | st.integers(0, 2) | st.floats(0, 2, width=16) | st.text("ab", max_size=2),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("xyz"), inner, max_size=3),
    max_leaves=8,
)


@pytest.mark.parametrize(
    ("left", "right", "path", "values"),
    [
        ({"a": 1}, {"a": 2}, "a", (1, 2)),
        ({"a": {"b": [0, {"c": 1}]}}, {"a": {"b": [0, {"c": 2}]}}, "a.b[1].c", (1, 2)),
        ({"a": 1, "b": 2}, {"b": 2}, "a", (1, ABSENT)),
        ({"b": 2}, {"b": 2, "a": 1}, "a", (ABSENT, 1)),
        ([1, 2], [1], "[1]", (2, ABSENT)),
        ([], [1], "[0]", (ABSENT, 1)),
        ([[1]], [[2]], "[0][0]", (1, 2)),
        (1, True, "", (1, True)),
        ({"a": 1}, {"a": 1.0}, "a", (1, 1.0)),
        ((1,), [1], "", ((1,), [1])),
        ({"a": None}, {}, "a", (None, ABSENT)),
        ({"a": [1]}, {"a": {"0": 1}}, "a", ([1], {"0": 1})),
    ],
)
def test_the_first_place_where_values_part(left, right, path, values):
    found = first_difference(left, right)
    assert (found.path, (found.left, found.right)) == (path, values)


def test_the_order_of_keys_does_not_count():
    assert first_difference({"a": 1, "b": [2.0]}, {"b": [2.0], "a": 1}) is None
    assert first_difference(float("nan"), float("nan")) is None
    assert first_difference(0.0, -0.0) is not None


def test_ignored_paths_do_not_count():
    left, right = {"m": {"id": 1, "x": [{"id": 1}]}}, {"m": {"id": 2, "x": [{"id": 2}]}}
    assert first_difference(left, right).path == "m.id"
    assert first_difference(left, right, ignore=("m.id",)).path == "m.x[0].id"
    assert first_difference(left, right, ignore=("m",)) is None


@given(json_like, json_like)
def test_there_is_a_difference_exactly_if_the_canonical_bytes_differ(left, right):
    found = first_difference(left, right)
    assert (found is None) == (canonical(left) == canonical(right))
    if found is not None:
        assert (at(left, found.path), at(right, found.path)) == (found.left, found.right)
    assert first_difference(left, copy.deepcopy(left)) is None


def at(value, path):
    for part in path.replace("[", ".[").split("."):
        if not part:
            continue
        key = int(part[1:-1]) if part.startswith("[") else part
        try:
            value = value[key]
        except (KeyError, IndexError):
            return ABSENT
    return value


def test_shortened_values_stay_on_one_line():
    assert shortened("short") == "'short'"
    assert shortened({"a": [1]}) == "{'a': [1]}"
    assert shortened(ABSENT) == "nothing"
    assert shortened("a\nb") == "'a\\nb'"
    assert shortened(list(range(100)), width=10) == "[0, 1, 2, …"


def test_a_long_text_is_cut_around_the_difference():
    left, right = "x" * 500 + "left" + "y" * 500, "x" * 500 + "right" + "y" * 500
    assert "left" in shortened(left, right)
    assert "right" in shortened(right, left)
    assert len(shortened(left, right)) < 110
