import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from replay.stats import Clustering, Tally, clustering, independent_power
from replay.stats.anova import cluster, power_of_pass_1

suites = st.lists(
    st.integers(1, 6).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))), min_size=2, max_size=12
)


def test_the_airline_runs(airline):
    found = clustering(airline, 4)

    assert [found.within, found.between, found.icc] == pytest.approx([0.146667, 0.099660, 0.404584], abs=5e-7)
    assert (found.never, found.flipping, found.always) == (14, 26, 10)


@given(suites)
def test_it_is_the_analysis_of_variance_of_the_verdicts(suite):
    verdicts = [np.repeat([1.0, 0.0], [c, n - c]) for c, n in suite]
    found = clustering(*zip(*suite, strict=True))
    total = sum(map(len, verdicts))
    if total == len(verdicts):
        assert (found.within, found.between, found.icc) == (None, None, None)
        return
    inside = sum(((v - v.mean()) ** 2).sum() for v in verdicts) / (total - len(verdicts))
    grand = np.concatenate(verdicts).mean()
    across = sum(len(v) * (v.mean() - grand) ** 2 for v in verdicts) / (len(verdicts) - 1)
    size = (total - sum(len(v) ** 2 for v in verdicts) / total) / (len(verdicts) - 1)

    assert found.within == pytest.approx(inside, abs=1e-12)
    assert found.between == pytest.approx((across - inside) / size, abs=1e-12)
    if found.icc is not None:
        assert found.icc == pytest.approx(found.between / (found.between + found.within))
        assert found.icc <= 1


@given(suites, st.randoms(use_true_random=False))
def test_the_order_of_the_tasks_changes_no_digit(suite, random):
    shuffled = random.sample(suite, len(suite))

    assert clustering(*zip(*suite, strict=True)) == clustering(*zip(*shuffled, strict=True))


def test_trials_that_alternate_inside_tasks_correlate_below_zero():
    found = clustering([2, 2, 2], 4)

    assert found.between == pytest.approx(-1 / 12)
    assert found.icc == pytest.approx(-1 / 3)


def test_tasks_that_never_flip_correlate_wholly():
    assert clustering([4, 0, 4], 4).icc == 1


@pytest.mark.parametrize(
    ("passed", "n", "expected"),
    [
        ([4, 4], 4, Clustering(0, 0, None, always=2, never=0, flipping=0)),
        ([0, 0], 4, Clustering(0, 0, None, always=0, never=2, flipping=0)),
        ([2], 4, Clustering(1 / 3, None, None, always=0, never=0, flipping=1)),
        ([0, 1, 1], 1, Clustering(None, None, None, always=2, never=1, flipping=0)),
    ],
)
def test_what_cannot_be_known_is_none(passed, n, expected):
    assert clustering(passed, n) == expected


def test_a_million_tasks():
    found = clustering(np.arange(1_000_000) % 5, 4)

    assert (found.always, found.never, found.flipping) == (200_000, 200_000, 600_000)
    assert found.within == pytest.approx(1 / 6, rel=1e-12)


def test_the_power_of_pass_1_ignores_that_tasks_differ():
    assert [independent_power([4, 0], 4, k) for k in (1, 2, 3)] == [0.5, 0.25, 0.125]
    assert independent_power([2, 6], [4, 8], 2) == (5 / 8) ** 2


def test_the_power_of_pass_1_is_refused_where_pass_k_is():
    with pytest.raises(ValueError, match="k = 5, but task 0 has 4 trials"):
        independent_power([4], 4, 5)


def test_the_statistics_of_a_tally_are_those_of_its_tasks(airline):
    tally = Tally.of(airline, 4)

    assert cluster(tally) == clustering(airline, 4)
    for k, expected in itertools.zip_longest((1, 2, 3, 4), (0.42, 0.1764, 0.074088, 0.03111696)):
        assert power_of_pass_1(tally, k) == independent_power(airline, 4, k) == pytest.approx(expected)
