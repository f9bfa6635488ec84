import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from replay.stats import Interval, Tally, interval, pass_at_k, pass_hat_k
from replay.stats.intervals import fixed_interval, population_interval
from replay.stats.within import WithinModel

suites = st.lists(
    st.integers(2, 6).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))), min_size=1, max_size=25
)
targets = st.sampled_from(["population", "fixed"])
metrics = st.sampled_from(["pass^k", "pass@k"])

RELIABLE = [8] * 40 + [7] * 5 + [4] * 3 + [0] * 2


def ends(found):
    return [found.low, found.high]


@pytest.mark.parametrize(
    ("k", "target", "level", "expected"),
    [
        (1, "population", 0.95, [0.317118, 0.531876]),
        (2, "population", 0.95, [0.175818, 0.403122]),
        (3, "population", 0.95, [0.126965, 0.358813]),
        (4, "population", 0.95, [0.100302, 0.337183]),
        (1, "population", 0.90, [0.332463, 0.514431]),
        (2, "population", 0.90, [0.189237, 0.381828]),
        (3, "population", 0.90, [0.139048, 0.335371]),
        (4, "population", 0.90, [0.112722, 0.315596]),
        (1, "fixed", 0.95, [0.367924, 0.473920]),
        (2, "fixed", 0.95, [0.219678, 0.334476]),
        (3, "fixed", 0.95, [0.163295, 0.289580]),
        (4, "fixed", 0.95, [0.138287, 0.280296]),
        (1, "fixed", 0.90, [0.376100, 0.465203]),
        (2, "fixed", 0.90, [0.227724, 0.324242]),
        (3, "fixed", 0.90, [0.171474, 0.277657]),
        (4, "fixed", 0.90, [0.146889, 0.266320]),
    ],
)
def test_the_airline_runs(airline, k, target, level, expected):
    found = interval(airline, 4, k, target, level=level)

    assert ends(found) == pytest.approx(expected, abs=6e-7)
    assert (found.level, found.target, found.few_events) == (level, target, False)
    assert found.estimate == pass_hat_k(airline, 4, k)


@pytest.mark.parametrize(
    ("passed", "k", "target", "level", "expected"),
    [
        ([6], 2, "fixed", 0.95, [0.203123, 0.839309]),
        ([8], 1, "fixed", 0.95, [0.630583, 1]),
        ([8], 8, "fixed", 0.95, [0.025, 1]),
        ([8] * 20, 8, "fixed", 0.95, [0.831567, 1]),
        ([8] * 20, 8, "population", 0.95, [0.831567, 1]),
        ([0] * 20, 1, "fixed", 0.95, [0, 0.022792]),
        ([0] * 20, 4, "fixed", 0.95, [0, 0.000931]),
        ([0] * 20, 1, "population", 0.95, [0, 0.221077]),
        (RELIABLE, 4, "population", 0.90, [0.749687, 0.912450]),
        (RELIABLE, 4, "fixed", 0.90, [0.817916, 0.878723]),
    ],
)
def test_reference_values_of_eight_trials(passed, k, target, level, expected):
    assert ends(interval(passed, 8, k, target, level=level)) == pytest.approx(expected, abs=6e-7)


def test_a_large_suite_that_always_passes():
    assert interval([8] * 115, 8, 8, "fixed").low == pytest.approx(0.9684, abs=5e-5)


@given(suites, st.integers(1, 6), targets, metrics, st.floats(0.5, 0.999))
def test_the_estimate_lies_inside(suite, k, target, metric, level):
    passed, tried = zip(*suite, strict=True)
    k = min(k, *tried)
    found = interval(passed, tried, k, target, level=level, metric=metric)

    assert found.estimate == (pass_hat_k if metric == "pass^k" else pass_at_k)(passed, tried, k)
    if target == "population" and len(suite) == 1:
        assert ends(found) == [None, None]
    else:
        assert 0 <= found.low <= found.estimate <= found.high <= 1
        assert found.low < found.high


@given(suites, targets, metrics, st.randoms(use_true_random=False))
def test_the_order_of_the_tasks_changes_no_digit(suite, target, metric, random):
    shuffled = random.sample(suite, len(suite))
    once, again = (interval(*zip(*s, strict=True), 2, target, metric=metric) for s in (suite, shuffled))

    assert once == again


@given(suites, targets)
def test_a_higher_level_is_wider(suite, target):
    passed, tried = zip(*(suite * 2), strict=True)
    narrow, wide = (interval(passed, tried, 2, target, level=level) for level in (0.8, 0.95))

    assert wide.low <= narrow.low
    assert narrow.high <= wide.high


@given(suites, targets)
def test_pass_at_k_is_the_mirror_of_pass_hat_k_of_the_failures(suite, target):
    passed, tried = zip(*suite, strict=True)
    failed = [n - c for c, n in suite]
    at = interval(passed, tried, 2, target, metric="pass@k")
    hat = interval(failed, tried, 2, target)

    assert (at.method, at.few_events) == (hat.method, hat.few_events)
    if hat.low is not None:
        assert ends(at) == pytest.approx([1 - hat.high, 1 - hat.low], abs=1e-15)


def test_pass_at_1_has_the_very_interval_of_pass_hat_1(airline):
    for target in ("population", "fixed"):
        at, hat = (interval(airline, 4, 1, target, metric=metric) for metric in ("pass@k", "pass^k"))
        assert at == hat


def test_one_task_says_nothing_about_other_tasks():
    found = interval([6], 8, 2)

    assert found == Interval(15 / 28, None, None, 0.95, "population", "undefined", few_events=True)
    assert ends(interval([6], 8, 2, metric="pass@k")) == [None, None]
    assert interval([6], 8, 2, metric="pass@k").estimate == 27 / 28


