import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats as scipy_stats

from replay.stats import fixed_differences, paired_differences, pass_hat_k


def better(airline):
    return [min(4, passed + (task % 3 == 0)) for task, passed in enumerate(airline)]


arms = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=2, max_size=9)
uneven = st.lists(
    st.tuples(st.integers(1, 6), st.integers(1, 6)).flatmap(
        lambda n: st.tuples(st.integers(0, n[0]), st.just(n[0]), st.integers(0, n[1]), st.just(n[1]))
    ),
    min_size=2,
    max_size=8,
)


@pytest.mark.parametrize(
    ("k", "difference", "se", "ends", "p"),
    [
        (1, 0.055, 0.014795, (0.025269, 0.084731), 0.0009),
        (2, 0.043333, 0.016365, (0.010447, 0.076219), 0.0132),
        (4, 0.02, 0.02, (-0.020192, 0.060192), 1.0),
    ],
)
def test_the_airline_reference_values(airline, k, difference, se, ends, p):
    row = paired_differences(airline, 4, better(airline), 4, [k]).rows[0]

    assert (row.difference, row.se) == (pytest.approx(difference, abs=5e-7), pytest.approx(se, abs=5e-7))
    assert (row.low, row.high) == pytest.approx(ends, abs=5e-7)
    assert row.p == row.p_adjusted == p


@pytest.mark.parametrize(("k", "se"), [(1, 0.039275), (2, 0.043377), (4, 0.054073)])
def test_the_airline_reference_values_on_the_fixed_set(airline, k, se):
    found = fixed_differences(airline, 4, better(airline), 4, [k])[0]
    z = scipy_stats.norm.ppf(0.975)

    assert found.se == pytest.approx(se, abs=5e-7)
    assert (found.low, found.high) == pytest.approx((found.difference - z * found.se, found.difference + z * found.se))


@given(arms)
def test_the_interval_is_that_of_scipys_paired_t_test(pairs):
    a, b = zip(*pairs, strict=True)
    row = paired_differences(a, 4, b, 4, [1], flips=9).rows[0]
    d = (np.array(b) - np.array(a)) / 4
    if d.std() == 0:
        assert (row.low, row.high) == (row.difference, row.difference)
        return
    ends = scipy_stats.ttest_rel(np.array(b) / 4, np.array(a) / 4).confidence_interval(0.95)
    assert (row.low, row.high) == pytest.approx((max(ends.low, -1), min(ends.high, 1)))


@given(arms)
@settings(max_examples=25)
def test_the_p_is_that_of_all_sign_flips(pairs):
    a, b = zip(*pairs, strict=True)
    found = paired_differences(a, 4, b, 4, [1, 2])
    table = np.array([[pass_hat_k([y], 4, k) - pass_hat_k([x], 4, k) for k in (1, 2)] for x, y in pairs])
    flipped = np.abs(np.array(list(itertools.product([-1, 1], repeat=len(pairs)))) @ table)
    observed = np.abs(table.sum(axis=0))
    exact = (flipped >= observed - 1e-9).mean(axis=0)
    size = np.sqrt(np.maximum((table**2).sum(axis=0), 1e-300))
    largest = (flipped / size).max(axis=1)
    adjusted = (largest[:, None] >= observed / size - 1e-9).mean(axis=0)

    for row, plain, over_all in zip(found.rows, exact, adjusted, strict=True):
        for p, truth in ((row.p, plain), (row.p_adjusted, over_all)):
            assert abs(p - truth) < 5 * math.sqrt(0.25 / 9_999) + 2e-4


@given(uneven)
@settings(max_examples=30)
def test_estimates_are_those_of_all_trials_and_arms_may_be_exchanged(tasks):
    c_a, n_a, c_b, n_b = zip(*tasks, strict=True)
    there = paired_differences(c_a, n_a, c_b, n_b, flips=49, thinnings=3)
    back = paired_differences(c_b, n_b, c_a, n_a, flips=49, thinnings=3)

    assert [row.k for row in there.rows] == list(range(1, min(n_a + n_b) + 1))
    for row, other in zip(there.rows, back.rows, strict=True):
        assert (row.a, row.b) == (pass_hat_k(c_a, n_a, row.k), pass_hat_k(c_b, n_b, row.k))
        assert (row.difference, row.a) == (pytest.approx(-other.difference), other.b)
        assert 0 < row.p <= row.p_adjusted <= 1
    assert there.thinned == sum(x != y for x, y in zip(n_a, n_b, strict=True))
    assert there.thinnings == (3 if there.thinned else 0)


def test_an_arm_with_more_trials_is_thinned_so_that_no_lopsided_difference_counts():
    # Rare successes: with 4 trials none passes all, with 16 a few subsets of 4 do; every d is at or below 0.
    found = paired_differences([6, 5, 6, 5, 7, 5, 6, 5] * 3, 16, [1] * 24, 4, [4])
    d = np.array([pass_hat_k([1], 4, 4) - pass_hat_k([c], 16, 4) for c in [6, 5, 6, 5, 7, 5, 6, 5] * 3])

    assert scipy_stats.ttest_1samp(d, 0).pvalue < 1e-5
    assert found.rows[0].p > 0.5
    assert found.rows[0].low < 0 < found.rows[0].high
    assert found.rows[0].difference == pytest.approx(d.mean())


