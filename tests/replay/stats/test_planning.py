import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from replay.stats import (
    chance_within_margin,
    power_of_comparison,
    score_variance,
    shifted,
    tasks_needed,
    trials_for_margin,
)

SPREAD = np.linspace(0.005, 0.995, 100)


@pytest.mark.parametrize(("n", "k", "variance"), [(4, 1, 0.0225), (4, 4, 0.225633), (8, 4, 0.102662), (8, 8, 0.245165)])
def test_the_reference_values_of_the_variance(n, k, variance):
    assert float(score_variance(0.9, n, k)) == pytest.approx(variance, abs=5e-7)


def test_the_reference_value_of_the_tasks():
    assert tasks_needed(SPREAD, SPREAD**0.5, 8, 4) == pytest.approx(41.226025, abs=5e-7)


@given(st.floats(0, 1), st.integers(1, 12).flatmap(lambda n: st.tuples(st.just(n), st.integers(1, n))))
def test_the_variance_is_that_of_all_outcomes(p, sizes):
    n, k = sizes
    c = np.arange(n + 1)
    chances = np.array([math.comb(n, x) for x in c]) * p**c * (1 - p) ** (n - c)
    h = np.array([math.comb(x, k) / math.comb(n, k) for x in c])

    assert float(score_variance(p, n, k)) == pytest.approx(chances @ h**2 - (chances @ h) ** 2, abs=1e-12)


@given(st.integers(1, 8), st.floats(0.01, 0.2))
def test_a_shift_changes_pass_hat_k_by_what_was_wanted(k, delta):
    moved = shifted(SPREAD, k, delta)
    assert (moved**k).mean() - (SPREAD**k).mean() == pytest.approx(delta, abs=1e-9)
    assert (moved > SPREAD).all()


def test_tasks_that_never_or_always_pass_are_not_shifted():
    assert shifted([0, 0.5, 1], 1, 0.1)[[0, 2]].tolist() == [0, 1]
    with pytest.raises(ValueError, match=r"pass\^1 can change by -0.167 to \+0.167 here"):
        shifted([0, 0.5, 1], 1, 0.2)


def test_tasks_and_power_are_converse():
    tasks = math.ceil(tasks_needed(SPREAD, SPREAD**0.5, 8, 4, power=0.9))
    assert power_of_comparison(SPREAD, SPREAD**0.5, tasks, 8, 4) == pytest.approx(0.9, abs=0.01)


def test_n_equal_to_k_is_the_worst_use_of_money():
    better = shifted(SPREAD, 4, 0.05)
    trials = [n * tasks_needed(SPREAD, better, n, 4) for n in (4, 8, 12)]
    assert trials[0] > 1.2 * trials[1] > 1.2 * trials[2] * 0.9


def test_agents_that_do_not_differ_need_endless_tasks():
    assert tasks_needed(SPREAD, SPREAD, 8, 4) == math.inf


def test_weights_stand_for_repeated_tasks():
    assert tasks_needed([0.2, 0.8], [0.4, 0.9], 4, 2, weights=[1, 3]) == pytest.approx(
        tasks_needed([0.2, 0.8, 0.8, 0.8], [0.4, 0.9, 0.9, 0.9], 4, 2)
    )


def test_the_chance_to_pass_a_margin():
    assert chance_within_margin(0.02, 0.0) == pytest.approx(0.05)
    assert chance_within_margin(0.02, 0.02 * (1.644854 + 0.841621)) == pytest.approx(0.8, abs=1e-6)
    assert chance_within_margin(0.0, 0.1) == 1.0


def test_the_trials_for_a_margin_give_the_chance_that_was_wanted():
    trials = trials_for_margin(SPREAD, 50, 1, 0.05)
    errors = [math.sqrt(2 * float(score_variance(SPREAD, n, 1).mean()) / 50) for n in (trials - 1, trials)]
    below, enough = (chance_within_margin(error, 0.05) for error in errors)
    assert below < 0.8 <= enough
    assert trials_for_margin(SPREAD, 50, 4, 0.0001) is None
    assert trials_for_margin([1.0], 50, 4, 0.1) == 4


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (lambda: score_variance(1.1, 4, 2), "chances from 0 to 1"),
        (lambda: score_variance(float("nan"), 4, 2), "chances from 0 to 1"),
        (lambda: score_variance(0.5, 2, 4), "k = 4 needs"),
        (lambda: tasks_needed([0.5], [0.5, 0.6], 4, 2), "same tasks"),
        (lambda: tasks_needed([0.5], [0.6], 4, 2, power=1.0), "power"),
        (lambda: tasks_needed([0.5], [0.6], 4, 2, weights=[0]), "weights"),
        (lambda: power_of_comparison([0.5], [0.6], 0, 4, 2), "tasks must be"),
        (lambda: trials_for_margin([0.5], 4, 2, 0.0), "margin"),
        (lambda: chance_within_margin(-1, 0.1), "at least 0"),
    ],
)
def test_wrong_input_is_refused(wrong, message):
    with pytest.raises(ValueError, match=message):
        wrong()
