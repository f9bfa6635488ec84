from __future__ import annotations

import json

import pytest

from cassettes.model import TrialId
from replay.analysis.card import card_of
from replay.analysis.run_stats import run_stats
from replay.labelling.labels import Label, append_label
from replay.report.card_text import card_lines
from replay.scores.scorefile import append_scores
from replay.store import Store
from replay.view import View
from tests.replay.verdicts import UNANSWERED, make_run, passes, score_of


@pytest.fixture
def card(home):
    def told(run="r"):
        with Store(home) as store:
            store.refresh()
            return card_of(store, run_stats(store, run))

    return told


def text(card):
    return "\n".join(card_lines(card))


def test_it_answers_four_questions(home, card):
    make_run(home, "r", {"a": passes(2, 4), "b": passes(4, 4)}, config={"mode": "record"})
    told = text(card())

    assert "pass^1 = 0.750   one trial passes" in told
    assert "pass^4 = 0.500   all of 4 trials of a task pass" in told
    for line in (
        "1. How many trials, and which k?\n   2 tasks, 4 counted trials each; 8 trials in all",
        "2. Scored how, and who agrees?\n   by s@1\n   no other score of these trials",
        "3. How old is it?\n   trials of 2023-11-14",
        "4. Was it rerun, on our tasks?\n   run here, everything live\n   no other run here has the same tasks",
    ):
        assert line in told


def test_agreement_of_other_scorers_and_of_people_is_told(home, card):
    make_run(home, "r", {"a": passes(2, 4)})
    append_scores(home, "r", [score_of(home, TrialId("r", "a", index), index < 3, "s@2") for index in range(4)])
    trial = TrialId("r", "a", 3)
    digest = View(home.cassette(trial)).cassette.digest
    append_label(home, Label(trial=str(trial), author="Ada", fault="agent", digest=digest))
    found = card()

    assert found.scores[0].agreement.observed == 0.75
    assert "s@2 agrees on 75% of 4 trials, Cohen's kappa 0.50" in text(found)
    assert "1 trial labelled by one person" in text(found)


def test_reruns_are_runs_whose_tasks_are_the_same(home, card):
    make_run(home, "r", {"a": passes(2, 4), "b": passes(1, 4)}, config={"mode": "import"}, about={"file": "x.json"})
    make_run(home, "again", {"a": passes(2, 4), "c": passes(2, 4)}, config={"mode": "record"})
    make_run(home, "other", {"x": passes(2, 4)})
    found = card()

    assert [(other.run, other.tasks, other.live) for other in found.runs] == [("again", 1, True)]
    assert "imported from x.json: not run here" in text(found)
    assert "again (live) has 1 of the same tasks: trialtape compare r again" in text(found)


def test_bounds_take_the_place_of_the_number(home, card):
    make_run(home, "r", {"a": [True, UNANSWERED]})
    assert "pass^1 between 0.500 (all unanswered failed) and 1.000 (all passed)" in text(card())


def test_as_data_it_is_json(home, card):
    make_run(home, "r", {"a": passes(2, 4)})
    json.dumps(card().to_dict(), allow_nan=False)


def test_one_trial_per_task_is_an_optimistic_ceiling(home, card):
    make_run(home, "r", {f"t{n}": [n < 23] for n in range(25)})
    told = text(card())
    assert "pass^1 = 0.920   one trial passes" in told
    assert "pass^1 is an optimistic ceiling of every pass^k, and nothing tells more;" in told
    assert "pass^8 lies between 0.513 (all tasks alike) and 0.920 (each task passes always or never)" in told


def test_several_trials_of_each_task_are_no_ceiling(home, card):
    make_run(home, "r", {"a": passes(2, 4), "b": passes(4, 4)})
    assert "ceiling" not in text(card())
