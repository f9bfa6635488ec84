import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from replay.stats import Tally, pass_at_k, pass_hat_k
from replay.stats.estimators import mean_pass_at_k, mean_pass_hat_k, scores

verdicts = st.lists(st.lists(st.booleans(), min_size=1, max_size=7), min_size=1, max_size=6)


def counts(tasks):
    return [sum(trials) for trials in tasks], [len(trials) for trials in tasks]


def over_subsets(tasks, k, judge):
    """Mean over tasks of the share of k-subsets of trials that the judge accepts, by enumeration."""
    shares = []
    for trials in tasks:
        subsets = list(itertools.combinations(trials, k))
        shares.append(Fraction(sum(judge(subset) for subset in subsets), len(subsets)))
    return float(sum(shares) / len(shares))


@given(verdicts)
def test_both_estimates_are_shares_of_subsets(tasks):
    for k in range(1, min(map(len, tasks)) + 1):
        assert pass_hat_k(*counts(tasks), k) == over_subsets(tasks, k, all)
        assert pass_at_k(*counts(tasks), k) == over_subsets(tasks, k, any)


@given(verdicts)
def test_pass_hat_k_falls_and_pass_at_k_rises_with_k(tasks):
    ks = range(1, min(map(len, tasks)) + 1)
    hats = [pass_hat_k(*counts(tasks), k) for k in ks]
    ats = [pass_at_k(*counts(tasks), k) for k in ks]

    assert hats == sorted(hats, reverse=True)
    assert ats == sorted(ats)
    assert hats[0] == ats[0]


@given(verdicts, st.randoms(use_true_random=False))
def test_the_order_of_the_tasks_changes_no_digit(tasks, random):
    shuffled = random.sample(tasks, len(tasks))

    assert pass_hat_k(*counts(shuffled), 1) == pass_hat_k(*counts(tasks), 1)
    assert pass_at_k(*counts(shuffled), 1) == pass_at_k(*counts(tasks), 1)


@pytest.mark.parametrize(
    ("passed", "tried", "k", "hat", "at"),
    [
        ([6], 8, 2, 15 / 28, 27 / 28),
        ([2], 4, 1, 1 / 2, 1 / 2),
        ([2], 4, 2, 1 / 6, 5 / 6),
        ([4, 2], 4, 2, 7 / 12, 11 / 12),
        ([8, 4, 2], [8, 4, 2], 2, 1, 1),
        ([0, 0], 4, 3, 0, 0),
        ([1, 3, 3], 3, 3, 2 / 3, 1),
        ([2, 3], [4, 6], 2, (1 / 6 + 1 / 5) / 2, (5 / 6 + 4 / 5) / 2),
    ],
)
def test_worked_examples(passed, tried, k, hat, at):
    assert pass_hat_k(passed, tried, k) == pytest.approx(hat, rel=1e-15)
    assert pass_at_k(passed, tried, k) == pytest.approx(at, rel=1e-15)


@pytest.mark.parametrize(
    ("k", "hat", "at"), [(1, 0.42, 0.42), (2, 0.273333, 0.566667), (3, 0.22, 0.66), (4, 0.2, 0.72)]
)
def test_the_airline_runs(airline, k, hat, at):
    assert pass_hat_k(airline, 4, k) == pytest.approx(hat, abs=5e-7)
    assert pass_at_k(airline, 4, k) == pytest.approx(at, abs=5e-7)


def test_the_other_reference_suite():
    passed = [8] * 40 + [7] * 5 + [4] * 3 + [0] * 2

    assert pass_hat_k(passed, 8, 4) == pytest.approx(0.850857, abs=5e-7)


def test_many_trials_neither_overflow_nor_lose_digits():
    # C(800, 400) has 240 digits; a float ends at 308, C(2000, 1000) has 601.
    assert pass_hat_k([1999], 2000, 1000) == 0.5
    assert pass_at_k([1], 2000, 1000) == 0.5
    assert pass_hat_k([700], 800, 400) == float(Fraction(math.comb(700, 400), math.comb(800, 400)))
    assert pass_hat_k([1000], 2000, 1001) == 0.0


def test_a_million_tasks():
    passed = np.arange(1_000_000) % 5

    assert pass_hat_k(passed, 4, 4) == 0.2
    assert pass_at_k(passed, 4, 4) == 0.8


@pytest.mark.parametrize("estimate", [pass_hat_k, pass_at_k])
def test_a_task_with_fewer_than_k_trials_is_refused_not_dropped(estimate):
    with pytest.raises(ValueError, match="k = 4, but task 2 has 3 trials"):
        estimate([4, 4, 3], [4, 4, 3], 4)


@pytest.mark.parametrize("estimate", [mean_pass_hat_k, mean_pass_at_k, scores])
def test_a_tally_refuses_a_k_beyond_its_trials(estimate):
    with pytest.raises(ValueError, match="k = 5, but a task has 4 trials"):
        estimate(Tally.of([4], 4), 5)


def test_the_estimates_of_a_tally_are_exact():
    tally = Tally.of([2, 6], [4, 8])

    assert mean_pass_hat_k(tally, 2) == (Fraction(1, 6) + Fraction(15, 28)) / 2
    assert mean_pass_at_k(tally, 2) == (Fraction(5, 6) + Fraction(27, 28)) / 2
    assert scores(tally, 2).tolist() == [1 / 6, 15 / 28]
