"""From the index to pass^k: the conventions."""

from __future__ import annotations

import json

import pytest

import trialtape as tt
from cassettes.model import Ending, TrialId
from cassettes.reader import Cassette
from replay.analysis.run_stats import run_stats
from replay.home import Home
from replay.runs import RunFile, open_run
from replay.scores.scorefile import KeptScore, append_scores
from replay.store import Store
from tests import factories
from tests.replay.recorded import needs_airline

AGENT = Ending("error", "boom", "agent")
INFRASTRUCTURE = Ending("error", "503", "infrastructure")
UNANSWERED = Ending("unanswered", "missed")
CAPPED = Ending("capped", "30 steps")


@pytest.fixture
def stats(tmp_path):
    """The statistics of a run of these trials: a verdict, or an ending, or both."""
    home = Home(tmp_path)

    def tell(trials, *, primary="s@1", scorers=("s@1",), **options):
        open_run(home, RunFile("r", primary=primary))
        for task, outcomes in trials.items():
            for index, given in enumerate(outcomes):
                ending, passed = given if isinstance(given, tuple) else (given, None)
                if not isinstance(ending, Ending):
                    ending, passed = Ending("completed"), ending
                trial = TrialId("r", task, index)
                calls = [factories.interaction(0)]
                factories.write_cassette(home.cassette(trial), calls, ending, run="r", task=task, index=index)
                if passed is not None:
                    score = tt.Score(float(passed))
                    digest = Cassette(home.cassette(trial)).digest
                    kept = [KeptScore.of(trial, *scorer.split("@"), score, digest) for scorer in scorers]
                    append_scores(home, "r", kept)
        with Store(home) as store:
            store.refresh()
            return run_stats(store, "r", **options)

    return tell


def curve(stats):
    return [round(row.pass_hat_k, 6) for row in stats.summary.rows]


def test_completed_trials_count_by_verdict(stats):
    told = stats({"a": [True, True], "b": [True, False]})
    assert curve(told) == [0.75, 0.5]
    assert (told.score, told.counted.total, told.bounds, told.coverage) == ("s@1", 4, (), None)


def test_capped_trials_and_the_agents_errors_count_as_failed(stats):
    told = stats({"a": [True, CAPPED], "b": [True, AGENT], "c": [True, (CAPPED, True)]})
    assert curve(told) == [0.5, 0.0]
    assert (told.counted.capped, told.counted.agent_errors, told.capped_right) == (2, 1, 1)


def test_infrastructure_errors_are_left_out_and_k_stops_at_the_smallest_task(stats):
    told = stats({"a": [True, True, INFRASTRUCTURE], "b": [True, True, True]})
    assert curve(told) == [1.0, 1.0]
    assert told.counted.left_out == {"error (infrastructure)": 1}


def test_or_they_count_as_failed_if_asked_for(stats):
    told = stats({"a": [True, True, INFRASTRUCTURE], "b": [True, True, True]}, errors="fail")
    assert curve(told) == [0.833333, 0.666667, 0.5]
    assert told.counted.failed_by_convention == 1


def test_with_more_than_a_tenth_unanswered_only_bounds_are_told(stats):
    told = stats({"a": [True, True, UNANSWERED], "b": [True, False, True]})
    assert told.summary is None
    assert told.bounds[0] == (1, pytest.approx(4 / 6), pytest.approx(5 / 6))
    assert told.counted.unanswered == 1


def test_with_less_there_are_numbers_and_bounds(stats):
    told = stats({"a": [True] * 9 + [UNANSWERED], "b": [True] * 10})
    assert curve(told) == [1.0] * 9
    assert told.bounds[0] == (1, pytest.approx(0.95), pytest.approx(1.0))
    json.dumps(told.to_dict(), allow_nan=False)


def test_all_unanswered_is_bounds_only(stats):
    told = stats({"a": [True], "b": [UNANSWERED]})
    assert told.summary is None
    assert told.bounds == ((1, 0.5, 1.0),)


def test_unscored_trials_are_left_out(stats):
    told = stats({"a": [True, Ending("completed")]})
    assert told.counted.left_out == {"unscored": 1}


@pytest.mark.parametrize("trials", [{"a": [INFRASTRUCTURE]}, {"a": [Ending("cancelled")], "b": [INFRASTRUCTURE]}])
def test_a_run_of_which_nothing_counts_is_told_why(stats, trials):
    with pytest.raises(tt.BadInput, match=r"no trial can be counted by s@1: .*1 error \(infrastructure\)"):
        stats(trials)


def test_a_run_without_a_trial_is_told(stats):
    with pytest.raises(tt.BadInput, match=r"no score|no trial"):
        stats({})


def test_the_newest_version_of_a_score_counts_unless_one_is_named(stats):
    trials = {"a": [True, False]}
    assert stats(trials, scorers=("s@1", "other@3")).score == "s@1"


def test_without_a_primary_score_one_must_be_named_if_there_are_several(stats):
    with pytest.raises(tt.BadInput, match=r"has no primary score.*other@3, s@1"):
        stats({"a": [True]}, primary=None, scorers=("s@1", "other@3"))


def test_a_single_score_needs_no_name(stats):
    assert stats({"a": [True]}, primary=None).score == "s@1"


def test_k_may_be_chosen(stats):
    told = stats({"a": [True, True, False]}, ks=[2])
    assert [row.k for row in told.summary.rows] == [2]


def test_a_k_above_the_trials_of_a_task_is_refused(stats):
    with pytest.raises(tt.BadInput, match="k = 3 needs 3 counted trials of every task, but task 'b' has 2"):
        stats({"a": [True] * 3, "b": [True] * 2}, ks=[3])


@needs_airline
def test_that_the_first_k_trials_pass_is_another_number_and_depends_on_their_order(airline_home):
    """pass^2 takes every pair of a task's trials alike; the first two of each airline task give 0.24, and not 0.273."""
    with Store(airline_home) as store:
        store.refresh()
        stats = run_stats(store, "airline")
        rows = store.rows("SELECT t.task, t.idx, s.passed FROM trials t JOIN scores s ON s.trial = t.id")
    passed = {(row["task"], row["idx"]): row["passed"] == 1 for row in rows}
    tasks = {task for task, _ in passed}
    assert sum(passed[task, 0] and passed[task, 1] for task in tasks) / len(tasks) == 0.24
    assert stats.summary.rows[1].pass_hat_k == pytest.approx(0.273333, abs=5e-7)
