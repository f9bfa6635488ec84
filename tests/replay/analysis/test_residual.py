"""What is left of the noise when everything is frozen."""

from __future__ import annotations

import pytest

import trialtape as tt
from cassettes.errors import CorruptCassette
from cassettes.model import TrialId
from replay.analysis.outcomes import Outcomes
from replay.analysis.reliability import TrialOutcome
from replay.analysis.residual import other_verdict, residual_of
from replay.home import Home
from replay.verify import Checked, verify_trial
from replay.view import open_trial


def test_half_the_share_of_trials_that_differ_is_the_most_that_it_can_be():
    found = residual_of(
        [
            Checked("r/t#0", "identical"),
            Checked("r/t#1", "differs", "another call"),
            Checked("r/t#2", "not replayed", "it ended error"),
            Checked("r/t#3", "identical"),
            Checked("r/t#4", "identical"),
        ],
        verdicts=True,
    )
    assert (found.replayed, found.differing, found.why) == (4, ("r/t#1",), "another call")
    assert (found.at_most, found.is_none, found.left_out) == (0.125, False, {"it ended error": 1})


def test_nothing_that_differs_leaves_nothing():
    found = residual_of([Checked("r/t#0", "identical")], verdicts=False)
    assert (found.at_most, found.is_none) == (0.0, True)


def test_a_damaged_file_is_no_residual():
    with pytest.raises(CorruptCassette, match="r/t#0: cut short"):
        residual_of([Checked("r/t#0", "damaged", "cut short")], verdicts=True)


def test_a_run_that_cannot_be_replayed_at_all_is_refused():
    with pytest.raises(tt.BadInput, match="none of 1 trial can be replayed: it ended error"):
        residual_of([Checked("r/t#0", "not replayed", "it ended error")], verdicts=True)


@tt.tool(effect="read")
def look(name):
    return name


def agent(trial):
    look("a")
    trial.message("assistant", words.pop())


words = []


@tt.scorer(version="1")
def polite(view):
    return view.agent_messages == ["please"]


@pytest.mark.parametrize(("now", "status"), [("please", "identical"), ("go away", "differs")])
def test_a_replay_with_the_same_calls_may_have_another_verdict(tmp_path, now, status):
    words[:] = [now, "please"]
    tt.Suite([tt.Task(id="t")], agent, [polite]).run("r", trials=1, home=tmp_path)
    home = Home(tmp_path)
    view = open_trial("r/t#0", home)
    found = Outcomes("r", "polite@1", {"r/t#0": TrialOutcome("t", 0, "completed", None, True)})

    checked = verify_trial(view, home, view.task, agent, looked_at=other_verdict(found, [polite]))

    assert checked.status == status
    assert (checked.why == "the verdict is another: passed, and in the replay failed") is (status == "differs")


def test_a_verdict_that_only_a_model_or_nobody_gives_again_is_not_compared():
    judge = tt.judge(lambda view: True, name="j", version="1")
    assert other_verdict(Outcomes("r", judge.id, {}), [judge]) is None
    assert other_verdict(Outcomes("r", "other@1", {}), [polite]) is None


def test_only_verdicts_of_completed_trials_count(tmp_path):
    told = other_verdict(
        Outcomes("r", "polite@1", {str(TrialId("r", "t", 0)): TrialOutcome("t", 0, "capped", None, True)}), [polite]
    )
    words[:] = ["no"]
    tt.Suite([tt.Task(id="t")], agent, [polite]).run("r", trials=1, home=tmp_path)
    assert told(open_trial("r/t#0", Home(tmp_path))) is None