def test_the_same_call_gives_the_same_digits(airline):
    assert paired_differences(airline, 4, [1] * 50, 3) == paired_differences(airline, 4, [1] * 50, 3)
    assert paired_differences(airline, 4, better(airline), 4, seed=1) != paired_differences(
        airline, 4, better(airline), 4
    )


def test_adjusted_p_counts_that_several_k_were_looked_at(airline):
    rows = paired_differences(airline, 4, better(airline), 4).rows

    assert all(row.p <= row.p_adjusted <= len(rows) * row.p + 0.01 or row.p_adjusted == 1 for row in rows)
    assert rows[1].p < rows[1].p_adjusted


def test_many_tasks_are_flipped_in_groups():
    random = np.random.default_rng(5)
    c = random.integers(0, 9, 100_000)
    same = np.clip(c + random.integers(-1, 2, c.size), 0, 8)
    more = np.clip(c + random.integers(0, 2, c.size), 0, 8)

    assert paired_differences(c, 8, same, 8, [1]).rows[0].p > 0.001
    assert paired_differences(c, 8, more, 8, [1]).rows[0].p == 0.0001


def test_groups_and_single_tasks_agree():
    random = np.random.default_rng(6)
    c = random.integers(0, 5, 1_900)
    other = np.clip(c + (random.random(1_900) < 0.012), 0, 4)
    single = paired_differences(c, 4, other, 4, [1, 4]).rows
    grouped = paired_differences([*c, *[2] * 200], 4, [*other, *[2] * 200], 4, [1, 4]).rows  # pairs alike move nothing

    for one, all_of_them in zip(single, grouped, strict=True):
        assert one.p == pytest.approx(all_of_them.p, abs=0.02)
        assert one.p_adjusted == pytest.approx(all_of_them.p_adjusted, abs=0.02)


def test_one_task_says_nothing_about_other_tasks():
    row = paired_differences([2], 4, [3], 4, [1]).rows[0]

    assert row.difference == 0.25
    assert (row.se, row.low, row.high, row.p, row.p_adjusted) == (None, None, None, None, None)
    assert fixed_differences([2], 4, [3], 4, [1])[0].se > 0


def test_arms_that_are_alike_have_no_difference(airline):
    found = paired_differences(airline, 4, airline, 4)

    assert found.moved == 0
    assert {(row.difference, row.se, row.p, row.p_adjusted) for row in found.rows} == {(0.0, 0.0, 1.0, 1.0)}
    assert all(row.se > 0.02 for row in fixed_differences(airline, 4, airline, 4))


def test_all_pass_against_all_fail():
    row = paired_differences([4] * 20, 4, [0] * 20, 4, [4]).rows[0]

    assert (row.difference, row.p, row.low) == (-1.0, 0.0001, -1.0)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([1, 2], 4, [1], 4), "arm A has 2 tasks, but arm B 1"),
        (([1, 2], 4, [1, 5], 4), "task 1 has 5 successes in 4 trials"),
        (([1, float("nan")], 4, [1, 2], 4), "successes must be a whole number, got nan"),
        (([1, 2], 4, [1, 2], 4, [9]), "k = 9, but task 0 has 4 trials"),
        (([1, 2], 4, [1, 2], 4, []), "ks is empty"),
        (([1, 2], 4, [1, 2], 4, [0]), "k must be a whole number of at least 1"),
        (([], 4, [], 4), "there are no tasks"),
    ],
)
def test_arms_that_are_none_are_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        paired_differences(*arguments)
    with pytest.raises(ValueError, match=message):
        fixed_differences(*arguments)


@pytest.mark.parametrize("options", [{"flips": 0}, {"thinnings": 0}, {"level": 1.0}])
def test_wrong_options_are_refused(options):
    with pytest.raises(ValueError, match=next(iter(options))):
        paired_differences([1, 2], 4, [2, 3], 4, **options)


def _passed(share, of=250):
    return [int(task < round(share * of)) for task in range(of)]


@pytest.mark.parametrize(
    ("before", "after", "change"),
    [(0.612, 0.568, -0.044), (0.332, 0.108, -0.224)],
    ids=["gpt-4o retail", "gpt-4o airline"],
)
def test_the_published_ablation_of_the_policy(before, after, change):
    """tau-bench without its policy in the prompt: 61.2 to 56.8, and 33.2 to 10.8 percent."""
    (row,) = paired_differences(_passed(before), 1, _passed(after), 1).rows
    assert (row.a, row.b, row.difference) == pytest.approx((before, after, change))
    assert row.high < 0


def test_two_published_numbers_of_one_configuration_differ_by_noise():
    """33.2 and 35.2 percent stand for the same agent: no difference that the trials could tell."""
    (row,) = paired_differences(_passed(0.332), 1, _passed(0.352)[::-1], 1).rows
    assert row.difference == pytest.approx(0.02)
    assert row.low < 0 < row.high
    assert row.p > 0.5
