import math

import numpy as np
import pytest
from scipy.stats import norm, t

from replay.stats import components_nested, components_nested3, half_width_without, noise_shares, outside_share


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


MEANS, WORLD, USER = (0.25, 0.4, 0.5, 0.6, 0.75), 0.1, 0.12


def with_users(random, tasks=400, worlds=4, users=3, n=2, unbalanced=False):
    """Verdicts whose variances are known: a chance of the task, moved up or down by its world and by its user."""
    found = []
    for of_task in random.choice(MEANS, tasks):
        of_worlds = []
        for of_world in random.choice([-WORLD, WORLD], int(random.integers(1, worlds + 1)) if unbalanced else worlds):
            chances = (
                of_task + of_world + random.choice([-USER, USER], int(random.integers(1, 5)) if unbalanced else users)
            )
            numbers = [int(random.integers(1, 2 * n + 1)) if unbalanced else n for _ in chances]
            of_worlds.append([(int(random.binomial(m, p)), m) for p, m in zip(chances, numbers, strict=True)])
        found.append(of_worlds)
    return found


TASK = float(np.var(MEANS))
REST = float(np.mean(MEANS)) - float(np.mean(np.square(MEANS))) - WORLD**2 - USER**2
NOISE = WORLD**2 + USER**2 + REST


@pytest.mark.parametrize("unbalanced", [False, True])
def test_known_variances_of_outside_user_and_model_are_found_without_bias(unbalanced):
    random = np.random.default_rng(6)
    runs = [components_nested3(with_users(random, tasks=200, unbalanced=unbalanced)) for _ in range(60)]

    for name, truth in (("task", TASK), ("outside", WORLD**2), ("user", USER**2), ("rest", REST)):
        found = [getattr(run, name) for run in runs]
        error = np.std(found) / np.sqrt(len(found))
        assert error < 0.004
        assert np.mean(found) == pytest.approx(truth, abs=3 * error), name
    for run in runs:
        assert run.task + run.outside + run.user + run.rest == pytest.approx(run.total)


def test_the_intervals_of_the_shares_cover_the_known_ones():
    random = np.random.default_rng(7)
    covered = {"outside": 0, "user": 0, "rest": 0}
    for _ in range(100):
        found = noise_shares(with_users(random, tasks=50), resamples=300)
        assert found.outside.estimate + found.user.estimate + found.rest.estimate == pytest.approx(1)
        for name, truth in (("outside", WORLD**2), ("user", USER**2), ("rest", REST)):
            share = getattr(found, name)
            covered[name] += share.low <= truth / NOISE <= share.high
    assert min(covered.values()) >= 88  # of 100 at 95%: 88 or fewer come about with a chance below 1 in 100


def test_without_knowing_the_users_a_part_of_their_noise_is_taken_for_the_outside():
    data = with_users(np.random.default_rng(8), tasks=2_000)
    flat = [[(sum(c for c, _ in world), sum(n for _, n in world)) for world in worlds] for worlds in data]
    apart, pooled = components_nested3(data), components_nested(flat)
    assert pooled.outside - apart.outside == pytest.approx(apart.user / 5, abs=1e-9)  # 1 of 5 pairs has the same user


def test_the_same_call_gives_the_same_digits():
    data = simulated(np.random.default_rng(5), tasks=20)
    assert outside_share(data) == outside_share(data)
    assert outside_share(data, seed=1) != outside_share(data)


def test_without_noise_there_is_no_share():
    found = outside_share([[(4, 4), (4, 4)], [(0, 4), (0, 4)]])
    assert (found.estimate, found.low) == (None, None)
    assert noise_shares([[[(4, 4), (4, 4)]] * 2, [[(0, 4), (0, 4)]] * 2]).user.estimate is None


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
        (lambda: components_nested3([[[(1, 2), (1, 2)], [(1, 2)]]]), "at least 2 tasks"),
        (lambda: components_nested3([[[(1, 1), (1, 1)], [(1, 1), (1, 1)]]] * 2), "2 trials of one user in one world"),
        (lambda: components_nested3([[[(1, 2)], [(1, 2)]]] * 2), "no task has 2 users in one world"),
        (lambda: components_nested3([[[(1, 2), (1, 2)]]] * 2), "no task has trials in 2 worlds"),
        (
            lambda: components_nested3([[[(3, 2), (1, 2)], [(1, 2), (1, 2)]]] * 2),
            "task 0: 3 passed of 2 trials of a us",
        ),
        (lambda: components_nested3([[], []]), "task 0 has no world"),
    ],
)
def test_wrong_input_is_refused(wrong, message):
    with pytest.raises(ValueError, match=message):
        wrong()


def test_the_interval_of_a_share_is_that_of_resampled_tasks_with_expanded_percentiles():
    tasks = simulated(np.random.default_rng(4), tasks=8)
    drawn = np.random.default_rng(0).multinomial(8, np.full(8, 1 / 8), size=200)
    again = [
        components_nested([task for task, times in zip(tasks, row, strict=True) for _ in range(times)]) for row in drawn
    ]
    shares = [parts.outside / (parts.outside + parts.rest) for parts in again]
    tail = norm.cdf(-math.sqrt(8 / 7) * t.ppf(0.975, 7))
    found = outside_share(tasks, resamples=200)

    assert tail < 0.01  # and not the 0.025 of a plain percentile: 8 tasks are few
    assert (found.low, found.high) == pytest.approx(tuple(np.quantile(shares, [tail, 1 - tail])))
