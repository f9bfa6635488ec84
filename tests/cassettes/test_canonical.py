from __future__ import annotations

from collections import OrderedDict
from types import MappingProxyType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cassettes.canonical import canonical, digest, digest_bytes, key_of, without
from cassettes.errors import UnkeepableValue
from cassettes.values import pack, unpack
from tests.factories import call, model_call
from tests.strategies import Failure, Model, Plain, values


def reordered(value):
    """The same value with the keys of every dict in it the other way round."""
    if type(value) in {dict, OrderedDict}:
        return type(value)((reordered(key), reordered(item)) for key, item in reversed(value.items()))
    if type(value) in {list, tuple, set, frozenset}:
        return type(value)(reordered(item) for item in value)
    if type(value) is Plain:
        return Plain(reordered(value.a), reordered(value.b))
    return value


@given(values)
def test_the_order_of_keys_never_changes_a_digest(value):
    assert canonical(reordered(value)) == canonical(value)


@given(values)
def test_a_digest_is_the_same_before_and_after_a_round_trip(value):
    assert digest(unpack(pack(value))) == digest(value)


@given(st.lists(st.integers() | st.text() | st.tuples(st.booleans()), unique=True))
def test_a_set_has_one_digest_whatever_order_it_was_built_in(items):
    other: set[object] = set()
    for item in reversed(items):
        other.add(item)
    assert canonical(set(items)) == canonical(other)


def test_keys_of_mixed_types_are_ordered_too():
    a = {1: "a", "1": "b", (1,): "c", None: "d", b"1": "e", 1.5: "f"}
    assert digest(a) == digest(dict(reversed(a.items())))


def test_fields_set_in_another_order_do_not_count():
    one, other = Failure(1), Failure(1)
    one.x, one.y = 1, {"a": 1, "b": 2}
    other.y, other.x = {"b": 2, "a": 1}, 1
    assert digest(one) == digest(other)
    assert digest(Model(a=1, p=1, q=2)) == digest(Model(q=2, p=1, a=1))


def test_values_that_python_calls_equal_stay_apart():
    alike = [1, True, 1.0, "1", b"1", [1], (1,), {1}, frozenset({1}), bytearray(b"1"), -0.0, 0.0, 0, False, None, ""]
    for wrap in (lambda v: v, lambda v: [v], lambda v: {"k": v}, lambda v: (v,), Plain):
        assert len({digest(wrap(value)) for value in alike}) == len(alike)


def test_a_digest_is_stable_between_releases():
    assert digest({"b": [1, True, 1.0, "x", None], "a": (b"y", {2})}) == "dc5055235fc3a27a23bd6193587a4cdc"
    assert digest_bytes(b"") == "cae66941d9efbd404e4d88758ea67670"


def test_what_cannot_be_kept_has_no_digest():
    with pytest.raises(UnkeepableValue, match=r"value\.a\[1\]"):
        digest({"a": [1, object()]})


def test_everything_that_makes_a_call_another_call_changes_its_key():
    keys = [
        key_of(call()),
        key_of(call(actor="user")),
        key_of(call("http")),
        key_of(call(name="other")),
        key_of(call(endpoint="x")),
        key_of(call(arguments={"order_id": "W2"})),
        key_of(call(arguments={"order_id": "W1", "more": None})),
        key_of(call(arguments={"order_id": 1})),
        key_of(call(arguments={"order_id": True})),
    ]
    assert len(set(keys)) == len(keys)


def test_what_is_kept_for_the_reader_does_not_change_a_key():
    assert key_of(call(detail={"host": "a"}, effect="read", external=False, reads=("x",))) == key_of(call())


def test_ignored_paths_do_not_count_at_any_depth():
    one = model_call([{"role": "user"}], metadata={"request_id": 1, "kept": {"trace": "a", "b": 1}})
    other = model_call([{"role": "user"}], metadata={"request_id": 2, "kept": {"trace": "z", "b": 1}})
    assert key_of(one) != key_of(other)
    assert key_of(one, ["metadata.request_id"]) != key_of(other, ["metadata.request_id"])
    ignore = ["metadata.request_id", "metadata.kept.trace", "not.there", "model.deeper"]
    assert key_of(one, ignore) == key_of(other, ignore)


def test_an_ignored_argument_counts_neither_when_there_nor_when_missing():
    assert key_of(call(arguments={"a": 1, "seed": 7}), ["seed"]) == key_of(call(arguments={"a": 1}), ["seed"])


def test_what_is_left_out_by_path():
    value = {"a": [{"id": 1, "b": 2}, {"id": 3}, "x"], "c": {"id": 4}}
    assert without(value, ["a[*].id", "c.id"]) == {"a": [{"b": 2}, {}, "x"], "c": {}}
    assert without(value, ["a[0]", "a[2]"]) == {"a": [None, {"id": 3}, None], "c": {"id": 4}}
    assert without(value, ["a.id", "c[0]", "a[7].id", "a[0][1]"]) == value
    assert without([[1, 2]], ["[0][1]"]) == [[1, None]]


def test_a_star_is_every_key_of_a_map_that_has_none_of_that_name():
    value = {"a": {"x": {"at": 1, "n": 2}, "y": {"at": 3}}, "b": 1}
    assert without(value, ["a.*.at"]) == {"a": {"x": {"n": 2}, "y": {}}, "b": 1}
    assert without(value, ["a.*"]) == {"a": {}, "b": 1}
    assert without({"*": {"at": 1}, "x": {"at": 1}}, ["*.at"]) == {"*": {}, "x": {"at": 1}}


def test_arguments_may_be_any_mapping():
    assert key_of(call(arguments=MappingProxyType({"a": 1, "b": 2})), ["b"]) == key_of(call(arguments={"a": 1}), ["b"])


def test_ignoring_leaves_the_call_as_it_was():
    arguments = {"a": {"b": 1}}
    key_of(call(arguments=arguments), ["a.b"])
    assert arguments == {"a": {"b": 1}}
