from __future__ import annotations

import msgpack
import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

from cassettes import codec
from cassettes.canonical import canonical
from cassettes.errors import CorruptCassette
from cassettes.model import KINDS, VERDICTS, Ending, Header, Mark, Patch, Value
from cassettes.values import Opaque, pack, unpack
from tests.factories import call, interaction, same
from tests.strategies import interactions, json_like, marks, values


def back(item):
    return codec.interaction_from(
        unpack(pack(codec.facts_of(item))),
        unpack(pack(dict(item.call.arguments))),
        unpack(pack(codec.outcome_plain(item.outcome))),
    )


@given(interactions(step=7))
def test_an_interaction_comes_back_from_its_record(item):
    read = back(item)
    assert same(read, item)
    assert read.step == 7
    assert read.call.may_write == item.call.may_write
    assert (read.origin, read.reply, read.parent) == (item.origin, item.reply, item.parent)
    assert type(read.outcome) is type(item.outcome)


@given(st.lists(values, min_size=2, max_size=2))
def test_a_patch_keeps_its_packed_values_byte_for_byte(pair):
    changes = Patch(((("a", 1, True), None, pack(pair[0])), ((), pack(pair[1]), None)))
    assert back(interaction(patch=changes)).patch == changes


@given(marks)
def test_a_mark_comes_back(mark):
    read = codec.mark_from(unpack(pack(codec.mark_plain(mark))))
    assert (read.kind, canonical(read.data)) == (mark.kind, canonical(mark.data))
    assert round(read.at * 1e6) == round(mark.at * 1e6)


@given(st.dictionaries(st.text(), json_like), st.one_of(st.none(), st.dictionaries(st.text(), json_like)))
def test_a_header_comes_back(config, task):
    made = Header("run", "task", 3, 1.5, config, task, {"p": "1"})
    read = codec.header_from(unpack(pack(codec.header_plain(made))))
    assert canonical([read.config, read.task_definition]) == canonical([config, task])
    assert read.id == made.id


def test_an_ending_comes_back():
    made = Ending("error", "why", "agent")
    assert codec.ending_from(unpack(pack(codec.ending_plain(made)))) == made


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("verdict", VERDICTS)
def test_a_record_says_where_it_stands_and_under_which_names_it_counts(kind, verdict):
    item = interaction(5, call=call(kind))
    item = evolve(item, origin=evolve(item.origin, verdict=verdict))
    parts = codec.split(pack(codec.facts_of(item)))
    assert parts.index() == (5, (kind, f"origin {verdict}"))


def test_a_mark_has_no_step():
    assert codec.split(pack(codec.mark_plain(Mark("state", 0.0, 1)))).index() == (None, ("mark state",))


@given(st.lists(st.binary(max_size=300), max_size=4), st.lists(values, min_size=1, max_size=3))
def test_a_frames_content_falls_into_messages_and_record(messages, record):
    packed = [pack([item]) for item in record]
    parts = codec.split(b"".join([*map(msgpack.packb, messages), *packed]))
    assert parts.messages == tuple(messages)
    assert parts.record == tuple(packed)


@pytest.mark.parametrize("plain", [b"", b"\xc4\x01x", b"\xc1", b"\x92\x01", b"\xc4\xff", b"\x91" * 3000])
def test_content_that_is_no_record_is_refused(plain):
    with pytest.raises(CorruptCassette):
        codec.split(plain)


@pytest.mark.parametrize(
    "facts", [[], [1], 5, [1, "x", *[0] * 20], [1, 0, 0, 0, 0, 0, 77, *[0] * 20], {"a": 1}, [3, 1]]
)
def test_a_record_of_another_shape_has_no_index(facts):
    with pytest.raises(CorruptCassette):
        codec.split(pack(facts)).index()


@pytest.mark.parametrize("change", [{6: 99}, {9: 99}, {4: "x"}, {13: 5}, {16: []}, {18: [1]}, {19: [[1]]}])
def test_facts_of_another_shape_are_refused(change):
    facts = codec.facts_of(interaction())
    for place, wrong in change.items():
        facts[place] = wrong
    with pytest.raises(CorruptCassette):
        codec.interaction_from(facts, {}, [0, 1])


@pytest.mark.parametrize("outcome", [[], [9], None, [3, 1], [0, 1, 2], [3, None, 5, True, None]])
def test_an_outcome_of_another_kind_is_refused(outcome):
    with pytest.raises(CorruptCassette):
        codec.interaction_from(codec.facts_of(interaction()), {}, outcome)


@pytest.mark.parametrize(
    ("read", "plain"),
    [
        (codec.mark_from, [2]),
        (codec.mark_from, 5),
        (codec.mark_from, [2, "x", "y", 1]),
        (codec.header_from, {"run": 1}),
        (codec.header_from, 3),
        (codec.ending_from, []),
        (codec.ending_from, 3),
    ],
)
def test_other_records_of_another_shape_are_refused(read, plain):
    with pytest.raises(CorruptCassette):
        read(plain)


def test_times_are_kept_to_the_microsecond():
    read = back(interaction(0, Value(1), at=1.2345678, duration=1e-7))
    assert (read.at, read.duration) == (1.234568, 0.0)


def test_a_fresh_outcome_is_an_equal_copy_that_shares_nothing():
    given = Value({"items": [1, (2, 3)]})
    copy, unknown = codec.fresh(given)
    assert (copy, unknown) == (given, [])
    copy.value["items"].append(4)
    assert given == Value({"items": [1, (2, 3)]})


def test_a_fresh_outcome_names_the_classes_that_are_not_loaded():
    gone = Opaque("elsewhere:Thing", 16, pack({"n": 1}))
    _, unknown = codec.fresh(Value([gone, {"deep": (gone,)}]))
    assert [opaque.name for opaque in unknown] == ["elsewhere:Thing"] * 2
