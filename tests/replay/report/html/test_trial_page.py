from __future__ import annotations

import json

import pytest

from cassettes.model import Ending, Mark
from replay.labelling.labels import Label
from replay.report.html.beside import beside
from replay.report.html.blamed import Blamed
from replay.report.html.charts import Bar
from replay.report.html.trial_page import ending_text, explanation, trial_data
from replay.scores.scorefile import KeptScore
from replay.scoring import Score
from replay.view import View
from tests import factories
from tests.reports import conversation

COMPLETED = Ending("completed")
WRONG = {"final_state": {"passed": False, "wrong": [{"path": "a", "expected": 1, "found": 2}]}, "reward": 0.0}


@pytest.fixture
def view(tmp_path):
    def make(index=0, steps=None, ending=COMPLETED, **options):
        steps = conversation() if steps is None else steps
        return View(
            factories.write_cassette(tmp_path / f"{index}.cassette", steps, ending, index=index, task="t", **options)
        )

    return make


def score(view, value, evidence=None):
    return KeptScore.of(view.id, "s", "1", Score(value, evidence=evidence or {}), view.cassette.digest)


def data(view, **options):
    given = {"passed": False, "scores": [], "cost": None, "comparison": None, "numbers": {}, **options}
    return trial_data(view, **given)


def test_a_failure_is_explained_by_its_first_other_write(view):
    trial, other = view(0, conversation(32.0)), view(1)
    found = explanation(trial, [score(trial, 0.0, WRONG)], beside(trial, [other]))
    assert found == ["other arguments: step 4 issue_refund: amount is 32.0, not 16.0"]


def test_or_by_what_the_score_says(view):
    trial = view()
    assert explanation(trial, [score(trial, 0.0, {"reward": 0.0, "missing": ["54.04"]})], None) == ["s: missing: 54.04"]


def test_writes_that_were_carried_out_are_told_at_the_head(view):
    done = {"step": 0, "before": 4, "name": "pay", "other": None, "seconds": 0.1, "outcome": None}
    trial = view(marks=[Mark("caught_up", 0.0, done), Mark("caught_up", 0.0, {**done, "step": 1})])
    assert data(trial)["remarks"] == ["frozen writes carried out before live calls: 2 x pay"]


def test_an_ending_comes_first(view):
    trial = view(ending=Ending("capped", "30 steps"))
    assert explanation(trial, [], None) == ["capped: 30 steps"]


@pytest.mark.parametrize(
    ("ending", "told"),
    [
        (("completed", None, None), "completed"),
        (("error", "agent", "ValueError: a\nb"), "error (agent): ValueError: a"),
        (("unanswered", None, ""), "unanswered"),
        (("error", "a\u202e", "b\x00"), "error (a⟦U+202E⟧): b␀"),
    ],
)
def test_an_ending_on_one_line(ending, told):
    assert ending_text(*ending) == told


def test_a_trial_as_data_has_everything_and_no_empty_part(view):
    trial = view(0, conversation(32.0), marks=[Mark("problem", 0.0, "state changed <b>")])
    kept = [score(trial, 0.0, WRONG)]
    label = Label(trial=str(trial.id), author="ann", fault="agent", type="overpaid", step=4, note="twice")
    found = data(
        trial,
        scores=kept,
        comparison=beside(trial, [view(1)]),
        labels=[label],
        blame=Blamed((Bar("before step 4", 0.5, 0.1, 0.9, 4),), "lost at step 4", ()),
    )
    assert found["id"] == "baseline/t#0"
    assert (found["sign"], found["ending"]) == ("failed", "completed")
    assert found["problems"] == ["state changed <b>"]
    assert found["scores"] == [
        {
            "name": "s@1",
            "verdict": "failed",
            "lines": ["final_state: wrong: path a, expected 1, found 2", "reward: 0.0"],
        }
    ]
    assert found["labels"] == [{"text": "agent (overpaid): twice", "by": "ann", "step": 4}]
    assert found["blame"] == {
        "verdict": "lost at step 4",
        "frozen": "",
        "bars": [{"label": "before step 4", "value": 0.5, "low": 0.1, "high": 0.9, "step": 4}],
    }
    assert found["beside"]["step"] == 4
    assert len(found["steps"]) == 6
    assert not {"frozen", "cost", "task", "after"} & set(found)
    json.dumps(found, allow_nan=False)


def test_a_passed_trial_needs_no_explanation(view):
    trial = view()
    assert "why" not in data(trial, passed=True, scores=[score(trial, 1.0)])


def test_a_file_without_an_end_says_so(view):
    found = data(view(ending=None), passed=None)
    assert (found["sign"], found["ending"]) == ("unfinished", "incomplete: the recording has no end")
    assert len(found["steps"]) == 6
