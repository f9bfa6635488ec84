from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from replay.orchestration.turns import Turns


def test_things_without_a_chain_come_in_their_order():
    turns = Turns("abc", lambda thing: thing)
    assert [turns.next(), turns.next(), turns.next(), turns.next()] == ["a", "b", "c", None]
    assert turns.is_over


def test_of_a_chain_the_next_waits_for_the_one_before():
    turns = Turns(["a0", "b0", "a1", "b1"], lambda thing: thing[0])
    assert [turns.next(), turns.next(), turns.next()] == ["a0", "b0", None]
    assert not turns.is_over
    turns.finished("b0")
    assert turns.next() == "b1"
    turns.finished("a0")
    assert turns.next() == "a1"
    assert turns.is_over


@given(st.lists(st.tuples(st.integers(0, 3), st.integers()), unique=True), st.data())
def test_whatever_ends_first_each_chain_keeps_its_order_and_nothing_is_lost(things, data):
    turns = Turns(things, lambda thing: thing[0])
    running, seen = [], []
    while True:
        while (thing := turns.next()) is not None:
            assert thing[0] not in {other[0] for other in running}
            running.append(thing)
            seen.append(thing)
        if not running:
            break
        turns.finished(running.pop(data.draw(st.integers(0, len(running) - 1))))
    assert turns.is_over
    assert sorted(seen) == sorted(things)
    for chain in range(4):
        assert [t for t in seen if t[0] == chain] == [t for t in things if t[0] == chain]


def test_what_became_ready_takes_its_place_in_the_order():
    turns = Turns(["a0", "a1", "b0", "c0"], lambda thing: thing[0])
    assert turns.next() == "a0"
    turns.finished("a0")
    assert [turns.next(), turns.next(), turns.next()] == ["a1", "b0", "c0"]


def test_what_is_not_wanted_any_more_is_forgotten_and_holds_nothing_up():
    turns = Turns(["a0", "a1", "b0", "b1", "c0"], lambda thing: thing[0])
    assert turns.next() == "a0"
    turns.keep(lambda thing: thing in {"a1", "b1"})
    assert [turns.next(), turns.next()] == ["b1", None]
    turns.finished("a0")
    assert turns.next() == "a1"
    assert turns.is_over
