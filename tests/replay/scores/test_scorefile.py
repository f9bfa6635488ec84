"""Scores are appended before the index learns of them; a crash costs at most what was not acknowledged."""

from __future__ import annotations

import json
import math

import pytest

import trialtape as tt
from cassettes.errors import CorruptCassette
from cassettes.model import TrialId
from replay.home import Home
from replay.scores.scorefile import KeptScore, append_scores, read_scores


@pytest.fixture
def home(tmp_path):
    (tmp_path / "cassettes/r").mkdir(parents=True)
    return Home(tmp_path)


def kept(index=0, evidence=None):
    score = tt.Score(1.0, evidence=evidence or {})
    return KeptScore.of(TrialId("r", "t", index), "s", "1", score, "digest")


def file(home):
    return home.root / "cassettes/r/scores.jsonl"


def test_scores_come_back_in_order(home):
    append_scores(home, "r", [kept(0), kept(1)])
    append_scores(home, "r", [kept(0, {"why": "Grüße \ud800"})])
    assert [score.trial for score in read_scores(home, "r")] == ["r/t#0", "r/t#1", "r/t#0"]
    assert json.loads(list(read_scores(home, "r"))[2].evidence) == {"why": "Grüße \ud800"}


def test_nothing_to_append_makes_no_file(home):
    append_scores(home, "r", [])
    assert not file(home).exists()
    assert list(read_scores(home, "r")) == []


@pytest.mark.parametrize("cut", [1, 10, 100])
def test_a_last_line_that_a_crash_cut_short_is_left_out_and_dropped_by_the_next_append(home, cut):
    append_scores(home, "r", [kept(0), kept(1)])
    file(home).write_bytes(file(home).read_bytes()[:-cut])
    assert next(score.trial for score in read_scores(home, "r")) == "r/t#0"
    append_scores(home, "r", [kept(2)])
    assert [score.trial for score in read_scores(home, "r")] == ["r/t#0", "r/t#2"]


def test_another_damaged_line_is_an_error_that_names_it(home):
    append_scores(home, "r", [kept(0), kept(1)])
    lines = file(home).read_bytes().splitlines(keepends=True)
    file(home).write_bytes(b"{broken\n" + lines[1])
    with pytest.raises(CorruptCassette, match="line 1 is damaged"):
        list(read_scores(home, "r"))


@pytest.mark.parametrize("evidence", [{(1, 2): 3}, {"x": math.nan}, {"deep": {(1,): 2}}])
def test_evidence_that_json_cannot_hold_is_kept_as_text(home, evidence):
    append_scores(home, "r", [kept(0, evidence)])
    (score,) = read_scores(home, "r")
    assert json.loads(score.evidence) == {"repr": repr(evidence)}
