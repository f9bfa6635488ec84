from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from replay.stats import clustered_difference, clustered_interval, holm, interval, mean_reward, paired_differences

counts = st.lists(st.tuples(st.integers(0, 4), st.just(4)), min_size=2, max_size=12)


@given(counts)
def test_with_a_cluster_for_each_task_it_is_the_interval_for_other_tasks(made):
    c, n = zip(*made, strict=True)
    assert clustered_interval(c, n, 2, range(len(c))) == interval(c, n, 2, "population")


def test_tasks_that_are_alike_in_their_cluster_tell_no_more_than_the_clusters():
    c = [2, 2, 0, 1, 2, 0, 0, 1, 2, 1, 0, 2]
    alone = interval(c, 2, 1, "population")
    six_times = clustered_interval(c * 6, 2, 1, [*range(12)] * 6)
    apart = interval(c * 6, 2, 1, "population")
    assert six_times.estimate == alone.estimate
    assert six_times.method == "wilson-t by cluster"
    assert apart.high - apart.low < 0.6 * (six_times.high - six_times.low)
    assert six_times.low == pytest.approx(alone.low, abs=0.05)
    assert six_times.high == pytest.approx(alone.high, abs=0.05)


def test_without_any_event_the_interval_is_as_wide_as_that_of_so_many_clusters():
    none = clustered_interval([0] * 60, 1, 1, [task % 12 for task in range(60)])
    assert (none.estimate, none.low) == (0.0, 0.0)
    assert none.high > interval([0] * 60, 1, 1, "population").high
    assert none.few_events


def test_one_cluster_says_nothing_about_others():
    found = clustered_interval([1, 0, 1], 1, 1, ["a", "a", "a"])
    assert (found.low, found.high, found.method) == (None, None, "undefined")
    difference = clustered_difference([0, 1], [1, 1], ["a", "a"])
    assert (difference.se, difference.low, difference.p, difference.difference) == (None, None, None, 0.5)


@pytest.mark.slow
def test_the_interval_covers_what_it_says_where_tasks_of_a_cluster_are_alike():
    random = np.random.default_rng(5)
    clusters = [task // 6 for task in range(30 * 6)]
    covered = naive = 0
    for _ in range(1_000):
        rates = np.repeat(random.beta(1, 2, 30), 6)
        c = random.binomial(1, rates)
        found, plain = clustered_interval(c, 1, 1, clusters), interval(c, 1, 1, "population")
        covered += found.low <= 1 / 3 <= found.high
        naive += plain.low <= 1 / 3 <= plain.high
    assert 0.93 <= covered / 1_000 <= 0.975
    assert naive / 1_000 < 0.9


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=2, max_size=10), st.integers(1, 3))
def test_with_a_cluster_for_each_task_it_is_the_paired_difference(pairs, k):
    a, b = ([math.comb(pair[side], k) / math.comb(3, k) for pair in pairs] for side in (0, 1))
    found = clustered_difference(a, b, range(len(a)))
    (row,) = paired_differences([c for c, _ in pairs], 3, [c for _, c in pairs], 3, [k]).rows
    assert found.difference == pytest.approx(row.difference)
    assert found.se == pytest.approx(row.se)
    assert found.p == pytest.approx(row.p, abs=0.02)  # there by random flips, here by all of them


def test_the_standard_error_is_that_of_mean_rewards():
    values = {"a": [0.5, 3, 2], "b": [1.0], "c": [2.5, 0]}
    flat = [(name, value) for name, each in values.items() for value in each]
    found = clustered_difference([0.0] * 6, [value for _, value in flat], [name for name, _ in flat])
    mean = mean_reward(list(values.values()))
    assert (found.b, found.se) == pytest.approx((mean.mean, mean.se))
    assert (found.low, found.high) == pytest.approx((mean.low, mean.high))


def test_whole_clusters_change_their_sign():
    a, b = [0.0] * 12, [1.0] * 6 + [0.0] * 6
    assert clustered_difference(a, b, range(12)).p == pytest.approx(2 / 64)
    assert clustered_difference(a, b, [task // 3 for task in range(12)]).p == pytest.approx(0.5)


def test_many_clusters_are_flipped_at_random_and_the_same_each_time():
    random = np.random.default_rng(1)
    a = random.normal(size=40).tolist()
    found = clustered_difference(a, [value + 1 for value in a], range(40))
    assert found.p == 1e-4
    noise = random.normal(size=40).tolist()
    first, again, other = (clustered_difference(a, noise, range(40), seed=seed) for seed in (0, 0, 1))
    assert first == again
    assert first.p != other.p
    assert first.p == pytest.approx(other.p, abs=0.03)


def test_no_difference_is_no_evidence():
    found = clustered_difference([1.0, 0.0], [1.0, 0.0], range(2))
    assert (found.difference, found.se, found.p) == (0.0, 0.0, 1.0)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (([], [], []), "at least one"),
        (([1], [1, 2], [1]), "the same tasks"),
        (([1, 2], [1, 2], [1]), "clusters of 1 tasks, but 2 tasks"),
        (([1, math.nan], [1, 2], [1, 2]), "finite"),
    ],
)
def test_what_cannot_be_compared(arguments, said):
    with pytest.raises(ValueError, match=said):
        clustered_difference(*arguments)


def test_flips_are_counted_in_whole_numbers():
    with pytest.raises(ValueError, match="flips must be"):
        clustered_difference([1], [1], [1], flips=0)


def test_holm_adjusts_for_several_tests():
    assert holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])
    assert holm([0.9, 0.8]) == [1.0, 1.0]
    assert holm([]) == []
    with pytest.raises(ValueError, match="from 0 to 1"):
        holm([1.5])


@given(st.lists(st.floats(0, 1), max_size=8))
def test_an_adjusted_p_is_never_smaller_and_keeps_the_order(ps):
    adjusted = holm(ps)
    assert all(p <= q <= 1 for p, q in zip(ps, adjusted, strict=True))
    order = sorted(range(len(ps)), key=ps.__getitem__)
    assert [adjusted[place] for place in order] == sorted(adjusted)
