from __future__ import annotations

import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

from cassettes.canonical import key_of
from cassettes.model import Call, Cancelled, Chunk, Error, Interaction, Patch, Stream, TrialId, Value
from cassettes.redact import Redactor
from cassettes.values import pack, unpack
from replay.recording import PastWrite, Recording, context_of, digest_of

TRIAL = TrialId("baseline", "t", 0)


def tool(name="f", effect="read", **options):
    return Call("tool", name, options.pop("arguments", {}), effect=effect, **options)


MODEL = Call("model", "m", {"messages": []}, history="messages")


def recorded(*parts, **options):
    """A recording of (call, started, ended[, fields of the interaction])."""
    return Recording(
        TRIAL,
        [
            Interaction(step, call, Value(step), started, ended, **(more[0] if more else {}))
            for step, (call, started, ended, *more) in enumerate(parts)
        ],
        **options,
    )


def past(call, started, ended=None):
    return PastWrite(call, call.name, "outcome", started, started + 1 if ended is None else ended)


# -- spans and what is matched -----------------------------------------------------------------------------------------


def test_a_tool_that_holds_model_or_tool_calls_is_a_span():
    recording = recorded(
        (tool("agent"), 0, 9),
        (MODEL, 1, 2, {"parent": 0}),
        (tool("inner"), 3, 8, {"parent": 0}),
        (tool("innermost"), 4, 5, {"parent": 2}),
        (tool("leaf"), 10, 11),
    )
    assert recording.spans == {0: key_of(tool("agent")), 2: key_of(tool("inner"))}
    assert [i.step for i in recording.matched] == [1, 3, 4]


def test_http_inside_a_tool_or_a_model_call_is_never_matched_itself():
    http = Call("http", "GET h/a", {"url": "http://h/a"}, effect="read")
    recording = recorded(
        (tool(), 0, 3), (http, 1, 2, {"parent": 0}), (http, 4, 5), (MODEL, 6, 9), (http, 7, 8, {"parent": 3})
    )
    assert recording.spans == {}
    assert [i.step for i in recording.matched] == [0, 2, 3]


def test_a_span_is_no_write():
    recording = recorded(
        (tool("agent", "unknown"), 0, 5), (tool("set", "write"), 1, 2, {"parent": 0}), (tool("get"), 6, 7)
    )
    assert [[key for key, _ in placed.context] for placed in recording.placed] == [[], [key_of(tool("set", "write"))]]


def test_interactions_may_come_in_any_order():
    parts = [Interaction(step, tool(str(step)), Value(0), 2 * step, 2 * step + 1) for step in range(5)]
    assert [e.interaction.step for e in Recording(TRIAL, parts[::-1]).entries] == [0, 1, 2, 3, 4]


def test_ignored_arguments_are_not_part_of_keys():
    a, b = (tool("agent", arguments={"q": 1, "id": {"n": n}}) for n in (1, 2))
    recording = recorded((a, 0, 1), (b, 2, 3), ignore=("id.n",))
    assert len({entry.key for entry in recording.entries}) == 1
    spans = recorded((a, 0, 3), (tool(), 1, 2, {"parent": 0}), ignore=("id.n",)).spans
    assert spans == {0: recording.entries[0].key}


# -- contexts ----------------------------------------------------------------------------------------------------------


def test_the_context_is_the_writes_before_in_start_order():
    writes = [past(tool("a", "write"), 0), past(tool("b", "unknown"), 2), past(tool("c", "write"), 6)]
    assert context_of(tool(), 5, writes) == (("a", "outcome"), ("b", "outcome"))
    assert context_of(tool(effect="write"), 5, writes) == (("a", "outcome"), ("b", "outcome"))
    assert context_of(tool(effect="pure"), 5, writes) == ()
    assert context_of(MODEL, 5, writes) == ()


def test_the_context_holds_only_what_can_be_noticed():
    writes = [
        past(tool("a", "write", reads=("x",), writes=("x",)), 0),
        past(tool("b", "write", reads=("y",), writes=("y",)), 2),
        past(tool("c", "write", external=False), 4),
        past(tool("d", "write"), 6),
    ]

    def names(call):
        return [key for key, _ in context_of(call, 99, writes)]

    assert names(tool()) == ["a", "b", "d"]
    assert names(tool(external=False)) == ["c"]
    # d declares nothing: it may have read and written all that is outside
    assert names(tool(reads=("x",))) == ["a", "b", "d"]
    writes.pop()
    assert names(tool(reads=("x",))) == ["a"]


def test_the_context_holds_what_was_handed_on():
    writes = [
        past(tool("set x", "write", reads=(), writes=("x",)), 0),
        past(tool("set z", "write", reads=(), writes=("z",)), 2),
        past(tool("x to y", "write", reads=("x",), writes=("y",)), 4),
        past(tool("set x again", "write", reads=(), writes=("x",)), 6),
    ]
    assert [key for key, _ in context_of(tool(reads=("y",)), 9, writes)] == ["set x", "x to y"]


