from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cassettes.spans import splice, united, within


@pytest.mark.parametrize(
    ("spans", "whole"),
    [
        ([], []),
        ([(0, 2, 1), (2, 4, 0)], [(0, 2, 1), (2, 4, 0)]),
        ([(0, 3, 1), (2, 5, 0), (4, 6, 2)], [(0, 6, 0)]),
    ],
)
def test_what_overlaps_is_one(spans, whole):
    assert list(united(spans)) == whole


@pytest.mark.parametrize(
    ("span", "told"),
    [((0, 5), False), ((10, 20), True), ((12, 15), True), ((8, 12), True), ((18, 25), True), ((9, 21), False)],
)
def test_a_part_of_a_placeholder_is_left_alone(span, told):
    assert within(span, [(10, 20)]) is told


@given(st.lists(st.binary(max_size=5)), st.data())
def test_the_joined_pieces_are_as_if_they_had_been_joined_before(pieces, data):
    whole = b"".join(pieces)
    places = sorted(data.draw(st.sets(st.integers(0, len(whole)), max_size=4)))
    spans = [(a, b, b"new") for a, b in zip(places[::2], places[1::2], strict=False)]
    expected, at = b"", 0
    for start, stop, new in spans:
        expected += whole[at:start] + new
        at = stop
    changed = splice(pieces, spans)
    assert b"".join(changed) == expected + whole[at:]
    assert len(changed) == len(pieces)
