import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats as scipy_stats

from replay.stats import Tally, bounds_from_pass_1, clean_trials, extrapolate, pass_hat_k
from replay.stats.extrapolation import assumption_free_bounds, beta_fit, beta_pass_hat_k


def test_the_reference_values_of_the_beta_binomial_fit(airline):
    a, b = beta_fit(Tally.of(airline, 4))

    assert (a, b) == (pytest.approx(0.641808, abs=5e-6), pytest.approx(0.857521, abs=5e-6))
    found = [beta_pass_hat_k(a, b, k) for k in (1, 4, 8, 16, 32, 100)]
    assert found == pytest.approx([0.428064, 0.171828, 0.100253, 0.056965, 0.031911, 0.012136], abs=2e-6)


@pytest.mark.parametrize(("k", "low", "high"), [(4, 0.079, 0.381), (8, 0.009, 0.380), (100, 0.0, 0.380)])
def test_the_reference_bounds(airline, k, low, high):
    found = assumption_free_bounds(Tally.of(airline, 4), k, 0.95)
    assert found == (pytest.approx(low, abs=6e-4), pytest.approx(high, abs=6e-4))


@pytest.mark.parametrize(("tasks", "low"), [(115, 0.528), (20, 0.028)])
def test_all_passed_does_not_tell_much_of_a_hundred(tasks, low):
    found = extrapolate([8] * tasks, 8, 100)

    assert (found.basis, found.estimate, found.high) == ("not identified", None, 1.0)
    assert found.low == pytest.approx(low, abs=6e-4)
    assert (found.trials_needed, found.clean_needed) == (50, 433)


def test_what_was_counted_is_counted_and_never_the_models(airline):
    found = extrapolate(airline, 4, 4)
    assert (found.basis, found.estimate, found.low) == ("counted", 0.2, None)


def test_up_to_twice_the_trials_the_models_number_stands_with_the_bounds(airline):
    found = extrapolate(airline, 4, 8)
    assert (found.basis, found.estimate) == ("model", pytest.approx(0.100253, abs=2e-6))
    assert found.low < found.estimate < found.high


def test_beyond_there_is_no_number(airline):
    assert extrapolate(airline, 4, 9).estimate is None
    assert extrapolate(airline, 4, 100).basis == "not identified"


def test_where_the_bounds_are_narrow_they_are_told():
    # 2,000 tasks that all pass with chance 0.97: hardly any can be one that never fails.
    shares = scipy_stats.binom.cdf(np.arange(21), 20, 0.97)
    tasks = np.diff(np.concatenate([[0], np.round(2_000 * shares)])).astype(int)
    found = extrapolate(np.repeat(np.arange(21), tasks), 20, 60)

    assert (found.basis, found.estimate) == ("bounds", None)
    assert found.low < 0.97**60 < found.high < 0.25


@given(st.lists(st.integers(0, 6), min_size=5, max_size=40), st.integers(7, 60))
@settings(max_examples=20, deadline=None)
def test_bounds_hold_the_plain_truth(c, k):
    low, high = assumption_free_bounds(Tally.of(c, 6), k, 0.95)
    assert 0 <= low <= high <= 1
    assert low <= pass_hat_k(c, 6, 6) + 0.5


def test_bounds_cover_a_known_agent():
    random = np.random.default_rng(3)
    covered = 0
    for _ in range(40):
        p = np.where(random.random(115) < 0.9, 0.99, 0.3)
        low, high = assumption_free_bounds(Tally.of(random.binomial(8, p), 8), 32, 0.95)
        covered += low <= 0.9 * 0.99**32 + 0.1 * 0.3**32 <= high
    assert covered >= 38


def test_tasks_with_more_trials_are_thinned_to_the_fewest():
    mixed = assumption_free_bounds(Tally.of([4] * 10 + [8] * 10, [4] * 10 + [8] * 10), 8, 0.95)
    assert mixed == pytest.approx(assumption_free_bounds(Tally.of([4] * 20, 4), 8, 0.95))


@pytest.mark.parametrize(("chance", "trials"), [(0.99, 299), (0.999, 2995), (0.5, 5)])
def test_clean_trials_that_a_claim_needs(chance, trials):
    assert clean_trials(chance) == trials
    assert 0.05 ** (1 / trials) >= chance > 0.05 ** (1 / (trials - 1))


def test_what_a_typed_number_says():
    low, high = bounds_from_pass_1(0.612, 8)
    assert (low, high) == (pytest.approx(0.0197, abs=5e-5), 0.612)
    assert bounds_from_pass_1(0.74, 4)[0] == pytest.approx(0.2999, abs=5e-5)
    for p, k, clean in ((0.99, 100, 0.366), (0.95, 50, 0.077), (0.999, 1000, 0.368)):
        assert bounds_from_pass_1(p, k)[0] == pytest.approx(clean, abs=5e-4)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (lambda: extrapolate([1], 4, 0), "k must be"),
        (lambda: extrapolate([5], 4, 8), "5 successes in 4 trials"),
        (lambda: extrapolate([1], 4, 8, level=1.0), "level"),
        (lambda: clean_trials(1.0), "between 0 and 1"),
        (lambda: bounds_from_pass_1(1.5, 2), "from 0 to 1"),
    ],
)
def test_wrong_input_is_refused(wrong, message):
    with pytest.raises(ValueError, match=message):
        wrong()


def test_a_model_that_rises_with_k_gives_no_number():
    found = extrapolate([3] * 6, 4, 6)
    assert (found.basis, found.estimate) == ("bounds", None)
    assert extrapolate([4, 4, 4, 3, 2, 0], 4, 6).basis == "model"


@pytest.mark.parametrize("passed", [[1], [8], [0], [8] * 20, [0] * 20])
def test_tasks_that_all_end_alike_are_fitted_without_a_warning(passed):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = extrapolate(passed, max(1, *passed), max(1, *passed) + 1)
    assert found.low <= found.high
