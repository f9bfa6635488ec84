"""Cohen's kappa against published values, and what must hold for any two labellers."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replay.labelling.agreement import agreement


def pairs(table):
    labels = "abcde"
    places = product(range(len(table)), repeat=2)
    return [(labels[i], labels[j]) for i, j in places for _ in range(table[i][j])]


@pytest.mark.parametrize(
    ("table", "observed", "expected", "kappa"),
    [
        # Fleiss, Statistical Methods for Rates and Proportions, the example of three diagnoses of 100 subjects.
        ([[75, 1, 4], [5, 4, 1], [0, 0, 10]], 0.89, 0.66, 0.676471),
        # The usual two-way examples: 50 grant proposals, and two tables with the same raw agreement.
        ([[20, 5], [10, 15]], 0.70, 0.50, 0.40),
        ([[45, 15], [25, 15]], 0.60, 0.54, 0.130435),
        ([[25, 35], [5, 35]], 0.60, 0.46, 0.259259),
        ([[0, 5], [5, 0]], 0.0, 0.5, -1.0),
    ],
)
def test_published_values(table, observed, expected, kappa):
    found = agreement(pairs(table))
    assert found.n == sum(map(sum, table))
    assert (found.observed, found.expected) == (pytest.approx(observed), pytest.approx(expected))
    assert found.kappa == pytest.approx(kappa, abs=1e-6)


def test_where_both_say_one_and_the_same_only_kappa_is_undefined():
    found = agreement([("agent", "agent")] * 3)
    assert (found.n, found.observed, found.expected, found.kappa) == (3, 1.0, 1.0, None)


def test_without_a_pair_there_is_no_agreement():
    with pytest.raises(ValueError, match="at least one pair"):
        agreement([])


def test_the_table_counts_the_pairs_that_occur():
    assert agreement([("a", "b"), ("a", "a"), ("a", "b")]).table == {("a", "a"): 1, ("a", "b"): 2}


labels = st.sampled_from("abcd")


@given(st.lists(st.tuples(labels, labels), min_size=1, max_size=40))
def test_kappa_is_symmetric_at_most_one_and_one_only_when_all_are_alike(said):
    found, swapped = agreement(said), agreement([(b, a) for a, b in said])
    assert found.kappa == swapped.kappa
    assert 0 <= found.observed <= 1
    assert 0 <= found.expected <= 1
    if found.kappa is None:
        assert len({label for pair in said for label in pair}) == 1
    else:
        assert -1 <= found.kappa <= 1
        assert (found.kappa == 1) == all(a == b for a, b in said)
        assert found.kappa == pytest.approx((found.observed - found.expected) / (1 - found.expected))


@given(st.lists(st.tuples(labels, labels), min_size=1, max_size=20), st.permutations("abcd"))
def test_kappa_does_not_depend_on_what_the_labels_are_called(said, names):
    named = dict(zip("abcd", names, strict=True))
    assert agreement([(named[a], named[b]) for a, b in said]).kappa == agreement(said).kappa
