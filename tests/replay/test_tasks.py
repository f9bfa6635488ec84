from __future__ import annotations

import threading

import pytest

from cassettes.errors import BadInput
from replay.tasks import Task, definition_of, digests_of, fresh_state, task_from

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
