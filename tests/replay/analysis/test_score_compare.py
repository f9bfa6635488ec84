from __future__ import annotations

import json

import pytest

import trialtape as tt
from cassettes.model import TrialId
from replay.analysis.score_compare import compare_scores
from replay.scores.scorefile import append_scores
from replay.store import Store
from tests.replay.verdicts import CAPPED, make_run, passes, score_of


@pytest.fixture
def judged(home):
    """A run scored by ``judge@1``, and again by ``judge@2`` with these verdicts."""

    def made(first, second):
        make_run(home, "r", first, scorer="judge@1")
        again = [
            score_of(home, TrialId("r", task, index), verdict, "judge@2")
            for task, verdicts in second.items()
            for index, verdict in enumerate(verdicts)
            if isinstance(verdict, bool)
        ]
        append_scores(home, "r", again)

    return made


@pytest.fixture
def compare(home):
    def told(*scores, **options):
        with Store(home) as store:
            store.refresh()
            return compare_scores(store, "r", scores or ("judge@1", "judge@2"), **options)

    return told


def test_flips_are_told_by_trial(judged, compare):
    judged({"a": passes(3, 4), "b": passes(2, 4)}, {"a": passes(1, 4), "b": passes(3, 4)})
    found = compare()

    assert [(flip.trial, flip.a, flip.b) for flip in found.flips] == [
        ("r/a#1", True, False),
        ("r/a#2", True, False),
        ("r/b#2", False, True),
    ]
    assert (found.both_passed, found.both_failed, found.trials) == (3, 2, 8)
    assert (found.mcnemar.only_first, found.mcnemar.only_second, found.mcnemar.clusters) == (2, 1, 2)
    assert found.mcnemar.statistic == pytest.approx((2 / 4 - 1 / 4) ** 2 / ((2 / 4) ** 2 + (1 / 4) ** 2))
    assert found.paired.rows[0].difference == pytest.approx(-1 / 8)


def test_only_trials_with_both_verdicts_count(judged, compare):
    judged({"a": [True, True, False, CAPPED], "b": passes(2, 2)}, {"a": [True, False], "b": [True]})
    found = compare()

    assert (found.trials, found.tasks) == (4, 2)
    assert found.left_out == {"unscored by judge@2": 2}
    assert [flip.trial for flip in found.flips] == ["r/a#1"]


def test_scorers_that_agree_have_no_flip(judged, compare):
    judged({"a": passes(3, 4)}, {"a": passes(3, 4)})
    found = compare()

    assert (found.flips, found.mcnemar.p, found.mcnemar.statistic) == ((), 1.0, None)


@pytest.mark.parametrize(
    ("scores", "options", "message"),
    [
        (("judge@1", "judge@1"), {}, "judge@1 is compared with itself"),
        (
            ("judge@1", "judge@2"),
            {"ks": [9]},
            "k = 9 needs as many trials with both verdicts of every task, but 'a' has 2",
        ),
        (("judge@1", "other"), {}, "has no score 'other'"),
    ],
)
def test_what_cannot_be_compared_is_refused(judged, compare, scores, options, message):
    judged({"a": passes(1, 2)}, {"a": passes(2, 2)})
    with pytest.raises(tt.BadInput, match=message):
        compare(*scores, **options)


def test_a_trial_that_one_scorer_did_not_see_is_left_out(judged, compare):
    judged({"a": [True, 0.5]}, {"a": [False]})
    assert compare().trials == 1


def test_as_data_it_is_json(judged, compare):
    judged({"a": passes(3, 4)}, {"a": passes(1, 4)})
    document = json.loads(json.dumps(compare().to_dict(), allow_nan=False))

    assert document["flips"][0] == {"trial": "r/a#1", "a": True, "b": False}
    assert document["mcnemar"]["only_first"] == 2
