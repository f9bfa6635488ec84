from __future__ import annotations

from itertools import combinations, product
from math import prod

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from replay.stats.worlds import pass_hat_k_across, pass_hat_k_within, world_summary

worlds = st.lists(st.integers(1, 4).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))), min_size=1, max_size=5)


@given(worlds, st.data())
def test_across_is_the_mean_over_all_ways_to_draw_k_trials_from_k_worlds(world, data):
    k = data.draw(st.integers(1, len(world)))
    outcomes = [[1] * c + [0] * (n - c) for c, n in world]
    by_choice = [
        np.mean([prod(drawn) for drawn in product(*(outcomes[w] for w in chosen))])
        for chosen in combinations(range(len(world)), k)
    ]
    counts = [c for c, _ in world], [n for _, n in world]
    assert pass_hat_k_across(*counts, k) == pytest.approx(np.mean(by_choice))


@given(worlds)
def test_within_is_the_mean_over_all_ways_to_draw_k_trials_from_one_world(world):
    counts = [c for c, _ in world], [n for _, n in world]
    k = min(counts[1])
    drawn = [np.mean([all(pick) for pick in combinations([1] * c + [0] * (n - c), k)]) for c, n in world]
    assert pass_hat_k_within(*counts, k) == pytest.approx(np.mean(drawn))


@given(worlds)
def test_for_one_trial_both_are_the_mean_pass_rate_over_the_worlds(world):
    counts = [c for c, _ in world], [n for _, n in world]
    mean = np.mean([c / n for c, n in world])
    assert pass_hat_k_across(*counts, 1) == pytest.approx(mean)
    assert pass_hat_k_within(*counts, 1) == pytest.approx(mean)


def test_trials_that_share_worlds_agree_more_than_live_ones():
    """Two worlds, one always passes, one never: pooled as 8 trials pass^2 would be 12/56."""
    assert pass_hat_k_across([4, 0], [4, 4], 2) == 0
    assert pass_hat_k_within([4, 0], [4, 4], 2) == 0.5


def test_a_summary_goes_as_far_as_every_task_allows():
    found = world_summary([[6, 3], [0, 6, 6]], [[6, 6], [6, 6, 6]])
    assert (found.worlds, found.trials) == ((2, 3), (6, 6))
    assert [row.k for row in found.rows] == [1, 2, 3, 4, 5, 6]
    assert found.rows[1].across == pytest.approx((0.5 + 1 / 3) / 2)
    assert found.rows[2].across is found.rows[2].low is None
    assert found.rows[5].within == pytest.approx((0.5 + 2 / 3) / 2)
    assert found == world_summary([[6, 3], [0, 6, 6]], [[6, 6], [6, 6, 6]])
    low, high = found.rows[1].low, found.rows[1].high
    assert low == pytest.approx(1 / 3)
    assert high == pytest.approx(0.5)


def test_one_task_has_no_interval():
    row = world_summary([[1, 2]], [[2, 2]]).rows[0]
    assert (row.across, row.low, row.high) == (0.75, None, None)


@pytest.mark.parametrize(
    ("successes", "trials", "k"), [([1], [1], 2), ([1], [1], 0), ([2], [1], 1), ([0], [0], 1), ([], [], 1)]
)
def test_what_cannot_be_computed_is_refused(successes, trials, k):
    with pytest.raises(ValueError, match="need"):
        pass_hat_k_across(successes, trials, k)


def test_too_few_trials_in_a_world_and_no_world_are_refused():
    with pytest.raises(ValueError, match="one has 1"):
        pass_hat_k_within([1, 1], [2, 1], 2)
    with pytest.raises(ValueError, match="at least one world"):
        world_summary([[]], [[]])
