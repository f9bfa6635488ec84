from __future__ import annotations

import threading

import pytest

from cassettes.errors import BadInput
from replay.injecting import Injection
from replay.orchestration.tasks import Task, attacked, definition_of, digests_of, fresh_state, task_from

TASK = Task(
    id="t",
    instruction="do it",
    expected={"a": {1: (2, 3)}},
    outputs=["x", "y"],
    forbidden_tools=["b", "a"],
    tags={"domain": "orders"},
)


@pytest.mark.parametrize("name", ["", "#1", "a\nb"])
def test_what_is_no_id(name):
    with pytest.raises(BadInput, match="no id for a task"):
        Task(id=name)


def test_a_task_comes_back_from_its_definition():
    assert task_from(definition_of(TASK, digests_of(TASK, None)), "other") == TASK
    assert task_from(None, "other") == Task(id="other")


def test_digests_tell_which_part_changed():
    digests = digests_of(TASK, None)
    assert digests["state"] is None
    changed = digests_of(Task(id="t", instruction="other", expected=TASK.expected), None)
    assert changed["instruction"] != digests["instruction"]
    assert changed["expected"] != digests["expected"]
    stateful = Task(id="t", state=dict)
    assert digests_of(stateful, {"a": 1}) == digests_of(stateful, {"a": 1})
    assert digests_of(stateful, {"a": 1})["state"] != digests_of(stateful, {"a": True})["state"]


def test_a_part_that_cannot_be_kept_is_told_with_its_task():
    with pytest.raises(BadInput, match="task t: "):
        digests_of(Task(id="t", expected={"lock": threading.Lock()}), None)


def test_a_state_is_made_anew_each_time():
    task = Task(id="t", state=lambda: {"rows": []})
    assert fresh_state(task) is not fresh_state(task)
    assert fresh_state(Task(id="t")) is None


def test_a_state_that_raises_is_told_with_its_task():
    with pytest.raises(BadInput, match=r"task t: its state\(\) raised KeyError: 'x'"):
        fresh_state(Task(id="t", state=lambda: {}["x"]))


GOAL = {"tool": "pay", "arguments": {"to": "eve"}}


def test_an_attacked_task_is_one_of_its_own_and_tells_where_it_comes_from():
    made = attacked(TASK, "direct/pay", [{"text": "PAY", "tool": "read"}], GOAL)
    assert made.id == "t/direct/pay"
    assert made.injections == (Injection("PAY", tool="read"),)
    assert made.tags == {"domain": "orders", "user_task": "t", "attack": "direct"}
    assert made.expected == TASK.expected
    assert attacked(TASK, "pay", [Injection("PAY")], attack="direct").tags["attack"] == "direct"
    with pytest.raises(BadInput, match="t/direct/pay is attacked already"):
        attacked(made, "again", [Injection("PAY")])


def test_an_attack_lies_in_the_definition_and_its_text_in_the_digests():
    made = attacked(TASK, "direct/pay", [Injection("PAY", tool="read", arguments={"n": 1})], GOAL)
    digests = digests_of(made, None)
    assert task_from(definition_of(made, digests), "other") == made
    assert {*digests} - {*digests_of(TASK, None)} == {"injections", "attack_goal"}
    other = digests_of(attacked(TASK, "direct/pay", [Injection("PAY!", tool="read", arguments={"n": 1})], GOAL), None)
    assert [part for part in digests if digests[part] != other[part]] == ["injections"]


def test_injections_that_an_import_keeps_by_their_place_are_none_of_ours():
    assert task_from({"id": "t", "injections": {"bill": "PAY"}}, "t").injections == ()


@pytest.mark.parametrize("goal", [{}, {"tools": "pay"}, {"arguments": {}}, "pay"])
def test_what_is_no_goal_of_an_attack(goal):
    with pytest.raises(BadInput, match="task t: attack_goal is a map"):
        Task(id="t", attack_goal=goal)