@pytest.mark.parametrize(
    ("passed", "n", "k", "target", "method"),
    [
        ([4, 2, 0], 4, 2, "population", "wilson-t"),
        ([4, 2, 0], 4, 4, "population", "clopper-pearson"),
        ([4, 2, 0], [4, 4, 5], 4, "population", "wilson-t"),
        ([4, 2, 0], 4, 4, "fixed", "wilson-z"),
        ([4, 4], 4, 2, "fixed", "exact"),
        ([0, 0], 4, 2, "fixed", "equal split"),
    ],
)
def test_the_method_is_named(passed, n, k, target, method):
    assert interval(passed, n, k, target).method == method


@pytest.mark.parametrize(
    ("passed", "few"),
    [
        ([4] * 5 + [1] * 5, False),
        ([4] * 4 + [1] * 5, True),  # 9 tasks
        ([4] * 4 + [1] * 16, True),  # 4 that always passed
        ([4] * 16 + [1] * 4, True),  # 4 that failed
        ([4] * 15 + [3] * 5, False),
    ],
)
def test_few_events_are_told(passed, few):
    for target in ("population", "fixed"):
        assert interval(passed, 4, 2, target).few_events is few
        failed = [4 - c for c in passed]
        assert interval(failed, 4, 2, target, metric="pass@k").few_events is few


def test_a_rare_pass_is_few_events_in_a_rerun_only():
    passed = [4] * 5 + [0] * 195

    assert interval(passed, 4, 4, "fixed").estimate == 0.025
    assert interval(passed, 4, 4, "fixed").few_events
    assert not interval(passed, 4, 4, "population").few_events


def test_a_broken_task_makes_nobody_surer_of_those_that_always_pass():
    found = interval([16] * 19 + [0], 16, 16, "fixed")

    assert found.low == pytest.approx(0.95 * 0.025 ** (1 / 19))  # as 19 tasks alone, and one that never passes


def test_a_good_task_makes_nobody_surer_of_those_that_never_pass():
    found = interval([0] * 19 + [8], 8, 1, "fixed")

    assert found.high == pytest.approx(0.05 + 0.95 * (1 - 0.025 ** (1 / (8 * 19))))


@given(st.lists(st.integers(0, 8), min_size=1, max_size=12), st.integers(1, 12), st.integers(1, 8))
def test_the_ends_are_no_surer_than_those_of_its_tasks_of_one_kind(others, certain, k):
    """The whole suite is a mean of both parts, so certainty about one part is certainty about its share only."""
    share = certain / (certain + len(others))
    passing, failing = interval([8] * certain, 8, k, "fixed"), interval([0] * certain, 8, k, "fixed")
    with_passing = interval([8] * certain + others, 8, k, "fixed")
    with_failing = interval([0] * certain + others, 8, k, "fixed")

    assert with_passing.low <= with_passing.estimate - share * (1 - passing.low) + 1e-12
    assert with_failing.high >= with_failing.estimate + share * failing.high - 1e-12


def test_unequal_trials_of_suites_that_end_alike_count_as_the_fewest():
    assert ends(interval([8, 4], [8, 4], 2, "fixed")) == ends(interval([4, 4], 4, 2, "fixed"))
    assert ends(interval([0, 0], [8, 4], 2, "fixed")) == ends(interval([0, 0], 4, 2, "fixed"))


def test_tasks_too_weak_for_any_pass_of_k_still_have_an_interval():
    for target in ("population", "fixed"):
        found = interval([1, 2, 1, 0], 8, 4, target)
        assert found.estimate == found.low == 0
        assert 0 < found.high < 1


def test_a_million_tasks():
    passed = np.arange(1_000_000) % 9

    for target in ("population", "fixed"):
        found = interval(passed, 8, 4, target)
        assert found.low < found.estimate < found.high
        assert found.high - found.low < 0.002


def test_hundreds_of_trials():
    for target in ("population", "fixed"):
        found = interval([600, 590, 300, 0] * 5, 600, 300, target)
        assert 0 < found.low < found.estimate < found.high < 1


def test_a_rerun_of_the_suite_varies_less_than_other_tasks(airline):
    for k in (1, 2, 3, 4):
        fixed, population = (interval(airline, 4, k, target) for target in ("fixed", "population"))
        assert population.low < fixed.low
        assert fixed.high < population.high


def test_the_same_question_twice_gives_the_same_digits(airline):
    for target in ("population", "fixed"):
        assert interval(airline, 4, 3, target) == interval(airline, 4, 3, target)


def test_the_intervals_of_a_tally_are_those_of_its_tasks(airline):
    tally = Tally.of(airline, 4)

    assert population_interval(tally, 2, 0.9) == interval(airline, 4, 2, "population", level=0.9)
    found = fixed_interval(WithinModel.fit(tally, 4), 2, 0.9)
    assert ends(found) == pytest.approx(ends(interval(airline, 4, 2, "fixed", level=0.9)), abs=1e-12)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"target": "tasks"}, 'target must be "population" or "fixed", got \'tasks\''),
        ({"metric": "pass"}, 'metric must be "pass\\^k" or "pass@k", got \'pass\''),
        ({"level": 95}, "level must be between 0 and 1"),
        ({"k": 5}, "k = 5, but task 0 has 4 trials"),
        ({"k": 0}, "k must be a whole number"),
    ],
)
def test_wrong_options_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        interval(**({"successes": [2, 3], "trials": 4, "k": 2} | options))
