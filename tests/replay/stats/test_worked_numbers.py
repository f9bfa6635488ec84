"""Numbers that were worked out by hand elsewhere, and must come out the same."""

from fractions import Fraction

import numpy as np
import pytest

from replay.stats import bounds_from_pass_1, independent_power, pass_at_k, pass_hat_k


def test_six_of_eight():
    assert pass_hat_k([6], 8, 2) == float(Fraction(15, 28))
    assert pass_at_k([6], 8, 2) == float(Fraction(27, 28))


def test_two_of_four():
    assert [pass_hat_k([2], 4, 1), pass_hat_k([2], 4, 2), pass_at_k([2], 4, 2)] == pytest.approx([0.5, 1 / 6, 5 / 6])


def test_a_sure_task_and_a_coin():
    assert pass_hat_k([4, 2], 4, 2) == pytest.approx(0.583333, abs=5e-7)


@pytest.mark.parametrize(("p", "requests", "clean"), [(0.99, 100, 0.366), (0.95, 50, 0.077), (0.999, 1000, 0.368)])
def test_a_day_without_a_failure(p, requests, clean):
    assert bounds_from_pass_1(p, requests)[0] == pytest.approx(clean, abs=5e-4)


@pytest.mark.parametrize(("pass_1", "k", "even"), [(0.612, 8, 0.0197), (0.74, 4, 0.2999)])
def test_what_an_even_spread_would_give(pass_1, k, even):
    assert bounds_from_pass_1(pass_1, k)[0] == pytest.approx(even, abs=5e-5)


def test_the_same_pass_1_has_very_different_pass_8():
    even, certain = [6] * 10, [10] * 6 + [0] * 4
    assert pass_hat_k(even, 10, 1) == pass_hat_k(certain, 10, 1) == 0.6
    assert pass_hat_k(certain, 10, 8) == 0.6
    assert independent_power(even, 10, 8) == pytest.approx(0.0168, abs=5e-5)
    many = np.random.default_rng(0).binomial(50, 0.6, 200_000)
    assert pass_hat_k(many, 50, 8) == pytest.approx(0.0168, abs=3e-4)


def test_nine_of_eight_trials_are_refused():
    with pytest.raises(ValueError, match="k = 9, but task 0 has 8 trials"):
        pass_hat_k([6], 8, 9)


def test_powers_of_each_tasks_share_are_biased_and_not_used(airline):
    """Put c/n in the place of a task's chance, and pass^k comes out too high, pass@k too low."""
    plugged = [sum((c / 4) ** k for c in airline) / 50 for k in (2, 3, 4)]
    assert plugged == pytest.approx([0.31, 0.2625, 0.23875])
    assert [pass_hat_k(airline, 4, k) for k in (2, 3, 4)] == pytest.approx([0.273333, 0.22, 0.2], abs=5e-7)
    assert 1 - (1 - 6 / 8) ** 2 == 0.9375 < pass_at_k([6], 8, 2)
    assert (6 / 8) ** 2 == 0.5625 > pass_hat_k([6], 8, 2)


def test_an_even_spread_of_the_airline_failures_would_give_a_sixth_of_pass_4(airline):
    assert independent_power(airline, 4, 4) == pytest.approx(0.0311, abs=5e-5)
    assert pass_hat_k(airline, 4, 4) == 0.2


def test_fewer_passes_than_k_are_no_chance_at_all():
    assert pass_hat_k([1], 4, 2) == 0.0


@pytest.mark.parametrize("c", range(9))
def test_one_trial_passes_with_its_share(c):
    assert pass_hat_k([c], 8, 1) == pass_at_k([c], 8, 1) == c / 8
