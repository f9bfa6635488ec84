"""Which tools were called, how often, with what, and in which order."""

from __future__ import annotations

import pytest

import trialtape as tt
from cassettes.model import Error, Interaction, Value
from replay.scoring import before_writes, calls_tool, expected_actions, in_order, never_calls
from tests.replay.recorded import read, write


def answered(*pairs):
    """Interactions one after the other, each with what came back."""
    return [
        Interaction(step=n, call=call, outcome=outcome, started=2 * n, ended=2 * n + 1)
        for n, (call, outcome) in enumerate(pairs)
    ]


def test_a_required_tool_must_be_called_often_enough_and_not_too_often(viewed):
    view = viewed([read("get"), write("put"), write("put")])
    assert calls_tool("put")(view).passed is True
    assert calls_tool("put", at_least=3)(view).passed is False
    assert calls_tool("put", at_most=1)(view).passed is False
    assert calls_tool("p*", at_least=2, at_most=2)(view).evidence == {"tool": "p*", "steps": [1, 2], "calls": 2}
    assert calls_tool("drop")(view).passed is False


def test_arguments_decide_which_calls_count(viewed):
    view = viewed([write("pay", amount=25.0, note="x"), write("pay", amount=30)])
    assert calls_tool("pay", {"amount": 25})(view).evidence["steps"] == [0]
    score = calls_tool("pay", {"amount": 26})(view)
    assert score.passed is False
    assert [other["step"] for other in score.evidence["other arguments"]] == [0, 1]
    assert score.evidence["other arguments"][0]["wrong"] == [{"path": "amount", "expected": 26, "found": 25.0}]


def test_a_forbidden_call_fails_on_the_way_to_a_right_answer_too(viewed):
    view = viewed([write("refund", amount=5), write("cancel")])
    assert never_calls("refund")(view).passed is False
    assert never_calls("refund", {"amount": 6})(view).passed is True
    assert never_calls("delete_*")(view).passed is True


def test_limits_that_contradict_each_other_are_refused():
    with pytest.raises(tt.BadInput, match="cannot both hold"):
        calls_tool("x", at_least=2, at_most=1)


def test_other_settings_are_another_version():
    assert calls_tool("x").id != calls_tool("y").id
    assert calls_tool("x", {"a": 1}).id != calls_tool("x", {"a": 2}).id
    assert calls_tool("x").id == calls_tool("x").id


def test_expected_actions_are_counted_in_any_order_as_a_share(viewed):
    actions = [
        {"name": "cancel_reservation", "kwargs": {"reservation_id": "A"}},
        {"name": "get_user_details", "kwargs": {"user_id": "u"}},
        {"name": "send_certificate", "arguments": {"amount": 50, "note": "x"}, "compare_args": ["amount"]},
        {"name": "book_reservation", "kwargs": {"cabin": "economy"}},
    ]
    made = [
        write("send_certificate", amount=50.0, note="y"),
        read("get_user_details"),  # an argument that is left out does not count
        write("cancel_reservation", reservation_id="B"),
    ]
    score = expected_actions(viewed(made, actions=actions))
    assert score.value == 0.5
    assert score.evidence["writes done"] == "1 of 3"
    assert score.evidence["reads done"] == "1 of 1"
    assert [action["name"] for action in score.evidence["missing"]] == ["cancel_reservation", "book_reservation"]


def test_without_expected_actions_it_is_unscored(viewed):
    assert expected_actions(viewed([read()])).passed is None


def test_identity_must_be_known_before_any_write(viewed):
    by = before_writes("find_user_*", "get_user")
    good = viewed([read("find_user_by_email"), write("cancel"), write("refund")])
    late = viewed([write("cancel"), read("get_user"), write("refund")])
    assert by(good).passed is True
    assert by(late).evidence["writes before it"] == [{"step": 0, "tool": "cancel"}]
    assert by(viewed([write("cancel")])).passed is False
    assert by(viewed([read("look")])).passed is True


@pytest.mark.parametrize("outcome", [Error(ValueError("no such user")), Value("Error: user not found")])
def test_a_call_that_went_wrong_identifies_nobody(viewed, outcome):
    view = viewed(answered((read("get_user"), outcome), (write("cancel"), Value("done"))))
    assert before_writes("get_user")(view).passed is False


def test_a_write_that_began_before_the_answer_came_was_too_early(viewed):
    asked = Interaction(step=0, call=read("get_user"), outcome=Value("u"), started=0, ended=3)
    wrote = Interaction(step=1, call=write("cancel"), outcome=Value("done"), started=1, ended=2)
    assert before_writes("get_user")(viewed([asked, wrote])).passed is False


def test_one_tool_comes_before_another(viewed):
    by = in_order("quote", "pay")
    assert by(viewed([read("quote"), write("pay")])).passed is True
    assert by(viewed([write("pay"), read("quote"), write("pay")])).evidence == {"calls": 2, "too early": [0]}
    assert by(viewed([read("look")])).passed is True


def test_before_writes_needs_a_tool():
    with pytest.raises(tt.BadInput, match="needs the name of a tool"):
        before_writes()
