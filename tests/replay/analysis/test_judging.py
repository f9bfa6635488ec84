from __future__ import annotations

import json

import pytest

import trialtape as tt
from cassettes.model import TrialId
from replay.analysis.judging import human_score, judge_report, read_verdicts
from replay.scores.scorefile import append_scores
from replay.stats import corrected_by_labels, judge_quality
from replay.store import Store
from tests.replay.verdicts import CAPPED, make_run, passes, score_of


@pytest.fixture
def report(home):
    def told(human, **options):
        with Store(home) as store:
            store.refresh()
            return judge_report(store, "r", human, name="labels.csv", **options)

    return told


def test_labels_are_held_against_the_judge(home, report):
    make_run(home, "r", {"a": passes(3, 4), "b": passes(1, 4), "c": [True, CAPPED, False, False]})
    human = {"r/a#0": True, "r/a#1": False, "r/b#1": False, "r/b#2": True, "r/x#0": True, "r/c#1": False}
    found = report(human)

    assert (found.labelled, found.judged, found.unused) == (4, 11, 2)
    assert found.quality == judge_quality(1, 1, 1, 1)
    assert found.disagreements == (("r/a#1", True), ("r/b#2", False))
    assert found.pass_rate == pytest.approx(5 / 11)
    assert (found.method, found.corrected is not None) == ("PPI", True)
    assert all(row.corrected is None for row in found.rows)  # no better than chance


def test_pass_hat_k_is_corrected_by_the_error_rates(home, report):
    make_run(home, "r", {"a": passes(3, 4), "b": passes(1, 4)})
    human = {"r/a#0": True, "r/a#1": True, "r/b#1": False, "r/b#2": False, "r/b#3": False}
    found = report(human, ks=[2])

    assert [(row.k, row.judged) for row in found.rows] == [(2, pytest.approx(0.25))]
    assert found.rows[0].corrected == corrected_by_labels([3, 1], 4, 2, judge_quality(2, 0, 0, 3))


def test_with_many_labels_of_each_kind_the_judge_is_weighted(home, report):
    make_run(home, "r", {f"t{task}": passes(task % 9, 8) for task in range(20)})
    human = {f"r/t{task}#{index}": index < task % 9 for task in range(15) for index in range(8)}
    assert report(human).method == "PPI++"


def test_people_may_be_a_score_of_the_run(home):
    make_run(home, "r", {"a": passes(3, 4)})
    append_scores(home, "r", [score_of(home, TrialId("r", "a", index), index == 0, "people@1") for index in range(3)])
    with Store(home) as store:
        store.refresh()
        human = human_score(store, "r", "people")
        assert human == {"r/a#0": True, "r/a#1": False, "r/a#2": False}
        assert judge_report(store, "r", human, name="people").quality.fp == 2


def test_all_labelled_leaves_nothing_to_correct(home, report):
    make_run(home, "r", {"a": passes(1, 2)})
    found = report({"r/a#0": True, "r/a#1": False})
    assert (found.corrected, found.labels_needed) == (None, None)
    json.dumps(found.to_dict(), allow_nan=False)


def test_labels_of_other_trials_are_refused(home, report):
    make_run(home, "r", {"a": passes(1, 2)})
    with pytest.raises(tt.BadInput, match=r"no trial of run 'r' has both a label in labels.csv and a verdict of s@1"):
        report({"q/a#0": True})
    with pytest.raises(tt.BadInput, match="k = 3 needs as many judged trials"):
        report({"r/a#0": True, "r/a#1": False}, ks=[3])


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("l.csv", "trial,passed\nr/a#0,true\nr/a#1,0\n"),
        ("l.csv", "\ufeffpassed,trial,note\npass,r/a#0,good\nFailed,r/a#1,\n"),
        ("l.jsonl", '{"trial": "r/a#0", "passed": true}\n\n{"trial": "r/a#1", "passed": 0}\n'),
    ],
)
def test_verdicts_are_read(tmp_path, name, text):
    (tmp_path / name).write_text(text, encoding="utf-8")
    assert read_verdicts(tmp_path / name) == {"r/a#0": True, "r/a#1": False}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"trial": "r/a#0"}', "line 1: a trial .* and passed .* are needed"),
        ('{"trial": "r/a#0", "passed": "maybe"}', "line 1: a trial"),
        ('{"trial": "r/a#0", "passed": true}\n{"trial": "r/a#0", "passed": false}', "line 2: r/a#0 has another label"),
        ("[1]", "line 1: a trial"),
        ("trial;passed", "line 1 is no JSON"),
        ("", "holds no label"),
    ],
)
def test_what_is_no_label_is_refused_by_line(tmp_path, text, message):
    (tmp_path / "l.jsonl").write_text(text)
    with pytest.raises(tt.BadInput, match=message):
        read_verdicts(tmp_path / "l.jsonl")


def test_a_missing_file_is_told(tmp_path):
    with pytest.raises(tt.BadInput, match="cannot be read"):
        read_verdicts(tmp_path / "nothing.csv")
