"""Which step lost a trial: named only where the pass rates part clearly."""

from __future__ import annotations

import json
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest, fisher_exact

from replay.branching.blame import LEVEL, bar_of, blame, fisher, lost_at, wilson


def bars(*shares, n=8, left_out=None):
    """A bar at each second step, for the write at the next one."""
    return [
        bar_of(2 * place, f"write {place}", passed, n, left_out, (2 * place + 1,))
        for place, passed in enumerate(shares)
    ]


@given(st.integers(1, 200).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_the_interval_is_wilsons(share):
    passed, counted = share
    expected = binomtest(passed, counted).proportion_ci(method="wilson")
    low, high = wilson(passed, counted)
    assert low == pytest.approx(expected.low, abs=1e-9)
    assert high == pytest.approx(expected.high, abs=1e-9)
    assert low <= passed / counted <= high


def test_of_nothing_nothing_is_known():
    assert wilson(0, 0) == (0.0, 1.0)
    assert bar_of(3, "w", 0, 0).rate is None


@given(st.integers(1, 40), st.integers(1, 40), st.data())
def test_the_test_is_fishers(n, m, data):
    a, b = data.draw(st.integers(0, n)), data.draw(st.integers(0, m))
    expected = fisher_exact([[a, n - a], [b, m - b]], alternative="greater").pvalue
    assert fisher(bar_of(0, "a", a, n), bar_of(1, "b", b, m)) == pytest.approx(expected, abs=1e-9)


def test_a_clear_fall_names_the_step():
    read = blame(bars(7, 7, 0))
    assert [loss.steps for loss in read.losses] == [(3,)]
    assert read.verdict.startswith("lost at step 3, write 1 (7/8 pass from before it, 0/8 from after it; p = 0.0007)")


def test_a_fall_that_may_be_chance_names_none():
    read = blame(bars(5, 2))
    assert read.losses == ()
    assert read.verdict == "not decided with n=8: no fall is clear; try -n 32"


def test_a_fall_in_small_steps_says_between_which():
    read = blame(bars(8, 6, 4, 2, 0))
    assert read.losses == ()
    assert read.verdict == "lost between step 0 and step 7 (8/8 to 0/8); which is not decided with n=8; try -n 32"


def test_two_clear_falls_are_both_told():
    read = blame(bars(32, 16, 0, n=32))
    assert [loss.steps for loss in read.losses] == [(1,), (3,)]
    assert len(read.verdict.splitlines()) == 2


def test_rates_that_rise_again_do_not_hide_a_fall():
    assert [loss.steps for loss in lost_at(bars(7, 4, 8, 0))] == [(5,)]


def test_a_trial_that_was_only_unlucky():
    assert blame(bars(8, 7, 8)).verdict.startswith("not lost at any of these steps: most continuations pass")


def test_a_trial_that_was_lost_before_the_first_step():
    assert blame(bars(0, 0, 0)).verdict.startswith("lost before step 0 already, or never within reach (0/8 pass")


def test_a_bar_without_a_counted_continuation_says_nothing():
    read = blame([*bars(8)[:1], bar_of(2, "write 1", 0, 0, {"unanswered": 8}, (3,)), bar_of(4, "the end", 0, 8)])
    [loss] = read.losses
    assert loss.steps == (1, 3), "it may have been either"
    assert read.verdict.startswith("lost at steps 1 and 3: write 0, write 1 ")


def test_with_one_bar_nothing_can_be_said():
    assert blame(bars(4)).verdict.startswith("not decided")
    assert blame([]).verdict.startswith("not decided")


def test_where_nothing_that_counts_lies_between():
    [loss] = lost_at([bar_of(2, "x", 8, 8), bar_of(9, "y", 0, 8)])
    assert (loss.first, loss.last, loss.steps) == (2, 8, ())
    assert blame([bar_of(2, "x", 8, 8), bar_of(9, "y", 0, 8)]).verdict.startswith("lost between step 2 and step 8 (8/8")


def test_the_bars_come_in_any_order():
    assert [bar.step for bar in blame(reversed(bars(7, 7, 0))).bars] == [0, 2, 4]


def test_it_is_json():
    document = json.loads(json.dumps(blame(bars(7, 7, 0, left_out={"unanswered": 1})).to_dict()))
    assert document["lost"][0]["steps"] == [3]
    assert document["bars"][2] | {"low": 0, "high": 0} == {
        "step": 4,
        "label": "write 2",
        "passed": 0,
        "counted": 8,
        "low": 0,
        "high": 0,
        "left_out": {"unanswered": 1},
        "steps": [5],
        "rate": 0.0,
    }


@pytest.mark.parametrize("rate", [0.2, 0.5, 0.8])
def test_where_no_rate_falls_a_step_is_hardly_ever_named(rate):
    draw = random.Random(7)
    named = sum(
        bool(lost_at(bars(*(sum(draw.random() < rate for _ in range(16)) for _ in range(6)), n=16)))
        for _ in range(1000)
    )
    assert named <= 1000 * LEVEL
