import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from replay.stats import Tally, within_se
from replay.stats.estimators import scores
from replay.stats.within import WithinModel, common_trials, unbiased_within_se


@pytest.mark.parametrize(("k", "expected"), [(1, 0.027080), (2, 0.022608)])
def test_the_unbiased_error_of_the_airline_runs(airline, k, expected):
    assert within_se(airline, 4, k) == pytest.approx(expected, abs=5e-7)


@pytest.mark.parametrize("k", [3, 4])
def test_no_unbiased_error_exists_beyond_half_the_trials(airline, k):
    assert within_se(airline, 4, k) is None


def test_one_task_with_few_trials_is_enough_to_leave_it_undefined():
    assert within_se([3, 3], [8, 3], 2) is None
    assert within_se([3, 3], [8, 4], 2) is not None


def test_the_unbiased_variance_of_one_task():
    expected = [0, 0, 0, 0, 0.000204, 0.005102, 0.045918, 0.25, 0]

    assert [within_se([c], 8, 4) ** 2 for c in range(9)] == pytest.approx(expected, abs=5e-7)


@pytest.mark.parametrize(("n", "k", "variance"), [(4, 1, 0.0225), (8, 4, 0.102662)])
def test_the_unbiased_variance_has_the_right_mean(n, k, variance):
    chances = [math.comb(n, c) * 0.9**c * 0.1 ** (n - c) for c in range(n + 1)]
    estimates = [within_se([c], n, k) ** 2 for c in range(n + 1)]

    assert np.dot(chances, estimates) == pytest.approx(variance, abs=5e-7)


@pytest.mark.parametrize(("n", "k", "variance"), [(4, 1, 0.0225), (4, 4, 0.225633), (8, 4, 0.102662), (8, 8, 0.245165)])
def test_the_variance_follows_from_the_trials_that_two_subsets_share(n, k, variance):
    common, chances = common_trials(n, k)

    assert chances.sum() == pytest.approx(1, abs=1e-12)
    assert chances @ 0.9 ** (2 * k - common) - 0.9 ** (2 * k) == pytest.approx(variance, abs=5e-7)


@given(st.lists(st.integers(0, 8), min_size=1), st.integers(1, 4))
def test_the_unbiased_variance_is_never_negative(passed, k):
    tally = Tally.of(passed, 8)
    variances = scores(tally, k) ** 2 - scores(tally, 2 * k)

    assert variances.min() >= -1e-16
    assert unbiased_within_se(tally, k) >= 0


@pytest.mark.parametrize(("k", "expected"), [(1, 0.027194), (2, 0.029468), (3, 0.032423), (4, 0.036485)])
def test_the_smoothed_error_of_the_airline_runs(airline, k, expected):
    tally = Tally.of(airline, 4)
    model = WithinModel.fit(tally, 4)

    assert math.sqrt(model.variance_sum(k)) / tally.tasks == pytest.approx(expected, abs=5e-7)


@pytest.mark.parametrize(("n", "k"), [(4, 1), (4, 4), (8, 4), (8, 8)])
def test_the_smoothed_variance_finds_that_of_a_world_of_betas(n, k):
    a, b = 2.0, 1.0
    p = (np.arange(20_000) + 0.5) / 20_000
    density = p ** (a - 1) * (1 - p) ** (b - 1)
    density /= density.sum()
    chances = np.array([math.comb(n, c) * p**c * (1 - p) ** (n - c) for c in range(n + 1)])
    passed = np.repeat(np.arange(n + 1), np.rint(chances @ density * 100_000).astype(int))
    values = np.array([math.comb(c, k) / math.comb(n, k) for c in range(n + 1)])
    truth = density @ (values**2 @ chances - p ** (2 * k))
    tally = Tally.of(passed, n)

    assert WithinModel.fit(tally, k).variance_sum(k) / tally.tasks == pytest.approx(truth, rel=0.02)


def test_a_model_fitted_for_more_k_gives_the_same_variance():
    tally = Tally.of([8, 3, 2, 4, 0], [8, 4, 4, 6, 6])
    wide, narrow = WithinModel.fit(tally, 4), WithinModel.fit(tally, 2)

    assert wide.variance_sum(2) == pytest.approx(narrow.variance_sum(2), rel=1e-12)


@pytest.mark.parametrize("k", [1, 4, 16])
def test_tasks_that_are_alike_vary_at_least_as_one_chance_for_all_of_them_does(k):
    passed = [16] * 12 + [15] * 6 + [14] * 2  # 310 of 320
    chances = [math.comb(16, c) * (310 / 320) ** c * (10 / 320) ** (16 - c) for c in range(17)]
    values = np.array([math.comb(c, k) / math.comb(16, k) for c in range(17)])
    model = WithinModel.fit(Tally.of(passed, 16), k)

    assert model.alike == 310 / 320
    assert model.variance_sum(k) >= 20 * (values**2 @ chances - (values @ chances) ** 2) * (1 - 1e-9)


@pytest.mark.parametrize(
    ("passed", "tried"),
    [
        ([16] * 12 + [4] * 8, 16),  # spread by more than chance
        ([16] * 19 + [0], 16),
        ([6], 8),  # one task shows no likeness
        ([8, 8, 8], 8),
        ([0, 0, 0], [8, 4, 4]),
    ],
)
def test_tasks_that_differ_or_do_not_vary_are_not_taken_as_alike(passed, tried):
    assert WithinModel.fit(Tally.of(passed, tried), 1).alike is None


def test_likeness_is_told_from_tasks_with_different_numbers_of_trials():
    assert WithinModel.fit(Tally.of([4, 7, 16], [4, 8, 16]), 1).alike == 27 / 28
    assert WithinModel.fit(Tally.of([4, 0, 16], [4, 8, 16]), 1).alike is None


def test_the_airline_tasks_are_not_alike(airline):
    assert WithinModel.fit(Tally.of(airline, 4), 4).alike is None


def test_the_mixture_stays_a_distribution(airline):
    mixture = WithinModel.fit(Tally.of(airline, 4), 4).mixture

    assert mixture.shape == (53,)
    assert mixture.min() >= 0
    assert mixture.sum() == pytest.approx(1)


def test_hundreds_of_trials_leave_the_variance_finite():
    tally = Tally.of([0, 1, 250, 499, 500], 500)
    model = WithinModel.fit(tally, 500)

    assert all(0 <= model.variance_sum(k) <= tally.tasks / 4 for k in (1, 50, 250, 499, 500))
