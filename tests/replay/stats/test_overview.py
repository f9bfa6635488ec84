import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from replay.stats import (
    clustering,
    independent_power,
    interval,
    pass_at_k,
    pass_hat_k,
    summary,
    task_bootstrap,
    within_se,
)

suites = st.lists(
    st.integers(1, 5).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))), min_size=1, max_size=15
)


def notes(*args):
    return "\n".join(summary(*args, resamples=20).notes)


@given(suites)
def test_each_row_is_what_the_single_functions_say(suite):
    passed, tried = zip(*suite, strict=True)
    found = summary(passed, tried, level=0.9, resamples=50, seed=3)
    ks = range(1, min(tried) + 1)
    resampled = task_bootstrap(passed, tried, ks, level=0.9, resamples=50, seed=3)

    assert [row.k for row in found.rows] == list(ks)
    assert tuple(row.bootstrap for row in found.rows) == resampled.bounds
    for row in found.rows:
        assert row.pass_hat_k == pass_hat_k(passed, tried, row.k) == row.fixed.estimate
        assert row.pass_at_k == pass_at_k(passed, tried, row.k)
        assert row.independent_power == independent_power(passed, tried, row.k)
        assert row.within_se == within_se(passed, tried, row.k)
        assert row.population == interval(passed, tried, row.k, "population", level=0.9)
        single = interval(passed, tried, row.k, "fixed", level=0.9)
        assert (row.fixed.method, row.fixed.few_events) == (single.method, single.few_events)
        assert [row.fixed.low, row.fixed.high] == pytest.approx([single.low, single.high], abs=1e-12)


@given(suites)
def test_the_counts_are_those_of_the_tasks(suite):
    passed, tried = zip(*suite, strict=True)
    found = summary(passed, tried, resamples=20)
    clusters = clustering(passed, tried)

    assert (found.tasks, found.trials) == (len(suite), sum(tried))
    assert (found.min_trials, found.max_trials) == (min(tried), max(tried))
    assert found.always + found.never + found.flipping == found.tasks
    assert (found.within, found.between, found.icc) == (clusters.within, clusters.between, clusters.icc)
    assert (found.always, found.never) == (clusters.always, clusters.never)


def test_the_airline_runs(airline):
    found = summary(airline, 4)

    assert (found.tasks, found.trials, found.always, found.never, found.flipping) == (50, 200, 10, 14, 26)
    assert [row.pass_hat_k for row in found.rows] == pytest.approx([0.42, 0.273333, 0.22, 0.2], abs=5e-7)
    assert found.rows[0].bootstrap == pytest.approx((0.32, 0.52))
    assert found.icc == pytest.approx(0.404584, abs=5e-7)
    assert (found.level, found.resamples, found.seed) == (0.95, 10_000, 0)
    assert len(found.notes) == 3
    assert found.notes[0].startswith("fragile: pass^4 is 48% of pass^1")
    assert found.notes[1].startswith("at k = 3 to 4 the rerun interval rests on a model")
    assert found.notes[2].startswith("the task bootstrap draws only tasks that were seen")


@pytest.mark.parametrize(
    ("passed", "pass_8", "flag"),
    [
        ([8] * 81 + [7] * 8 + [0] * 11, 0.81, None),
        ([8] * 41 + [7] * 22 + [6] * 37, 0.41, "fragile: pass^8 is 47% of pass^1"),
    ],
    ids=["healthy", "coin flips"],
)
def test_the_same_pass_1_of_a_healthy_suite_and_of_coin_flips(passed, pass_8, flag):
    found = summary(passed, 8, resamples=10)
    assert (found.rows[0].pass_hat_k, found.rows[-1].pass_hat_k) == pytest.approx((0.88, pass_8))
    told = [note for note in found.notes if note.startswith("fragile")]
    assert told == [] if flag is None else told[0].startswith(flag)


def test_a_suite_that_never_passes_is_no_fragile_one():
    assert not any(note.startswith("fragile") for note in summary([0, 0], 4, resamples=10).notes)


def test_the_same_summary_twice_has_the_same_digits(airline):
    assert summary(airline, 4, resamples=500) == summary(airline[::-1], 4, resamples=500)


def test_few_events_are_explained():
    assert "few events (fewer than 10 tasks;" in notes([4, 2, 0], 4)
    assert "few events (fewer than 5 tasks passed every trial; pass^k is below 0.03 from k = 3):" in notes([2] * 20, 4)
    assert "few events (fewer than 5 tasks failed a trial):" in notes([4] * 20, 4)
    assert "few events" not in notes([4] * 10 + [1] * 10, 4)


def test_every_row_flagged_for_few_events_has_its_note():
    for passed in ([4] * 6 + [0] * 300, [4] * 20, [2] * 20, [4, 0]):
        found = summary(passed, 4, resamples=20)
        assert any(row.fixed.few_events for row in found.rows)
        assert found.notes[0].startswith("few events (")


def test_unequal_trials_are_told():
    assert "n differs between tasks: 4 to 8; k stops at 4" in notes([3, 5], [4, 8])
    assert "n differs" not in notes([3, 5], 8)


@pytest.mark.parametrize(
    ("n", "where"), [(1, "k = 1 "), (2, "k = 2 "), (3, "k = 2 to 3 "), (4, "k = 3 to 4 "), (9, "k = 5 to 9 ")]
)
def test_where_the_rerun_interval_rests_on_a_model_is_told(n, where):
    found = summary([1, 0, 1], n, resamples=20)
    told = [note for note in found.notes if note.startswith(f"at {where}the rerun interval rests on a model")]
    undefined = [row.k for row in found.rows if row.within_se is None]

    assert len(told) == 1
    assert undefined == [k for k in range(1, n + 1) if 2 * k > n]


def test_suites_that_end_alike_warn_of_the_bootstrap():
    for passed in ([4] * 20, [0] * 20):
        assert "the task bootstrap has width 0, which is no certainty" in notes(passed, 4)
        assert "rests on a model" not in notes(passed, 4)


def test_one_task_has_no_interval_for_other_tasks():
    found = summary([3], 4, resamples=20)

    assert all(row.population.low is None and row.bootstrap is None for row in found.rows)
    assert all(row.fixed.low < row.fixed.high for row in found.rows)
    assert "one task says nothing about other tasks" in found.notes[-1]


def test_a_million_tasks():
    found = summary(np.arange(1_000_000) % 9, 8, resamples=50)

    assert found.trials == 8_000_000
    assert all(row.fixed.low < row.pass_hat_k < row.fixed.high for row in found.rows)


@pytest.mark.parametrize(
    ("options", "message"), [({"level": 0}, "level must be"), ({"resamples": 0}, "resamples must be")]
)
def test_wrong_options_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        summary([2, 3], 4, **options)
