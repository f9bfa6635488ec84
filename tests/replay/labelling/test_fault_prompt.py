"""What a judge of faults is told, and which of its answers are one."""

from __future__ import annotations

import json

import pytest

from cassettes.model import Ending, Mark
from replay.labelling.fault_prompt import Verdict, fault_messages, read_verdict
from replay.view import View
from tests.factories import write_cassette
from tests.replay.recorded import read, steps, write

TOLD = {"passed": False, "score": "s@1", "evidence": {"missing": ["54.04"]}, "rules": "agent (partial): told nothing"}
AGENTS = {"fault": "agent", "type": "wrong argument", "user_error": "none", "step": 1, "because": "It took W9."}
USERS = {"fault": "user", "type": None, "user_error": "critical", "step": None, "because": "It left."}
NOBODYS = {"fault": None, "type": None, "user_error": "minor", "step": None, "because": "The user stammered."}


@pytest.fixture
def view(tmp_path):
    """A trial of two steps, of a task that tells what it expects."""
    said = [Mark("message", 0.0, {"role": "user", "content": "Cancel W1, please.", "step": 0})]
    task = {"id": "t", "instruction": "Cancel W1.", "actions": [{"name": "cancel"}], "outputs": ["54.04"]}
    made = steps([read("find", order="W1"), write("cancel", order="W9")])
    path = tmp_path / "0.cassette"
    return View(write_cassette(path, made, Ending("completed", "user_stop"), marks=said, task_definition=task))


def test_a_judge_is_told_the_task_what_it_expects_the_score_the_rules_and_every_step(view):
    system, question = fault_messages(view, TOLD, "An order may be cancelled until it ships.")
    assert (system["role"], question["role"]) == ("system", "user")
    assert system["content"].endswith("An order may be cancelled until it ships.")
    for part in (
        "Cancel W1.",
        '{"actions": [{"name": "cancel"}], "the user must be told": ["54.04"]}',
        "completed (user_stop)",
        'failed by the score s@1, with this evidence:\n{"missing": ["54.04"]}',
        "agent (partial): told nothing",
        "  user: Cancel W1, please.\nstep 0: find(",
        'step 1: cancel({"order": "W9"}) -> cancel done',
    ):
        assert part in question["content"]


def test_without_rules_nothing_is_said_of_rules(view):
    (_, question) = fault_messages(view, {**TOLD, "rules": None})
    assert "Rules" not in question["content"]


@pytest.mark.parametrize("said", [AGENTS, USERS])
@pytest.mark.parametrize("around", ["{}", "```json\n{}\n```", "I think:\n{}"])
def test_an_answer_of_the_form_asked_for_is_read(view, said, around):
    text = around.replace("{}", json.dumps(said))
    assert read_verdict(text, view, passed=False) == Verdict(**said)


def test_of_a_trial_that_passed_nobody_is_at_fault(view):
    assert read_verdict(json.dumps(NOBODYS), view, passed=True) == Verdict(**NOBODYS)
    assert read_verdict(json.dumps(NOBODYS), view, passed=False) is None
    assert read_verdict(json.dumps(AGENTS), view, passed=True) is None


@pytest.mark.parametrize(
    "change",
    [
        {"fault": "environment"},
        {"fault": "Agent"},
        {"fault": ["agent"]},
        {"type": "wrong_argument"},
        {"type": None},
        {"user_error": None},
        {"user_error": True},
        {"step": 2},
        {"step": "1"},
        {"step": True},
        {"because": ""},
        {"because": None},
        {"confidence": 0.9},
        {"fault": "tool"},  # with a type of an agent's fault
        {"fault": "user", "type": None},  # and yet no critical error of the user
    ],
)
def test_an_answer_of_another_form_is_none_and_never_guessed(view, change):
    assert read_verdict(json.dumps({**AGENTS, **change}), view, passed=False) is None


@pytest.mark.parametrize(
    "text", ["", "agent", "{", "[]", "null", json.dumps(AGENTS) * 2, json.dumps({"fault": "agent"})]
)
def test_what_is_no_such_object_is_none(view, text):
    assert read_verdict(text, view, passed=False) is None
