import numpy as np
import pytest

from replay.stats import components_nested, components_nested3, half_width_without, outside_share


def counts(y):
    """The innermost lists of verdicts as passed and tried trials."""
    return (sum(y), len(y)) if isinstance(y[0], int) else [counts(part) for part in y]


TWO = [[[1, 1], [1, 0]], [[0, 0], [0, 1]], [[1, 1], [1, 1]], [[1, 0], [0, 0]]]
THREE = [
    [[[1, 1], [1, 0]], [[0, 1], [0, 0]]],
    [[[0, 0], [0, 0]], [[1, 0], [1, 1]]],
    [[[1, 1], [1, 1]], [[1, 1], [0, 1]]],
]


def test_the_reference_values():
    found = components_nested(counts(TWO))
    assert (found.task, found.outside, found.rest, found.total) == (0.09375, 0.0, 0.1875, 0.28125)

    deeper = components_nested3(counts(THREE))
    parts = (deeper.task, deeper.outside, deeper.user, deeper.rest, deeper.total)
    assert parts == pytest.approx((-0.005208, 0.104167, 0.0, 0.166667, 0.265625), abs=5e-7)


def simulated(random, tasks=200, worlds=4, n=6, unbalanced=False):
    """Verdicts by a latent sum of task, world and rest; thresholds at 0."""
    found = []
    for of_task in random.normal(0, 1, tasks):
        cells = []
        for of_world in random.normal(0, 0.6, worlds):
            trials = int(random.integers(2, 2 * n)) if unbalanced else n
            cells.append((int((of_task + of_world + random.normal(0, 1, trials) > 0).sum()), trials))
        found.append(cells[: int(random.integers(2, worlds + 1))] if unbalanced else cells)
    return found


@pytest.mark.parametrize("unbalanced", [False, True])
def test_parts_are_unbiased(unbalanced):
    random = np.random.default_rng(1)
    runs = [components_nested(simulated(random, unbalanced=unbalanced)) for _ in range(25)]
    # The truth, by one large simulation of the same world.
    truth = components_nested(simulated(np.random.default_rng(2), tasks=20_000))

    assert np.mean([run.outside for run in runs]) == pytest.approx(truth.outside, abs=0.006)
    assert np.mean([run.rest for run in runs]) == pytest.approx(truth.rest, abs=0.008)
    for run in runs:
        assert run.task + run.outside + run.rest == pytest.approx(run.total)


def test_the_share_has_an_interval_that_covers():
    random = np.random.default_rng(3)
    truth = outside_share(simulated(np.random.default_rng(4), tasks=20_000), resamples=20).estimate
    covered = 0
    for _ in range(60):
        found = outside_share(simulated(random, tasks=60), resamples=400)
        covered += found.low <= truth <= found.high
    assert covered >= 51


def test_the_same_call_gives_the_same_digits():
    data = simulated(np.random.default_rng(5), tasks=20)
    assert outside_share(data) == outside_share(data)
    assert outside_share(data, seed=1) != outside_share(data)


def test_without_noise_there_is_no_share():
    found = outside_share([[(4, 4), (4, 4)], [(0, 4), (0, 4)]])
    assert (found.estimate, found.low) == (None, None)


def test_variances_add_and_points_do_not():
    assert half_width_without(5.3, 0.3) == pytest.approx(4.4, abs=0.05)
    assert half_width_without(5.3, -0.1) > 5.3


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (lambda: components_nested([[(1, 2), (1, 2)]]), "at least 2 tasks"),
        (lambda: components_nested([[(1, 1), (1, 1)], [(1, 1), (0, 1)]]), "no task has 2 trials in one world"),
        (lambda: components_nested([[(1, 2)], [(1, 2)]]), "no task has trials in 2 worlds"),
        (lambda: components_nested([[(3, 2)], [(1, 2)]]), "task 0: 3 passed of 2"),
        (lambda: components_nested([[], [(1, 2)]]), "task 0 has no world"),
        (lambda: components_nested3([[[(1, 2), (1, 2)], [(1, 2), (1, 3)]]] * 2), "as many worlds, scripts and trials"),
        (lambda: components_nested3([[[(3, 2), (1, 2)], [(1, 2), (1, 2)]]] * 2), "more passed trials"),
    ],
)
def test_wrong_input_is_refused(wrong, message):
    with pytest.raises(ValueError, match=message):
        wrong()