def test_a_write_that_overlapped_with_one_that_may_have_noticed_it_is_in_the_context():
    copy = past(tool("x to y", "write", reads=("x",), writes=("y",)), 0, 4)
    late = past(tool("set x", "write", reads=(), writes=("x",)), 1, 2)
    assert [key for key, _ in context_of(tool(reads=("y",)), 9, [copy, late])] == ["x to y", "set x"]


# -- raced -------------------------------------------------------------------------------------------------------------


def flags(*parts):
    return [(placed.raced, placed.withheld) for placed in recorded(*parts).placed]


@pytest.mark.parametrize("write", [(0, 3), (2, 9), (2, 3), (0, 9)])
def test_a_read_while_a_write_was_in_flight_is_withheld(write):
    placed = recorded((tool("set", "write"), *write), (tool(), 1, 4)).placed
    assert {p.entry.interaction.step: (p.raced, p.withheld) for p in placed} == {
        0: (False, None),
        1: (True, "in flight"),
    }


@pytest.mark.parametrize(
    ("write", "call"),
    [
        (tool("set", "write"), tool(effect="pure")),
        (tool("set", "write"), MODEL),
        (tool("set", "write"), tool(external=False)),
        (tool("set", "write", writes=("x",)), tool(reads=("y",))),
        (tool("get"), tool()),
    ],
)
def test_what_cannot_notice_a_write_is_not_raced(write, call):
    assert flags((write, 0, 2), (call, 1, 3)) == [(False, None), (False, None)]


def test_what_came_before_or_after_is_not_raced():
    assert flags((tool(), 0, 1), (tool("set", "write"), 2, 3), (tool(), 4, 5)) == [(False, None)] * 3


def test_writes_that_overlapped_and_what_came_after_them():
    a, b = tool("a", "write"), tool("b", "unknown")
    assert flags((a, 0, 2), (b, 1, 3), (tool(), 4, 5)) == [(True, None)] * 3
    recording = recorded((a, 0, 2), (b, 1, 3), (tool(), 4, 5))
    assert [len(placed.context) for placed in recording.placed] == [0, 1, 2]


def test_a_shared_patch_is_withheld():
    patch = {"patch": Patch(((("x",), None, b"\x01"),))}
    a, b = (tool(name, "write", external=False) for name in "ab")
    assert flags((a, 0, 2), (b, 1, 3, patch)) == [(True, "shared patch")] * 2
    assert flags((a, 0, 1, patch), (b, 2, 3, patch)) == [(False, None)] * 2


def test_of_three_writes_in_a_row_only_neighbours_overlap():
    a, b, c = (tool(name, "write", reads=(name,), writes=(name,)) for name in "abc")
    assert flags((a, 0, 2), (b, 1, 4), (c, 3, 5), (tool(reads=("a", "b")), 6, 7)) == [(False, None)] * 4
    blind = [evolve(call, reads=(), writes=("x",)) for call in (a, b, c)]
    assert flags(*zip(blind, (0, 1, 3), (2, 4, 5), strict=True), (tool(reads=("x",)), 6, 7))[-1] == (True, None)


# -- outcomes ----------------------------------------------------------------------------------------------------------


def test_outcomes_are_told_apart():
    outcomes = [
        Value(1),
        Value(True),
        Value(1.0),
        Value(None),
        Error(ValueError("a")),
        Error(ValueError("b")),
        Error(KeyError("a")),
        Cancelled(),
        Stream(None, (Chunk(0.0, "a"),)),
        Stream(None, (Chunk(0.0, "a"),), complete=False),
    ]
    assert len({digest_of(outcome) for outcome in outcomes}) == len(outcomes)
    assert digest_of(Error(ValueError("a"))) == digest_of(Error(ValueError("a")))


def test_when_the_pieces_of_a_stream_came_does_not_count():
    def stream(*pieces, head=None):
        return digest_of(Stream(head, tuple(Chunk(float(at), data) for at, data in pieces)))

    assert stream((0, "ab"), (1, "c")) == stream((2, "ab"), (3, "c")) == stream((0, "a"), (0, "bc"))
    assert stream((0, b"ab"), (1, b"c")) == stream((0, b"abc"))
    assert len({stream((0, "a")), stream((0, b"a")), stream((0, "b")), stream(), stream((0, "a"), head=1)}) == 5
    assert stream((0, {"a": 1}), (1, {"b": 1})) == stream((5, {"a": 1}), (6, {"b": 1}))
    assert stream((0, {"a": 1}), (1, {"b": 1})) != stream((0, {"b": 1}), (1, {"a": 1}))


@given(st.dictionaries(st.text(max_size=3), st.integers(), max_size=4))
def test_the_order_of_keys_does_not_count(value):
    assert digest_of(Value(value)) == digest_of(Value(dict(reversed(value.items()))))


def test_a_live_outcome_is_compared_as_a_recording_holds_it():
    redactor, secret = Redactor(b"k" * 32), "ghp_" + "a1B2" * 9
    held = unpack(redactor.packed(pack({"token": secret}))[0])
    assert secret not in repr(held)
    assert digest_of(Value({"token": secret}), redactor) == digest_of(Value(held))
    assert digest_of(Value({"token": secret})) != digest_of(Value(held))
