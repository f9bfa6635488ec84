import random

import numpy as np
import pytest
from scipy import stats as scipy_stats

from replay.stats import mean_reward, pass_hat_k

EVEN = [[0.5, 0.75], [1.0, 0.25], [0.0, 0.5], [1.0, 1.0]]


def test_with_as_many_trials_of_each_task_it_is_the_t_interval_of_the_task_means():
    found = mean_reward(EVEN)
    means = [np.mean(of_task) for of_task in EVEN]
    ends = scipy_stats.ttest_1samp(means, 0).confidence_interval(0.95)

    assert found.mean == pytest.approx(np.mean(means))
    assert found.se == pytest.approx(scipy_stats.sem(means))
    assert (found.low, found.high) == pytest.approx((ends.low, ends.high))
    assert (found.tasks, found.trials, found.least, found.most) == (4, 8, 0.0, 1.0)


def test_with_one_trial_each_it_is_the_usual_standard_error():
    values = [0.1, 0.4, 0.9, 0.3]
    assert mean_reward([[value] for value in values]).se == pytest.approx(scipy_stats.sem(values))


def test_trials_that_are_alike_tell_no_more_than_one():
    values = [0.1, 0.4, 0.9, 0.3]
    once, often = mean_reward([[value] for value in values]), mean_reward([[value] * 10 for value in values])
    assert often.se == pytest.approx(once.se)


def test_unequal_numbers_of_trials():
    found = mean_reward([[1.0, 0.0, 0.5], [0.25]])
    assert found.mean == pytest.approx(1.75 / 4)
    assert found.se == pytest.approx(np.sqrt(2 * 2 * (0.25 - 1.75 / 4) ** 2) / 4)


def test_it_is_the_clustered_standard_error_of_inspect():
    """What ``inspect_ai`` 0.3.285 gave for the same numbers: ``stderr(cluster="task")`` and ``stderr()``."""
    random.seed(1)
    rewards = [[random.random() for _ in range(random.randint(1, 5))] for _ in range(12)]
    assert mean_reward(rewards).se == pytest.approx(0.05743387022623907, abs=1e-15)


@pytest.mark.parametrize(
    ("k", "stderr"),
    [(1, 0.05221619109284876), (2, 0.055483853956683836), (3, 0.05653245410688394), (4, 0.0571428571428571)],
)
def test_of_task_scores_it_is_the_standard_error_of_inspect(airline, k, stderr):
    found = mean_reward([[pass_hat_k([c], 4, k)] for c in airline])
    assert (found.mean, found.se) == (pytest.approx(pass_hat_k(airline, 4, k)), pytest.approx(stderr, abs=1e-15))


def test_one_task_has_no_interval():
    found = mean_reward([[1.0, 0.5]])
    assert (found.mean, found.se, found.low) == (0.75, None, None)


@pytest.mark.parametrize(
    ("rewards", "message"),
    [([], "no tasks"), ([[1.0], []], "task 1 has no reward"), ([[float("nan")]], "task 0 has the reward nan")],
)
def test_wrong_input_is_refused(rewards, message):
    with pytest.raises(ValueError, match=message):
        mean_reward(rewards)
