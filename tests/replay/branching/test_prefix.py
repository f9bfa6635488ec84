"""What answers a fork before step N: by place in the causal order, each strand until it has been answered all."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cassettes.canonical import key_of
from cassettes.errors import Divergence
from cassettes.model import Call, Interaction, TrialId, Value
from replay.branching.prefix import Prefix, readings_before
from replay.generators import generator_state
from replay.policy import Selector
from replay.readings import Readings
from replay.recording import Recording

TRIAL = TrialId("baseline", "t", 0)


def tool(name="f", *, strand=0, effect="read", external=True, **arguments):
    detail = {"strand": strand} if strand else {}
    return Call("tool", name, arguments, effect=effect, external=external, detail=detail)


def prefix(at, *parts, edited=None, allow=(), parents=None):
    """Of (call, answer[, started, ended]); without times the calls follow each other."""
    interactions = [
        Interaction(
            step, part[0], Value(part[1]), *(part[2:] or (2 * step, 2 * step + 1)), parent=(parents or {}).get(step)
        )
        for step, part in enumerate(parts)
    ]
    return Prefix(Recording(TRIAL, interactions), at, edited, [Selector.parse(text) for text in allow])


def take(source, call):
    entry = source.take(call, key_of(call))
    return None if entry is None else entry.interaction.outcome.value


def diverges(source, call):
    with pytest.raises(Divergence) as raised:
        take(source, call)
    return str(raised.value)


# -- one strand --------------------------------------------------------------------------------------------------------


def test_the_steps_before_the_fork_are_served_and_what_comes_then_is_not():
    source = prefix(2, (tool(a=1), "x"), (tool(a=2), "y"), (tool(a=3), "z"))
    assert [take(source, tool(a=1)), take(source, tool(a=2))] == ["x", "y"]
    assert not source.pending
    assert take(source, tool(a=3)) is None
    assert take(source, tool(a=1)) is None, "also a call that was served before"
    assert source.left_over() is None


def test_a_fork_at_step_0_answers_nothing():
    source = prefix(0, (tool(a=1), "x"))
    assert not source.pending
    assert take(source, tool(a=1)) is None


def test_a_call_that_is_not_the_next_before_the_fork_diverges():
    source = prefix(3, (tool(a=1), "x"), (tool(a=2), "y"), (tool(a=3), "z"))
    assert take(source, tool(a=1)) == "x"
    text = diverges(source, tool(a=9))
    assert "diverges at step 1" in text
    assert "the first difference is at a" in text


def test_skipping_to_a_call_after_the_fork_diverges():
    source = prefix(2, (tool(a=1), "x"), (tool(a=2), "y"), (tool(a=3), "z"))
    assert take(source, tool(a=1)) == "x"
    assert "diverges at step 1" in diverges(source, tool(a=3))


def test_calls_that_were_never_asked_for_are_told_at_the_end():
    source = prefix(2, (tool(a=1), "x"), (tool(a=2), "y"), (tool(a=3), "z"))
    take(source, tool(a=1))
    left = source.left_over()
    assert left is not None
    assert left.report["steps"] == [1]


# -- several strands ---------------------------------------------------------------------------------------------------

# The main strand asks 0, then two threads ask 1, 2 and 3, 4, then the main strand asks 5.
PARALLEL = (
    (tool("start"), "s", 0, 1),
    (tool("one", strand=1, a=1), "1", 2, 5),
    (tool("two", strand=2, a=1), "2", 3, 6),
    (tool("one", strand=1, a=2), "3", 7, 9),
    (tool("two", strand=2, a=2), "4", 8, 10),
    (tool("end"), "e", 11, 12),
)


def test_a_call_that_began_before_the_fork_and_ended_after_it_is_served():
    source = prefix(3, *PARALLEL)
    assert take(source, tool("start")) == "s"
    assert take(source, tool("two", strand=1, a=1)) == "2"


def test_a_strand_goes_on_while_another_still_is_answered():
    source = prefix(3, *PARALLEL)
    take(source, tool("start"))
    assert take(source, tool("one", strand=1, a=1)) == "1"
    assert take(source, tool("one", strand=1, a=2)) is None
    assert source.pending
    assert take(source, tool("one", strand=1, a=77)) is None, "it was answered by itself, so it asks something new"
    assert take(source, tool("two", strand=2, a=1)) == "2"
    assert not source.pending


def test_a_strand_that_only_began_after_the_fork_goes_on_at_once():
    source = prefix(2, *PARALLEL)
    take(source, tool("start"))
    assert take(source, tool("two", strand=1, a=1)) is None
    assert take(source, tool("one", strand=2, a=1)) == "1"


def test_a_strand_that_asks_what_nobody_recorded_diverges_while_it_has_answers_left():
    source = prefix(4, *PARALLEL)
    take(source, tool("start"))
    take(source, tool("one", strand=1, a=1))
    diverges(source, tool("one", strand=1, a=3))


def test_the_strand_that_was_told_something_new_may_ask_something_new():
    source = prefix(3, *PARALLEL, edited=2)
    take(source, tool("start"))
    assert take(source, tool("two", strand=2, a=1)) == "2"
    assert source.pending
    assert take(source, tool("new", strand=2)) is None
    diverges(source, tool("new", strand=1))


@given(order=st.permutations([1, 1, 2, 2]), at=st.integers(0, len(PARALLEL)))
def test_whatever_thread_comes_first_each_call_gets_its_own_answer_or_none(order, at):
    source = prefix(at, *PARALLEL)
    turns = {1: iter([PARALLEL[1], PARALLEL[3]]), 2: iter([PARALLEL[2], PARALLEL[4]])}
    parts = [PARALLEL[0], *(next(turns[strand]) for strand in order), PARALLEL[5]]
    for part in parts:
        step = PARALLEL.index(part)
        assert take(source, part[0]) == (part[1] if step < at else None)
    assert not source.pending
    assert source.left_over() is None


# -- tools that make calls of their own --------------------------------------------------------------------------------

SPAN = (
    (tool("start"), "s"),
    (tool("outer", effect="unknown"), "o", 2, 7),
    (tool("inner"), "i", 3, 4),
    (tool("end"), "e"),
)


def test_a_span_whose_calls_come_after_the_fork_is_not_answered_whole():
    source = prefix(2, *SPAN, parents={2: 1})
    take(source, tool("start"))
    outer = tool("outer", effect="unknown")
    assert not source.pending
    assert source.take_span(outer, key_of(outer))
    assert not source.take_span(outer, key_of(outer)), "it was entered once"
    assert take(source, tool("inner")) is None


# -- the clock and randomness ------------------------------------------------------------------------------------------


def test_only_what_was_read_before_the_fork_is_read_again():
    calls = [Interaction(step, tool(a=step), Value(step), 2 * step, 2 * step + 1) for step in range(3)]
    segments = [(0, number) for number in range(4)]
    states = dict.fromkeys(range(-1, 3), generator_state())
    read = Readings(("clock", "random"), {s: [s[1]] for s in segments}, {s: [b"x"] for s in segments}, states, 0)
    before = readings_before(read, calls, 1)
    assert sorted(before.clock) == [(0, 0), (0, 1)]
    assert sorted(before.entropy) == [(0, 0), (0, 1)]
    assert sorted(before.states) == [-1, 0]
    whole = readings_before(read, calls, 1, ("clock",))
    assert whole.clock == read.clock
    assert sorted(whole.states) == [-1, 0]
    assert readings_before(None, calls, 1) is None
