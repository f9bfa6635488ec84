from __future__ import annotations

import pytest

from cassettes.model import TrialId
from replay.report.html.beside import beside, beside_data
from replay.view import View
from tests import factories
from tests.reports import conversation, tool


@pytest.fixture
def view(tmp_path):
    def make(index, steps, **definition):
        path = tmp_path / f"{index}.cassette"
        return View(factories.write_cassette(path, steps, run="r", task="t", index=index, task_definition=definition))

    return make


def test_the_first_other_write_against_a_passing_trial(view):
    found = beside(view(0, conversation(32.0)), [view(1, conversation(16.0)), view(2, conversation(1.0))])
    assert (
        found.line()
        == "other arguments: step 4 issue_refund: amount is 32.0, not 16.0, compared with r/t#1, which passed"
    )
    data = beside_data(found, {"r/t#1": 7})
    assert (data["against"], data["number"], data["passing"], data["step"], data["other"]) == ("r/t#1", 7, 2, 4, 4)
    assert data["rows"] == [
        ["same", 1, 1],
        [
            "arguments",
            4,
            4,
            'issue_refund(order_id="W1", amount=32.0)',
            'issue_refund(order_id="W1", amount=16.0)',
            [["amount", "32.0", "16.0"]],
            [],
        ],
    ]


def test_the_same_writes_are_said_to_be_the_same(view):
    found = beside(view(0, conversation()), [view(1, conversation())])
    assert found.line() == "its writes are those of r/t#1, which passed"
    assert {row[0] for row in beside_data(found, {})["rows"]} == {"same"}


def test_a_same_call_with_another_result_is_told(view):
    found = beside(
        view(0, [tool(0, "look", "read", {"a": 1}, {"price": 5})]),
        [view(1, [tool(0, "look", "read", {"a": 1}, {"price": 4})])],
    )
    (row,) = beside_data(found, {})["rows"]
    assert (row[0], row[5], row[6]) == ("result", [], [["price", "5", "4"]])


def test_extra_and_missing_calls_have_no_other_side(view):
    one, two = tool(0, "one", "write", {}, 1), tool(0, "two", "write", {}, 1)
    rows = beside_data(beside(view(0, [one]), [view(1, [two])]), {})["rows"]
    assert {tuple(row[:3]) for row in rows} == {("extra", 0, None), ("missing", None, 0)}


def test_without_a_passing_trial_the_expected_actions_serve(view):
    actions = [{"name": "issue_refund", "kwargs": {"order_id": "W1", "amount": 16.0}}]
    found = beside(view(0, conversation(32.0), actions=actions), [])
    assert found.against is None
    assert found.line().endswith("compared with the actions that the task expects")
    assert "against" not in beside_data(found, {})


@pytest.mark.parametrize("definition", [{}, {"actions": None}, {"actions": ["of another form"]}])
def test_with_nothing_to_compare_there_is_no_comparison(view, definition):
    assert beside(view(0, conversation(), **definition), []) is None


def test_hostile_arguments_are_shown(view):
    found = beside(
        view(0, [tool(0, "w", "write", {"a": "x\u202ey\x00"}, 1)]), [view(1, [tool(0, "w", "write", {}, 1)])]
    )
    assert "\u202e" not in str(beside_data(found, {}))
    assert str(TrialId("r", "t", 1)) in found.line()
