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
