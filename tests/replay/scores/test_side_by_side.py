"""Recorded scores beside re-computed ones."""

from __future__ import annotations

from cassettes.model import TrialId
from replay.scores.scorefile import KeptScore
from replay.scores.side_by_side import Pair, side_by_side
from replay.scoring import Score


def kept(trial, value, *, scorer="s", version="1", digest="d", passed=None):
    score = Score(value) if passed is None else Score(value, passed=passed)
    return KeptScore.of(TrialId("r", "t", trial), scorer, version, score, digest)


def test_the_rows_that_differ_are_told_with_both_sides():
    before = [kept(0, 1.0), kept(1, 1.0), kept(2, 0.0), kept(3, None)]
    now = [kept(n, value, version="2") for n, value in enumerate([1.0, 0.0, 0.0, None])]
    found = side_by_side(before, now, "s@1", "s@2")
    assert (found.trials, found.unscored, found.alone) == (4, 1, 0)
    assert found.differ == (Pair("r/t#1", 1.0, 0.0, True, False),)


def test_another_verdict_or_unscored_on_one_side_is_a_difference():
    before = [kept(0, 0.5), kept(1, None)]
    now = [kept(0, 0.5, version="2", passed=True), kept(1, 1.0, version="2")]
    assert [pair.trial for pair in side_by_side(before, now, "s@1", "s@2").differ] == ["r/t#0", "r/t#1"]


def test_a_score_of_another_recording_is_not_compared():
    found = side_by_side([kept(0, 1.0, digest="old")], [kept(0, 0.0, version="2")], "s@1", "s@2")
    assert (found.trials, found.differ, found.alone) == (0, (), 1)


def test_a_name_without_version_means_the_last_one_that_was_made():
    before = [kept(0, 1.0), kept(0, 0.0, version="1b")]
    found = side_by_side(before, [kept(0, 0.0, version="2")], "s", "s@2")
    assert (found.trials, found.differ) == (1, ())


def test_values_that_differ_by_rounding_alone_are_alike():
    assert side_by_side([kept(0, 0.1 + 0.2)], [kept(0, 0.3, version="2")], "s@1", "s@2").differ == ()
