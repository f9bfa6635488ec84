from __future__ import annotations

import pytest

from cassettes.model import TrialId
from replay.report.html.facts import facts_of, newest_scores, open_view
from replay.scores.scorefile import KeptScore, append_scores
from replay.scoring import Score
from replay.store import Store
from tests.reports import ENDINGS, conversation

P, F = "passed", "failed"


@pytest.fixture
def store(runs):
    with Store(runs.home) as opened:
        yield opened


def test_trials_come_by_task_and_index_numbers_as_numbers(runs, facts):
    runs.make("r", {"10": [P], "9": [P, F], "b": [P]})
    assert [(t.number, t.id) for t in facts("r").trials] == [
        (0, "r/9#0"),
        (1, "r/9#1"),
        (2, "r/10#0"),
        (3, "r/b#0"),
    ]


def test_every_outcome_has_its_sign(runs, facts):
    runs.make("r", {"a": list(ENDINGS)})
    assert [trial.sign.name for trial in facts("r").trials] == list(ENDINGS)


def test_models_are_told_with_what_they_used(runs, facts):
    runs.make("r", {"a": [P, P]})
    (use,) = facts("r").models
    assert (use.name, use.actor, use.calls, use.live, use.input, use.output, use.untold) == (
        "gpt-x",
        "agent",
        8,
        8,
        820,
        80,
        0,
    )


def test_the_score_that_counts_comes_first_and_the_newest_of_each_is_kept(runs, store):
    runs.make("r", {"a": [P]})
    store.refresh()
    digest = facts_of(store, "r").trials[0].digest
    trial = TrialId("r", "a", 0)
    append_scores(
        runs.home,
        "r",
        [
            KeptScore.of(trial, "a", "1", Score(0.0), digest),
            KeptScore.of(trial, "a", "1", Score(1.0), digest),
            KeptScore.of(trial, "a", "1", Score(0.5), "of another cassette"),
        ],
    )
    store.refresh()
    kept = newest_scores(facts_of(store, "r"), store)["r/a#0"]
    assert [(score.scorer, score.value) for score in kept] == [("s", 1.0), ("a", 1.0)]


def test_replaced_attempts_are_counted_and_are_no_trials(runs, facts):
    runs.make("r", {"a": [P, F]})
    path = runs.home.cassette(TrialId("r", "a", 1))
    path.rename(runs.home.next_attempt(TrialId("r", "a", 1)))
    runs.trial(TrialId("r", "a", 1), P, conversation())
    assert (facts("r").attempts, len(facts("r").trials)) == (1, 2)


def test_a_file_that_cannot_be_opened_has_no_view(runs, store):
    runs.make("r", {"a": [P]})
    assert str(open_view(store, "r/a#0").id) == "r/a#0"
    runs.home.cassette(TrialId("r", "a", 0)).write_bytes(b"nothing")
    assert open_view(store, "r/a#0") is None
    assert open_view(store, "r/a#7") is None
