"""Whose fault a failed trial was, by rules."""

from __future__ import annotations

import pytest

from cassettes.model import Ending, Error, Interaction, Mark, Value
from replay.analysis.run_stats import run_stats
from replay.labelling import attribution
from replay.labelling.faults import faults_of
from replay.labelling.labels import Label, append_label
from replay.store import Store
from replay.view import View
from tests.factories import write_cassette
from tests.replay import recorded
from tests.replay.recorded import keep, needs_airline, read, steps

STOPPED = Ending("completed", "user_stop")
TOOL = "cancel_reservation"  # of a benchmark whose tools have known effects


def write(name=TOOL, **arguments):
    return recorded.write(name, **arguments)


@pytest.fixture
def judge(home):
    """What the rules say of a failed trial with these calls, of a task that expects those actions."""

    def make(calls, expected=((TOOL, {"n": 1}), (TOOL, {"n": 2})), *, said=(), ending=STOPPED, **definition):
        actions = [{"name": name, "kwargs": arguments} for name, arguments in expected]
        path = home.run("r") / "t" / "0.cassette"
        marks = [Mark("message", 0.0, {"role": role, "content": text, "step": step}) for role, text, step in said]
        made = steps(calls) if not any(isinstance(c, Interaction) for c in calls) else list(calls)
        task = {"id": "t", "actions": actions, **definition}
        write_cassette(path, made, ending, marks=marks, run="r", task="t", task_definition=task)
        return attributed(home, View(path, home))

    return make


def attributed(home, view):
    with Store(home) as store:
        store.refresh()
        return attribution.attributed(store, view)


def kind(found):
    return found.fault, found.type, found.step


def done(number, call, outcome):
    return Interaction(step=number, call=call, outcome=outcome, started=2 * number, ended=2 * number + 1)


@pytest.mark.parametrize(
    ("calls", "told"),
    [
        ([write(n=1), write(n=3)], ("agent", "wrong argument", 1)),
        ([read(), write("drop", n=1)], ("agent", "wrong tool", 1)),
        ([write(n=1), write(n=2), write(n=3)], ("agent", "wrong decision", 2)),
        ([write(n=1)], ("agent", "partial", None)),
        ([read()], ("agent", "wrong decision", None)),
    ],
)
def test_the_first_write_that_is_not_as_it_should_be_gives_the_type(judge, calls, told):
    found = judge(calls)
    assert kind(found) == told
    assert found.against == "expected actions"


def test_a_refused_write_changed_nothing(judge):
    calls = [write(n=1), write(n=9), write(n=2), write(n=3)]
    outcomes = ["ok", "Error: no", "ok", "ok"]
    made = [done(n, call, Value(said)) for n, (call, said) in enumerate(zip(calls, outcomes, strict=True))]
    assert kind(judge(made)) == ("agent", "wrong decision", 3)


def test_a_call_without_a_declared_effect_decides_nothing(judge):
    found = judge([read()], [("do", {"n": 1})])
    assert (kind(found), "no effect is declared" in found.because) == ((None, None, None), True)


def test_an_expected_write_that_was_refused_for_its_arguments_is_a_wrong_argument(judge):
    assert kind(judge([done(0, write(n=9), Value("Error: no"))], [(TOOL, {"n": 1})])) == ("agent", "wrong argument", 0)


def test_a_right_write_that_raised_is_the_tools_fault_unless_it_was_tried_again(judge):
    raised = done(0, write(n=1), Error(RuntimeError("503")))
    assert kind(judge([raised], [(TOOL, {"n": 1})])) == ("tool", None, 0)


def test_a_cap_and_an_exception_of_the_agent_are_its_own(judge):
    assert kind(judge([read()], ending=Ending("capped", "30 steps"))) == ("agent", "other", None)


@pytest.mark.parametrize(
    ("ending", "told"),
    [
        (Ending("error", "ValueError", "agent"), ("agent", "other", None)),
        (Ending("error", "503", "infrastructure"), ("infrastructure", None, None)),
        (Ending("unanswered", "missed"), (None, None, None)),
    ],
)
def test_how_it_ended_comes_first(judge, ending, told):
    assert kind(judge([write(n=1), write(n=2)], ending=ending)) == told


def test_what_was_not_told_makes_right_writes_partial(judge):
    said = [("assistant", "all done", 2)]
    found = judge([write(n=1), write(n=2)], said=said, outputs=["54.04"])
    assert (kind(found), "'54.04'" in found.because) == (("agent", "partial", None), True)


def test_who_did_all_that_is_expected_and_failed_met_a_faulty_task(judge):
    assert kind(judge([write(n=1), write(n=2)])) == ("task", None, None)


@pytest.mark.parametrize(
    ("asked", "answer", "fault"),
    [
        ("I would cancel W1. Shall I proceed?", "###STOP###", "user"),
        ("I would cancel W1. Shall I proceed?", "No. ###STOP###", "agent"),
        ("Is there anything else I can help you with?", "###STOP###", "agent"),
        ("It is done.", "###STOP###", "agent"),
    ],
)
def test_a_user_who_stops_instead_of_answering_is_at_fault(judge, asked, answer, fault):
    found = judge([read()], said=[("user", "hi", 0), ("assistant", asked, 1), ("user", answer, 1)])
    assert found.fault == fault


def test_without_expected_actions_a_passing_trial_is_the_measure(home):
    keep(home, "r/t#0", [write(n=1)], passed=True)
    failed = keep(home, "r/t#1", [write(n=2)], passed=False)
    found = attributed(home, failed)
    assert (kind(found), found.against) == (("agent", "wrong argument", 0), "r/t#0")


def test_with_nothing_to_hold_it_against_no_rule_fits(home):
    assert kind(attributed(home, keep(home, "r/t#0", [write(n=1)], passed=False))) == (None, None, None)


def test_pass_k_is_told_with_and_without_what_is_not_the_agents(home):
    keep(home, "r/t#0", [write(n=1)], passed=True)
    keep(home, "r/t#1", [write(n=1)], passed=True)
    raised = [done(0, write(n=1), Error(RuntimeError("503")))]
    keep(home, "r/t#2", raised, passed=False)
    agents = keep(home, "r/t#3", [write(n=7)], passed=False)
    append_label(home, Label(trial="r/t#3", author="ada", fault="agent", digest=agents.cassette.digest))
    with Store(home) as store:
        store.refresh()
        faults = faults_of(store, run_stats(store, "r"))
    assert faults.rules.by_fault == {"tool": 1, "agent": 1}
    assert faults.rules.by_type == {"wrong argument": 1}
    assert [(row.k, round(row.value, 4), row.without) for row in faults.rules.pass_k][:2] == [
        (1, 0.5, pytest.approx(2 / 3)),
        (2, round(1 / 6, 4), pytest.approx(1 / 3)),
    ]
    assert faults.rules.pass_k[3].without is None
    assert (faults.rules.agreement.n, faults.rules.agreement.observed) == (1, 1.0)
    assert faults.to_dict()["rules"]["source"] == "rules"


@needs_airline
def test_the_116_failures_of_the_airline_recordings_by_rules(airline_home):
    with Store(airline_home) as store:
        store.refresh()
        rules = faults_of(store, run_stats(store, "airline")).rules
    assert rules.by_fault == {"agent": 116}
    assert sum(rules.by_type.values()) == 116
    assert rules.by_type["other"] == 5  # the capped ones
    right = {one.trial for one in rules.trials if "its writes were right by then" in one.because}
    assert right == {"airline/2#1", "airline/46#3"}
    assert rules.problems == ()
