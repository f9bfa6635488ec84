from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from cassettes.canonical import canonical
from replay.leaves import ABSENT, LeafChange, leaf_changes

JSON = st.recursive(
    st.none() | st.booleans() | st.integers(0, 2) | st.sampled_from(["a", "b", 1.0]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("xyz"), inner, max_size=3),
    max_leaves=8,
)


def test_equal_values_have_no_change():
    assert leaf_changes({"a": [1, {"b": 2}]}, {"a": [1, {"b": 2}]}) == ()


def test_the_order_of_keys_does_not_count():
    assert leaf_changes({"a": 1, "b": 2}, {"b": 2, "a": 1}) == ()


def test_every_leaf_is_told_with_its_path_and_both_sides():
    left = {"order": {"items": [{"price": 1}, {"price": 2}], "state": "open"}}
    right = {"order": {"items": [{"price": 1}, {"price": 3}], "state": "sent"}}
    assert leaf_changes(left, right) == (
        LeafChange("order.items[1].price", 2, 3),
        LeafChange("order.state", "open", "sent"),
    )


def test_values_that_are_no_containers_are_leaves_themselves():
    assert leaf_changes("a", "b") == (LeafChange("", "a", "b"),)


def test_what_one_side_lacks_is_one_change_with_an_absent_side():
    assert leaf_changes({"a": {"x": 1, "y": 2}}, {"b": None}) == (
        LeafChange("a", {"x": 1, "y": 2}, ABSENT),
        LeafChange("b", ABSENT, None),
    )


def test_an_item_that_came_first_does_not_change_those_behind_it():
    assert leaf_changes([1, 2, 3], [0, 1, 2, 3]) == (LeafChange("[0]", ABSENT, 0),)
    assert leaf_changes({"l": ["x", "a", "b"]}, {"l": ["a", "b"]}) == (LeafChange("l[0]", "x", ABSENT),)


def test_numbers_of_other_types_are_other_numbers():
    assert len(leaf_changes([1], [True])) == len(leaf_changes({"n": 1}, {"n": 1.0})) == 1


def test_another_form_is_one_change():
    assert leaf_changes({"a": [1]}, {"a": {"0": 1}}) == (LeafChange("a", [1], {"0": 1}),)


def test_a_value_without_a_lossless_form_is_compared_as_it_shows_itself():
    class Odd:
        def __init__(self, name):
            self.name = name

        def __repr__(self):
            return self.name

    assert leaf_changes(Odd("a"), Odd("a")) == ()
    assert len(leaf_changes(Odd("a"), Odd("b"))) == 1


def test_as_data_an_absent_side_is_left_out():
    assert LeafChange("a", ABSENT, None).to_dict() == {"path": "a", "right": None}


@given(JSON, JSON)
def test_no_change_means_equal_and_the_other_way_round(left, right):
    assert (leaf_changes(left, right) == ()) == (canonical(left) == canonical(right))
