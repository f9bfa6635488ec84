"""The checks that a task brings, on recorded trials."""

from __future__ import annotations

from decimal import Decimal

import pytest
from attrs import define

import trialtape as tt
from cassettes.model import Reply
from replay.scoring import final_state, forbidden_tools, required_outputs, task_checks
from tests import factories


@tt.tool(effect="write", external=False)
def refund(amount: float) -> float:
    return amount


@pytest.fixture
def ended_with(tmp_path):
    """The view of a trial of this task that ended with that state."""

    def make(state, **task):
        with tt.trial(run="r", task=tt.Task(id="t", **task), home=tmp_path) as trial:
            if state is not None:
                trial.track(state)
            refund(1.0)
            for role, text in (("user", "It is 54.04"), ("assistant", "You get 1,054.04 EUR")):
                trial.message(role, text)
        return tt.open(f"r/t#{trial.index}", home=tmp_path)

    return make


@define(slots=False)
class Box:
    status: str = "sent"


ORDER = {"orders": {"W1": {"status": "sent", "paid": 25, "flag": True, "items": ["a", {"n": 1}], "gift": None}}}


@pytest.mark.parametrize(
    "expected",
    [
        {},
        {"orders": {"W1": {"status": "sent"}}},
        {"orders": {"W1": {"paid": 25.0}}},
        {"orders": {"W1": {"flag": True}}},
        {"orders": {"W1": {"gift": None}}},
        {"orders": {"W1": {"items": ["a", {"n": 1.0}]}}},
        {"orders": {"W1": {"items": {0: "a", 1: {"n": 1}}}}},
    ],
)
def test_the_keys_that_matter_have_their_values(ended_with, expected):
    score = final_state(ended_with(ORDER, expected=expected))
    assert (score.value, score.passed, score.evidence) == (1.0, True, {"wrong": []})


@pytest.mark.parametrize(
    ("expected", "path"),
    [
        ({"orders": {"W1": {"status": "paid"}}}, "orders.W1.status"),
        ({"orders": {"W2": {}}}, "orders.W2"),
        ({"orders": {"W1": {"missing": None}}}, "orders.W1.missing"),
        ({"orders": {"W1": {"flag": 1}}}, "orders.W1.flag"),
        ({"orders": {"W1": {"paid": "25"}}}, "orders.W1.paid"),
        ({"orders": {"W1": {"paid": Decimal(25)}}}, "orders.W1.paid"),
        ({"orders": {"W1": {"items": ["a"]}}}, "orders.W1.items"),
        ({"orders": {"W1": {"items": ["a", {"n": True}]}}}, "orders.W1.items"),
        ({"orders": {"W1": {"items": {5: "a"}}}}, "orders.W1.items.5"),
        ({"orders": {"W1": {"gift": {"to": "Ada"}}}}, "orders.W1.gift.to"),
    ],
)
def test_another_value_or_a_missing_key_fails_with_its_path(ended_with, expected, path):
    score = final_state(ended_with(ORDER, expected=expected))
    assert (score.value, score.passed) == (0.0, False)
    assert [wrong["path"] for wrong in score.evidence["wrong"]] == [path]


def test_a_missing_key_is_told_as_missing(ended_with):
    score = final_state(ended_with({"a": 1}, expected={"b": None}))
    assert score.evidence["wrong"] == [{"path": "b", "expected": None, "missing": True}]


def test_without_an_expectation_or_a_state_it_is_unscored(ended_with):
    assert final_state(ended_with({"a": 1})).passed is None
    assert final_state(ended_with(None, expected={"a": 1})).passed is None


@pytest.mark.parametrize(
    ("outputs", "missing"),
    [
        (["1054.04"], []),
        (["1,054.04 eur"], []),
        (["YOU GET"], []),
        (["It is"], ["It is"]),  # the user said so, not the agent
        (["55.00", "You"], ["55.00"]),
    ],
)
def test_required_outputs_are_looked_for_in_what_the_agent_said(ended_with, outputs, missing):
    score = required_outputs(ended_with(None, outputs=outputs))
    assert (score.passed, score.evidence) == (not missing, {"missing": missing})


def test_required_outputs_of_a_conversation_of_models_are_the_agents_replies(tmp_path):
    said = [("user", "order 17"), ("agent", "It costs 5.40"), ("user", "and 99?"), ("judge", "88")]
    steps = [
        factories.interaction(place, call=factories.call("model", "m", actor=actor), reply=Reply(text=text))
        for place, (actor, text) in enumerate(said)
    ]
    definition = {"id": "t", "outputs": ["5.40", "99", "88"]}
    path = factories.write_cassette(tmp_path / "0.cassette", steps, task_definition=definition)
    assert required_outputs(tt.open(path)).evidence == {"missing": ["99", "88"]}


def test_a_forbidden_tool_fails_with_its_step(ended_with):
    score = forbidden_tools(ended_with(None, forbidden_tools={"refund", "other"}))
    assert (score.passed, score.evidence) == (False, {"called": [{"step": 0, "tool": "refund"}]})
    assert forbidden_tools(ended_with(None, forbidden_tools={"other"})).passed is True
    assert forbidden_tools(ended_with(None)).passed is None


@pytest.mark.parametrize(
    ("task", "passed"),
    [
        ({}, None),
        ({"expected": {"a": 1}}, True),
        ({"expected": {"a": 1}, "outputs": ["1054.04"], "forbidden_tools": {"other"}}, True),
        ({"expected": {"a": 1}, "outputs": ["nothing"]}, False),
        ({"expected": {"a": 2}, "outputs": ["1054.04"]}, False),
        ({"expected": {"a": 1}, "forbidden_tools": {"refund"}}, False),
    ],
)
def test_all_checks_together(ended_with, task, passed):
    assert task_checks(ended_with({"a": 1}, **task)).passed is passed


def test_a_check_that_cannot_be_made_leaves_it_unscored_unless_another_fails(ended_with):
    assert task_checks(ended_with(None, expected={"a": 1}, outputs=["You"])).passed is None
    assert task_checks(ended_with(None, expected={"a": 1}, outputs=["nothing"])).passed is False


def test_attributes_of_an_object_count_as_keys(tmp_path):
    with tt.trial(run="r", task=tt.Task(id="t", expected={"status": "sent"}), home=tmp_path) as trial:
        trial.track(Box())
        refund(1.0)
    assert final_state(tt.open("r/t#0", home=tmp_path)).passed is True
