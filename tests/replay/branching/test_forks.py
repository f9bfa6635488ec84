"""Forks that were carried out are found again, and told as bars."""

from __future__ import annotations

import pytest

import trialtape as tt
from cassettes.model import Ending, TrialId
from replay.branching.forks import blame_of, counted_in, forks_of, parting
from replay.home import Home
from replay.runs import RunFile, open_run
from replay.scores.scorefile import KeptScore, append_scores
from replay.scoring import Score
from replay.view import View
from tests.factories import COMPLETED, call, interaction, write_cassette

PARENT = TrialId("base", "t", 0)
STEPS = [interaction(step, call=call(name=f"w{step}", effect="write", arguments={})) for step in range(3)]


@pytest.fixture
def home(tmp_path):
    made = Home(tmp_path)
    write_cassette(made.cassette(PARENT), STEPS, run="base", task="t", index=0)
    return made


@pytest.fixture
def parent(home):
    return View(home.cassette(PARENT), home)


@pytest.fixture
def fork(home, parent):
    """Make a run of continuations that passed (True), failed (False) or ended otherwise."""

    def make(at, *came, name=None, created="2026-01-01", agent="one", edited=None, digest=None, **config):
        told = {"parent": str(PARENT), "digest": digest or parent.cassette.digest, "at": at}
        told |= {"edited": edited, "agent": agent}
        name = name or f"f{at}"
        file = RunFile(name, {"mode": "fork", "fork": told, **config}, {"created": created}, primary="ok@1")
        open_run(home, file)
        for index, verdict in enumerate(came):
            identity = TrialId(name, "t", index)
            ending = verdict if isinstance(verdict, Ending) else COMPLETED
            path = write_cassette(home.cassette(identity), STEPS[:1], ending, run=name, task="t", index=index)
            if isinstance(verdict, bool):
                score = Score(float(verdict))
                append_scores(home, name, [KeptScore.of(identity, "ok", "1", score, View(path).cassette.digest)])
        return name

    return make


def shares(bars):
    return [(bar.step, bar.passed, bar.counted) for bar in bars]


def test_no_fork_no_bars(home, parent):
    assert forks_of(home, parent) == []
    assert blame_of(home, PARENT) == []


def test_a_bar_for_each_step_that_was_forked_at(home, parent, fork):
    fork(3, False, False)
    fork(0, True, True, False)
    fork(1, True, False)
    bars = blame_of(home, PARENT)
    assert shares(bars) == [(0, 2, 3), (1, 1, 2), (3, 0, 2)]
    assert [bar.label for bar in bars] == ["w0()", "w1(), w2()", "the end"]
    assert shares(blame_of(home, parent)) == shares(bars)


def test_what_is_not_counted_is_told(home, fork):
    fork(1, True, Ending("unanswered", "?"), Ending("error", "no", "refused"), Ending("error", "no", "infrastructure"))
    [bar] = blame_of(home, PARENT)
    assert (bar.passed, bar.counted) == (1, 1)
    assert bar.left_out == {"unanswered": 1, "error (refused)": 1, "error (infrastructure)": 1}


def test_capped_ones_and_errors_of_the_agent_are_failures(home, fork):
    fork(1, True, Ending("capped", "30 steps"), Ending("error", "ValueError", "agent"))
    assert shares(blame_of(home, PARENT)) == [(1, 1, 3)]


def test_runs_from_the_same_step_are_counted_together(home, fork):
    fork(1, True, False)
    fork(1, True, True, name="more")
    assert shares(blame_of(home, PARENT)) == [(1, 3, 4)]


def test_of_two_agents_the_newer_counts(home, fork):
    fork(1, True, name="old", agent="one", created="2026-01-01")
    fork(1, False, name="new", agent="two", created="2026-02-01")
    assert shares(blame_of(home, PARENT)) == [(1, 0, 1)]


def test_edited_forks_and_those_with_something_frozen_are_apart(home, fork):
    fork(1, True, name="plain")
    fork(1, False, name="edited", edited="abc")
    fork(1, False, False, name="frozen", freeze=["external"])
    assert shares(blame_of(home, PARENT)) == [(1, 1, 1)]
    assert shares(blame_of(home, PARENT, freeze=["external"])) == [(1, 0, 2)]


def test_forks_of_what_the_trial_was_before_do_not_count(home, fork):
    fork(1, True, digest="another")
    assert blame_of(home, PARENT) == []


def test_other_runs_and_damaged_ones_are_passed_over(home, fork):
    fork(1, True)
    open_run(home, RunFile("other", {"mode": "record"}))
    (home.run("damaged")).mkdir(parents=True)
    (home.run("damaged") / "run.json").write_text("{")
    assert shares(blame_of(home, PARENT)) == [(1, 1, 1)]


def test_what_a_continuation_that_passed_wrote_otherwise(home, parent, fork):
    name = fork(1, False, True)
    trial, found = parting(home, parent, [name])
    assert trial == TrialId(name, "t", 1)
    assert found.line() == "extra write: step 1 w1()"
    assert parting(home, parent, [fork(2, False)]) is None


def test_a_continuation_that_is_not_scored_yet_is_left_out(home, fork):
    name = fork(1, True, COMPLETED)
    assert counted_in(home, [name]).left_out == {"unscored": 1}


def test_a_trial_that_is_not_there(home):
    with pytest.raises((tt.BadInput, tt.CassetteError)):
        blame_of(home, TrialId("base", "t", 9))
