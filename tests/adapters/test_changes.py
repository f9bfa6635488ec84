"""Arguments that a tool changes in place are seen, and changed likewise in replay."""

from __future__ import annotations

import copy
from collections import deque

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.changes import changed, redo, snapshot
from cassettes.errors import CassetteError
from cassettes.model import Changed
from cassettes.values import pack


class Order:
    def __init__(self, **fields):
        vars(self).update(fields)


def test_only_what_could_change_and_can_be_kept_is_watched():
    assert set(snapshot({"number": 1, "text": "x", "none": None, "items": [1], "open": open})) == {"items"}


def test_what_is_no_longer_what_it_was_is_told_and_nothing_else():
    arguments = {"items": [1], "facts": {"a": 1}}
    before = snapshot(arguments)
    assert changed(before, arguments) == {}
    arguments["items"].append(2)
    assert changed(before, arguments) == {"items": [1, 2]}


def test_a_change_of_type_alone_is_a_change():
    arguments = {"items": [1]}
    before = snapshot(arguments)
    arguments["items"][0] = True  # which equals 1
    assert changed(before, arguments) == {"items": [True]}


@pytest.mark.parametrize(
    ("mine", "after"),
    [
        ([1, 2], [3]),
        ({"a": 1}, {"b": 2}),
        ({1, 2}, {3}),
        (deque([1]), deque([2, 3])),
        (bytearray(b"a"), bytearray(b"bc")),
    ],
)
def test_the_callers_own_object_becomes_what_the_tool_made_of_it(mine, after):
    held = mine
    redo(Changed(None, {"x": after}), {"x": mine})
    assert mine == after
    assert mine is held


def test_an_objects_fields_become_the_recorded_ones():
    mine, after = Order(number=1, note="old"), Order(number=2)
    redo(Changed(None, {"order": after}), {"order": mine})
    assert vars(mine) == {"number": 2}


def test_an_object_of_another_class_is_refused_by_name():
    with pytest.raises(CassetteError, match="argument 'x': the recorded call changed a list in place"):
        redo(Changed(None, {"x": [1]}), {"x": (1,)})


def test_what_cannot_be_changed_from_outside_is_refused_with_a_way_out():
    with pytest.raises(CassetteError, match="let the tool return the change instead"):
        redo(Changed(None, {"x": (1, [2])}), {"x": (1, [3])})


def test_what_the_tool_itself_changed_is_left_alone():
    mine = [1, 2]
    redo(Changed(None, {"x": mine}), {"x": mine})
    assert mine == [1, 2]


trees = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.text("ab", max_size=2),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("ab"), inner, max_size=2),
)


@given(st.lists(trees, max_size=4), st.lists(trees, max_size=4))
def test_what_was_seen_done_again_leaves_the_same(before, after):
    recorded = {"x": copy.deepcopy(before)}
    seen = snapshot(recorded)
    recorded["x"][:] = copy.deepcopy(after)
    told = changed(seen, recorded)
    assert (told == {}) == (pack(before) == pack(after))
    mine = {"x": copy.deepcopy(before)}
    redo(Changed(None, told), mine)
    assert pack(mine["x"]) == pack(after)
