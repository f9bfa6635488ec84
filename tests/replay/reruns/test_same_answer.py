"""In which tier an answer of now repeats the recorded one."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cassettes.model import Call, Changed, Error, Value
from replay.reruns.answer_changes import fields_of_changes
from replay.reruns.same_answer import compared, holds_placeholder

TOOL = Call("tool", "get_user", {})
SECRET = "{secret:mine:0a1b2c3d}"

texts = st.text(st.characters(codec="utf-8"))
documents = st.recursive(
    st.none() | st.booleans() | st.integers(-1000, 1000) | texts,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4),
    max_leaves=12,
)


def tier(then, now, ignore=()):
    return compared(TOOL, Value(then), Value(now), ignore)[0]


def floats(value):
    """The same document with other forms of its numbers, and its keys in another order."""
    if type(value) is int:
        return float(value)
    if isinstance(value, list):
        return [floats(item) for item in value]
    if isinstance(value, dict):
        return {key: floats(item) for key, item in reversed(value.items())}
    return value


@given(documents)
def test_what_is_the_same_is_identical_as_text_and_as_an_object(document):
    assert tier(document, document) == "identical"
    assert tier(json.dumps(document), json.dumps(document)) == "identical"


@given(documents)
def test_the_order_of_keys_and_the_form_of_numbers_make_it_canonical_at_worst(document):
    other = floats(document)
    assert tier(document, other) in {"identical", "canonical"}
    assert tier(json.dumps({"a": document}), json.dumps({"a": other}, indent=2)) == "canonical"


@given(documents, documents)
def test_no_two_documents_that_say_something_else_are_the_same(one, other):
    def said(value):
        if type(value) is bool or value is None:
            return repr(value)  # True is no 1
        if isinstance(value, list):
            return [said(item) for item in value]
        return {key: said(item) for key, item in value.items()} if isinstance(value, dict) else value

    if said(one) != said(other):
        assert tier({"a": one}, {"a": other}) == "differs"


@pytest.mark.parametrize(
    ("then", "now", "found"),
    [
        ('{"a": 1}', {"a": 1}, "canonical"),
        ("255.0", "255", "canonical"),
        ("007", "7", "differs"),
        ("1", True, "differs"),
        ({"a": 1}, {"a": True}, "differs"),
        ("", None, "differs"),
        ([25.0, 25], [25, 25], "canonical"),
        (Changed("done", {"db": {}}), "done", "identical"),
    ],
)
def test_tiers(then, now, found):
    assert tier(then, now) == found


def test_errors_are_the_same_if_they_say_the_same():
    def found(then, now):
        return compared(TOOL, Error(then), Error(now))[0]

    assert found(KeyError("a"), KeyError("a")) == "identical"
    assert found(KeyError("a"), ValueError("a")) == "differs"
    assert compared(TOOL, Value("a"), Error(ValueError("a")))[0] == "differs"


def test_what_differs_is_told_by_field_and_what_is_ignored_is_not():
    then, now = {"at": 1, "address": {"province": "NY"}}, {"at": 2, "address": {"state": "NY"}}
    found, changes = compared(TOOL, Value(then), Value(now), ["tool:get_user:at"])
    assert (found, fields_of_changes(changes)) == ("differs", ["address.province renamed to address.state"])


@pytest.mark.parametrize(
    ("then", "now", "found"),
    [
        ({"key": SECRET}, {"key": "k-1"}, "hidden"),
        ({"key": SECRET}, {"key": 17}, "hidden"),
        ({"key": f"it is {SECRET}, keep it"}, {"key": "it is k-1, keep it"}, "hidden"),
        ({"key": f"it is {SECRET}"}, {"key": "it was k-1"}, "differs"),
        ({"key": SECRET}, {}, "differs"),
        ({"key": SECRET, "n": 1}, {"key": "k-1", "n": 2}, "differs"),
        ({"key": SECRET}, {"key": "{secret:mine:ffffffff}"}, "differs"),
        ({"key": f"it is {SECRET}"}, {"key": 17}, "differs"),
    ],
)
def test_a_secret_that_the_recording_does_not_hold_is_neither_the_same_nor_another(then, now, found):
    assert tier(then, now) == found


def test_placeholders_are_found_wherever_they_stand():
    assert holds_placeholder({"a": [{"b": f"x {SECRET}"}]})
    assert not holds_placeholder({"a": "{secret}"})


def test_a_value_without_a_lossless_form_is_compared_as_it_is_told():
    class Handle:
        def __repr__(self):
            return "a handle"

    assert tier("a", Handle()) == "differs"
