"""The failed trials by fault: counted as pass^k counts them, and pass^1 without what is not the agent's fault."""

from __future__ import annotations

import json

import pytest

from cassettes.model import Ending
from replay.analysis.run_stats import run_stats
from replay.labelling.faults import faults_of
from replay.labelling.labels import Label, append_label
from replay.report.faults_text import faults_lines
from replay.store import Store
from tests.replay.recorded import keep, read

CAPPED = Ending("capped", "30 steps")
INFRASTRUCTURE = Ending("error", "503", "infrastructure")
UNANSWERED = Ending("unanswered", "missed")


@pytest.fixture
def tell(home):
    """The faults of a run: of each trial a verdict or an ending, and what whom said of it."""

    def make(trials, **options):
        for name, (outcome, said) in trials.items():
            ending = {"ending": outcome} if isinstance(outcome, Ending) else {"passed": outcome}
            view = keep(home, f"r/{name}", [read()], **ending)
            for author, fault in said.items():
                append_label(home, Label(trial=f"r/{name}", author=author, fault=fault, digest=view.cassette.digest))
        with Store(home) as store:
            store.refresh()
            return faults_of(store, run_stats(store, "r", **options))

    return make


def counts(faults):
    return {row.fault: row.trials for row in faults.rows if row.trials}


@pytest.mark.parametrize(("threshold", "failed"), [(None, 1), (1.0, 1), (1.5, 2)])
def test_a_threshold_says_which_trials_failed(tell, threshold, failed):
    assert tell({"a#0": (True, {}), "a#1": (False, {})}, threshold=threshold).failed == failed


def test_failed_trials_are_counted_by_fault(tell):
    faults = tell(
        {
            "a#0": (True, {}),
            "a#1": (False, {"ada": "agent"}),
            "a#2": (False, {"ada": "tool"}),
            "a#3": (CAPPED, {"ada": "tool"}),
            "b#0": (False, {}),
            "b#1": (True, {"ada": "user"}),
            "b#2": (True, {}),
            "b#3": (INFRASTRUCTURE, {"ada": "infrastructure"}),
        }
    )
    assert faults.failed == 4
    assert counts(faults) == {"agent": 1, "tool": 2, "unlabelled": 1}
    assert {row.fault: row.share for row in faults.rows if row.trials} == {
        "agent": 0.25,
        "tool": 0.5,
        "unlabelled": 0.25,
    }
    assert [row.fault for row in faults.rows] == ["agent", "user", "tool", "task", "infrastructure", "unlabelled"]


def test_pass_1_without_others_faults_leaves_their_failed_trials_out(tell):
    faults = tell(
        {
            "a#0": (True, {}),
            "a#1": (False, {"ada": "agent"}),
            "a#2": (False, {"ada": "tool"}),
            "a#3": (False, {"ada": "user"}),
            "b#0": (True, {"ada": "task"}),
            "b#1": (False, {}),
        }
    )
    assert faults.pass_1 == pytest.approx((1 / 4 + 1 / 2) / 2)
    assert faults.others == 2
    assert faults.pass_1_without_others == pytest.approx((1 / 2 + 1 / 2) / 2)  # b#0 passed: it stays
    alone = {row.fault: row.pass_1_without for row in faults.rows}
    assert alone["tool"] == alone["user"] == pytest.approx((1 / 3 + 1 / 2) / 2)
    assert (alone["agent"], alone["task"], alone["unlabelled"]) == (None, None, None)
    assert faults.emptied == ()


def test_a_task_without_a_trial_left_is_named_and_not_counted(tell):
    faults = tell({"a#0": (False, {"ada": "task"}), "b#0": (True, {}), "b#1": (False, {"ada": "agent"})})
    assert faults.emptied == ("a",)
    assert faults.pass_1_without_others == pytest.approx(0.5)


def test_where_no_trial_is_left_there_is_no_number(tell):
    faults = tell({"a#0": (False, {"ada": "task"})})
    assert (faults.pass_1, faults.pass_1_without_others, faults.emptied) == (0.0, None, ("a",))


