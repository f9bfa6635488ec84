"""Case 17: a tool was renamed, or got a new argument; the miss says so, and how to declare it."""

from __future__ import annotations

import pytest

import trialtape as tt
from cassettes.model import Call, Interaction, Value
from replay.counterparts import likely_counterpart, new_arguments
from replay.recording import Entry


def recorded(name, **arguments):
    call = Call("tool", name, arguments, effect="read")
    return Entry(Interaction(0, call, Value(1), started=1, ended=2, at=0.0, duration=0.1), name, "o")


def asked(name, **arguments):
    return Call("tool", name, arguments, effect="read")


@pytest.mark.parametrize(
    ("call", "names"),
    [
        (asked("fetch_order", order_id=1), "get_order"),
        (asked("look_up", order_id=1), "get_order"),  # another name altogether, but the same arguments
        (asked("get_orders", order_id=2), "get_order"),
        (asked("look_up", order_id=2), None),
        (asked("get_order2", number=1), None),
        (asked("list_airport"), "list_airports"),
        (asked("frob"), None),
    ],
)
def test_the_likely_counterpart_has_the_same_arguments_or_a_name_that_is_much_alike(call, names):
    entries = [recorded("send_mail", to="a"), recorded("get_order", order_id=1), recorded("list_airports")]
    found = likely_counterpart(call, entries, ())
    assert (None if found is None else found.interaction.call.name) == names


def test_only_arguments_that_came_are_new():
    call = asked("quote", key="a", service="fast", unit="kg")
    assert new_arguments(recorded("quote", key="a").interaction.call, call, ()) == [
        "tool:quote:service",
        "tool:quote:unit",
    ]
    assert new_arguments(recorded("quote", key="b").interaction.call, call, ()) == []
    assert new_arguments(recorded("quote", key="a", old=1).interaction.call, call, ()) == []
    assert new_arguments(call, call, ()) == []


@tt.tool(effect="read")
def get_order(order_id: int) -> int:
    return order_id


@tt.tool(effect="read")
def fetch_order(order_id: int) -> int:
    raise AssertionError("ran")


@tt.tool(effect="read", name="get_order")
def with_currency(order_id: int, currency: str = "USD") -> int:
    raise AssertionError("ran")


def test_17_a_renamed_tool_is_told_with_the_name_to_declare_it_under(trial):
    with trial(run="a"):
        get_order(7)
    with pytest.raises(tt.Unanswered) as raised, trial(run="b", freeze="tool", source="a", offline=True):
        fetch_order(7)
    lines = str(raised.value).splitlines()
    assert lines[-2:] == [
        "  recorded: get_order with the same arguments, at step 0",
        '  If it was renamed, declare it under its old name: @tt.tool(name="get_order")',
    ]
    assert raised.value.report["counterpart"] == {"step": 0, "name": "get_order"}
    renamed = tt.tool(effect="read", name="get_order")(fetch_order.__wrapped__)
    with trial(run="c", freeze="tool", source="a", offline=True):
        assert renamed(7) == 7


def test_17_a_new_optional_argument_is_told_with_the_rule_that_declares_it(trial):
    with trial(run="a"):
        get_order(7)
    with (
        pytest.raises(tt.Unanswered, match="--ignore tool:get_order:currency") as raised,
        trial(run="b", freeze="tool", source="a", offline=True),
    ):
        with_currency(7)
    assert raised.value.report["ignore"] == ["tool:get_order:currency"]
    with trial(run="c", freeze="tool", source="a", offline=True, ignore=raised.value.report["ignore"]):
        assert with_currency(7) == 7
