import numpy as np
import pytest
from scipy import stats as scipy_stats

from replay.stats import clustered_mcnemar


def test_with_one_trial_per_task_it_is_mcnemars_own_test():
    only_first = [1] * 12 + [0] * 5 + [0] * 30
    only_second = [0] * 12 + [1] * 5 + [0] * 30
    found = clustered_mcnemar(only_first, only_second, [1] * 47)

    assert found.statistic == pytest.approx((12 - 5) ** 2 / (12 + 5))
    assert found.p == pytest.approx(scipy_stats.chi2.sf(found.statistic, 1))
    assert (found.only_first, found.only_second, found.clusters) == (12, 5, 17)


def test_differences_that_are_all_of_one_task_are_one_difference():
    found = clustered_mcnemar([8, 0, 0], [0, 0, 0], [8, 8, 8])

    assert (found.statistic, found.clusters) == (1.0, 1)
    assert found.p == pytest.approx(0.317311, abs=5e-7)


def test_it_holds_its_level_when_trials_of_a_task_flip_together():
    random = np.random.default_rng(4)
    rejected = 0
    for _ in range(400):
        first = np.where(random.random(60) < 0.15, 4, 0)
        second = np.where((random.random(60) < 0.15) & (first == 0), 4, 0)
        rejected += clustered_mcnemar(first, second, [4] * 60).p <= 0.05
    assert rejected / 400 < 0.09


@pytest.mark.parametrize(("b", "c"), [([0, 0], [0, 0]), ([1, 2], [1, 2])])
def test_no_leaning_is_no_difference(b, c):
    found = clustered_mcnemar(b, c, [4, 4])

    assert (found.statistic, found.p) == (None, 1.0)


@pytest.mark.parametrize(
    ("b", "c", "n", "message"),
    [
        ([], [], [], "no tasks"),
        ([3], [2], [4], "task 0: 3 and 2 one-sided trials of 4"),
        ([0], [0], [0], "of 0 are impossible"),
        ([-1], [0], [4], "impossible"),
        ([float("nan")], [0], [4], "impossible"),
        ([1, 1], [0], [4], "argument"),
    ],
)
def test_impossible_counts_are_refused(b, c, n, message):
    with pytest.raises(ValueError, match=message):
        clustered_mcnemar(b, c, n)
