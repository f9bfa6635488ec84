from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replay.debugger.cursor import ahead, clamped, first, place_asked, round_trip

counts = st.integers(0, 40)
places = st.integers(-5, 45)


@given(places, counts)
def test_a_clamped_row_exists_unless_there_is_none(row, count):
    assert clamped(row, count) in range(max(1, count))


@given(st.integers(0, 39), counts)
def test_what_is_ahead_and_what_is_behind_is_everything_but_the_row_itself(here, count):
    forward, back = ahead(here, count, forward=True), ahead(here, count, forward=False)
    assert sorted([*forward, *back]) == [row for row in range(count) if row != here]
    assert list(forward) == sorted(forward)
    assert list(back) == sorted(back, reverse=True)


@given(st.integers(0, 39), st.integers(1, 40), st.booleans())
def test_a_round_trip_visits_every_row_once_and_its_own_last(here, count, forward):
    here = min(here, count - 1)
    visited = list(round_trip(here, count, forward=forward))
    assert sorted(visited) == list(range(count))
    assert visited[-1] == here
    assert visited == [(here + (n if forward else -n)) % count for n in range(1, count + 1)]


def test_a_round_trip_of_nothing_ends_at_once():
    assert list(round_trip(0, 0, forward=True)) == []


@given(st.lists(st.booleans()))
def test_the_first_wanted_row_is_found_and_none_behind_it_is_looked_at(wanted):
    looked = []

    def is_wanted(row):
        looked.append(row)
        return wanted[row]

    found = first(range(len(wanted)), is_wanted)
    assert found == (wanted.index(True) if True in wanted else None)
    assert looked == list(range(len(wanted) if found is None else found + 1))


@given(st.lists(st.integers(0, 60), unique=True).map(sorted))
def test_every_step_can_be_asked_for_by_its_number(numbers):
    for place, number in enumerate(numbers):
        assert place_asked(f" {number} ", numbers) == place


@given(st.integers(1, 40))
def test_the_steps_of_a_whole_trial_are_counted_from_either_end(count):
    assert place_asked("$", range(count)) == count - 1
    assert place_asked("-1", range(count)) == count - 1
    assert place_asked(str(-count), range(count)) == 0
    assert place_asked(str(-count - 1), range(count)) is None
    assert place_asked(str(count), range(count)) is None


@pytest.mark.parametrize("text", ["", "x", "1.5", "0x1", "٣٣٣٣", "$$"])
def test_what_is_no_step_is_none(text):
    assert place_asked(text, range(3)) is None


def test_nothing_can_be_asked_for_where_nothing_is():
    assert place_asked("$", []) is None
    assert place_asked("0", []) is None
