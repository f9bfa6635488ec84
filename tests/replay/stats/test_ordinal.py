from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replay.stats.ordinal import weighted_kappa

scores = st.integers(0, 3)


def by_table(pairs):
    """The definition: observed over expected disagreement, by the table of all pairings."""
    n = len(pairs)
    observed = sum((x - y) ** 2 for x, y in pairs) / n
    expected = sum((x - y) ** 2 for (x, _), (_, y) in itertools.product(pairs, pairs)) / n**2
    return None if expected == 0 else 1 - observed / expected


@given(st.lists(st.tuples(scores, scores), min_size=1, max_size=30))
def test_it_is_what_the_table_of_all_pairings_gives(pairs):
    expected = by_table(pairs)
    found = weighted_kappa(pairs)
    assert found == (None if expected is None else pytest.approx(expected))


def test_full_agreement_is_1_full_reversal_is_minus_1_and_nothing_is_undefined():
    assert weighted_kappa([(0, 0), (3, 3)]) == 1
    assert weighted_kappa([(0, 3), (3, 0)]) == -1
    assert weighted_kappa([]) is None
    assert weighted_kappa([(2, 2), (2, 2)]) is None


def test_off_by_one_is_less_than_off_by_three():
    near = weighted_kappa([(0, 1), (3, 3), (1, 1)])
    far = weighted_kappa([(0, 3), (3, 3), (1, 1)])
    assert far < near < 1