def test_trials_on_which_authors_differ_are_disputed_and_left_out_nowhere(tell):
    faults = tell({"a#0": (False, {"ada": "tool", "bo": "user"}), "a#1": (False, {"ada": "tool", "bo": "tool"})})
    assert counts(faults) == {"tool": 1, "disputed": 1}
    assert (faults.others, faults.pass_1_without_others) == (1, 0.0)


def test_where_only_bounds_are_told_there_are_counts_and_no_pass_1(tell):
    faults = tell({"a#0": (False, {"ada": "tool"}), "a#1": (UNANSWERED, {}), "b#0": (True, {})})
    assert counts(faults) == {"tool": 1}
    assert (faults.pass_1, faults.pass_1_without_others) == (None, None)
    assert {row.pass_1_without for row in faults.rows} == {None}


def test_the_convention_says_which_trials_failed(tell):
    trials = {"a#0": (INFRASTRUCTURE, {"ada": "infrastructure"}), "a#1": (True, {})}
    assert tell(trials, errors="fail").failed == 1


def test_a_run_in_which_nothing_failed_has_no_share(tell):
    faults = tell({"a#0": (True, {})})
    assert faults.failed == 0
    assert {row.share for row in faults.rows} == {0.0}


def test_two_authors_of_the_same_trials_are_compared_passed_ones_too(tell):
    faults = tell(
        {
            "a#0": (False, {"ada": "agent", "bo": "agent", "cy": "agent"}),
            "a#1": (False, {"ada": "tool", "bo": "agent"}),
            "a#2": (True, {"ada": "user", "bo": "user"}),
            "a#3": (False, {"ada": "tool", "dee": "task"}),
        }
    )
    pairs = {(pair.first, pair.second): pair.agreement for pair in faults.labellers}
    assert {names: found.n for names, found in pairs.items()} == {
        ("ada", "bo"): 3,
        ("ada", "cy"): 1,
        ("ada", "dee"): 1,
        ("bo", "cy"): 1,
    }
    assert pairs["ada", "bo"].observed == pytest.approx(2 / 3)
    assert pairs["ada", "bo"].kappa == pytest.approx(0.5)  # by hand: p_e = 1/3
    assert pairs["ada", "cy"].kappa is None
    json.dumps(faults.to_dict(), allow_nan=False)


def test_the_types_of_the_agents_faults_are_shares_of_its_own_faults(home):
    """Of 40 failures 4 were the user's or the task's; the shares of the kinds are of the other 36."""
    kinds = [("agent", "wrong argument")] * 20 + [("agent", "wrong decision")] * 9 + [("agent", "partial")] * 7
    for place, (fault, kind) in enumerate([*kinds, *[("user", None)] * 3, ("task", None)]):
        view = keep(home, f"r/t{place}#0", [read()], passed=False)
        label = Label(trial=f"r/t{place}#0", author="ada", fault=fault, type=kind, digest=view.cassette.digest)
        append_label(home, label)
    with Store(home) as store:
        store.refresh()
        faults = faults_of(store, run_stats(store, "r"))
    assert (faults.failed, counts(faults)) == (40, {"agent": 36, "user": 3, "task": 1})
    assert faults.by_type == {"wrong argument": 20, "wrong decision": 9, "partial": 7}
    told = "the agent's by their labels: 20 wrong argument (56%), 9 wrong decision (25%), 7 partial (19%)"
    assert told in list(faults_lines(faults))


def test_types_on_which_authors_differ_are_disputed_and_none_is_said_to_be_none(home):
    for name, said in {"a": ["x", "y"], "b": ["x", None], "c": [None]}.items():
        view = keep(home, f"r/{name}#0", [read()], passed=False)
        for place, kind in enumerate(said):
            label = {"author": f"author {place}", "fault": "agent", "type": kind, "digest": view.cassette.digest}
            append_label(home, Label(trial=f"r/{name}#0", **label))
    with Store(home) as store:
        store.refresh()
        faults = faults_of(store, run_stats(store, "r"))
    assert faults.by_type == {"disputed": 1, "x": 1, "no type": 1}
