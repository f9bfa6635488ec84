from __future__ import annotations

import msgpack
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cassettes.arguments import MAX_MESSAGES, REFERENCES, ranges, references, resolve, snapshot, with_references
from cassettes.errors import CorruptCassette, UnkeepableValue
from cassettes.values import unpack
from tests.factories import call, model_call
from tests.strategies import calls, json_like


def refusing(number: int) -> object:
    raise AssertionError(f"message {number} was asked for")


@given(calls)
def test_a_snapshot_holds_every_argument(made):
    taken = snapshot(made)
    arguments = unpack(taken.plain)
    arguments.update({name: [unpack(item) for item in items] for name, items in taken.lists.items()})
    assert snapshot(call(made.kind, arguments=arguments)) == taken


@given(st.lists(json_like, min_size=1))
def test_the_lists_of_a_model_call_are_packed_item_by_item(messages):
    taken = snapshot(model_call(messages))
    assert [unpack(item) for item in taken.lists["messages"]] == messages


def test_what_the_caller_changes_later_does_not_reach_a_snapshot():
    messages = [{"role": "user", "content": "before"}]
    taken = snapshot(model_call(messages))
    messages[0]["content"] = "after"
    messages.append({"role": "assistant"})
    assert [unpack(item) for item in taken.lists["messages"]] == [{"role": "user", "content": "before"}]


def test_an_argument_that_cannot_be_kept_is_named_with_its_whole_path():
    with pytest.raises(UnkeepableValue) as caught:
        snapshot(model_call([{"role": "user"}, {"content": [object()]}]))
    assert caught.value.path == "value.messages[1].content[0]"


@given(st.lists(st.integers(0, 30), max_size=30))
def test_references_stand_for_their_messages(numbers):
    runs = ranges(numbers)
    assert [n for a, length in zip(runs[::2], runs[1::2], strict=True) for n in range(a, a + length)] == numbers
    packed = with_references(msgpack.packb({"messages": None, "mail": "a@b"}), {"messages": numbers})
    assert resolve(packed, lambda number: f"m{number}") == {
        "messages": [f"m{number}" for number in numbers],
        "mail": "a@b",
    }


def test_a_growing_history_is_one_run():
    assert ranges(range(640)) == [0, 640]
    assert ranges([3, 4, 5, 9]) == [3, 3, 9, 1]


@pytest.mark.parametrize(
    "runs",
    [[0, MAX_MESSAGES + 1], [0, 2**62], [0], [0, -1], ["a", 1], 5, None, [[0], 1], [0, MAX_MESSAGES, 0, MAX_MESSAGES]],
)
def test_crafted_references_are_refused_before_a_message_is_read(runs):
    crafted = msgpack.packb({"messages": msgpack.ExtType(REFERENCES, msgpack.packb(runs))})
    with pytest.raises(CorruptCassette):
        resolve(crafted, refusing)


def test_references_stand_only_where_an_argument_does():
    crafted = msgpack.packb({"messages": [references([0])]})
    with pytest.raises(CorruptCassette):
        resolve(crafted, refusing)


@pytest.mark.parametrize("crafted", [msgpack.packb("@"), msgpack.packb(["@"]), b"@\xc1", b"\xc1@"])
def test_arguments_of_another_shape_are_refused(crafted):
    with pytest.raises(CorruptCassette):
        resolve(crafted, refusing)
