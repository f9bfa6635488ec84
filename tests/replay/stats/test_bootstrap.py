import numpy as np
import pytest

from replay.stats import Tally, pass_hat_k, task_bootstrap
from replay.stats import bootstrap as module


def test_the_airline_runs(airline):
    found = task_bootstrap(airline, 4, [1, 2, 3, 4])
    expected = [(0.32, 0.52), (0.17, 0.383333), (0.115, 0.335), (0.1, 0.32)]

    assert np.array(found.bounds) == pytest.approx(np.array(expected), abs=5e-7)
    assert (found.ks, found.resamples, found.seed, found.level) == ((1, 2, 3, 4), 10_000, 0, 0.95)


def test_the_same_seed_gives_the_same_digits_and_another_seed_others(airline):
    once, again, other = (task_bootstrap(airline, 4, [1, 2], seed=seed, resamples=99) for seed in (7, 7, 8))

    assert once == again
    assert once.bounds != other.bounds


def test_the_order_of_the_tasks_changes_no_digit(airline):
    assert task_bootstrap(airline, 4, [2], resamples=99) == task_bootstrap(sorted(airline), 4, [2], resamples=99)


def test_drawing_in_chunks_changes_no_digit(airline, monkeypatch):
    whole = task_bootstrap(airline, 4, [1, 2, 3], resamples=1000)
    monkeypatch.setattr(module, "_CHUNK_ENTRIES", 37 * 5)

    assert task_bootstrap(airline, 4, [1, 2, 3], resamples=1000) == whole


def test_it_agrees_with_drawing_the_tasks_themselves():
    passed, tried = np.array([8, 4, 3, 0, 6, 5, 2, 4, 1, 8]), np.array([8, 4, 6, 6, 8, 6, 4, 4, 8, 8])
    values = np.array([pass_hat_k([c], int(n), 2) for c, n in zip(passed, tried, strict=True)])
    drawn = values[np.random.default_rng(1).integers(0, 10, (40_000, 10))].mean(axis=1)
    found = task_bootstrap(passed, tried, [2], resamples=40_000)

    assert found.bounds[0] == pytest.approx(np.quantile(drawn, [0.025, 0.975]), abs=0.01)


def test_outcomes_that_score_alike_for_every_k_are_drawn_as_one():
    tally = Tally.of([0, 1, 0, 2, 4, 8, 3], [4, 4, 8, 8, 4, 8, 4])
    tasks, table = module._distinct_scores(tally, [3, 4])

    assert tasks.tolist() == [4, 1, 2]
    assert table.tolist() == [[0, 0], [1 / 4, 0], [1, 1]]


@pytest.mark.parametrize(("passed", "end"), [([4] * 20, 1.0), ([0] * 20, 0.0)])
def test_tasks_that_end_alike_have_no_width(passed, end):
    assert task_bootstrap(passed, 4, [1, 4], resamples=50).bounds == ((end, end), (end, end))


def test_one_task_cannot_be_resampled():
    assert task_bootstrap([3], 4, [1, 2], resamples=50).bounds == (None, None)


def test_ks_keep_their_order(airline):
    up, down = (task_bootstrap(airline, 4, ks, resamples=200).bounds for ks in ([1, 4], [4, 1]))

    assert up == down[::-1]


def test_a_higher_level_is_wider(airline):
    (narrow,), (wide,) = (task_bootstrap(airline, 4, [2], level=level).bounds for level in (0.8, 0.99))

    assert wide[0] < narrow[0] < narrow[1] < wide[1]


def test_a_million_tasks():
    passed = np.arange(1_000_000) % 9
    (bounds,) = task_bootstrap(passed, 8, [4], resamples=500).bounds

    assert bounds[0] < pass_hat_k(passed, 8, 4) < bounds[1]
    assert bounds[1] - bounds[0] < 0.002


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"ks": []}, "ks is empty"),
        ({"ks": [1, 0]}, "k must be a whole number of at least 1, got 0"),
        ({"ks": [1, 5]}, "k = 5, but task 1 has 4 trials"),
        ({"resamples": 0}, "resamples must be a whole number of at least 1, got 0"),
        ({"resamples": 1e4}, "resamples must be a whole number of at least 1, got 10000.0"),
        ({"level": 1}, "level must be between 0 and 1"),
    ],
)
def test_wrong_options_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        task_bootstrap(**({"successes": [2, 3], "trials": [8, 4], "ks": [1]} | options))
