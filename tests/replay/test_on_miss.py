from __future__ import annotations

import pytest
from attrs import evolve

from cassettes.errors import BadInput
from cassettes.model import Call
from replay.on_miss import EVERYTHING_FAILS, on_miss_rules

READ = Call("tool", "get_order", {}, effect="read")
WRITE = evolve(READ, name="refund", effect="write")
UNKNOWN = evolve(READ, name="frob", effect="unknown")
MODEL = Call("model", "m", {})


@pytest.mark.parametrize(
    ("rules", "call", "action"),
    [
        (None, READ, ("extend", True)),
        (None, evolve(READ, effect="pure"), ("extend", True)),
        (None, WRITE, ("fail", False)),
        (None, UNKNOWN, ("fail", False)),
        (None, MODEL, ("fail", False)),
        ("live", READ, ("live", True)),
        ("live", WRITE, ("live", False)),
        ("live", UNKNOWN, ("live", False)),
        ("live", MODEL, ("live", False)),
        ("tool=live", WRITE, ("live", False)),
        ("tool:refund=live", WRITE, ("live", True)),
        ("tool:re*=live", WRITE, ("live", True)),
        ("model=live", MODEL, ("live", True)),
        (["fail", "tool:get_*=extend"], READ, ("extend", True)),
        (["tool:get_*=extend", "fail"], READ, ("extend", True)),
        (["tool:get_*=extend", "fail"], evolve(READ, name="find"), ("fail", True)),
        (["external=error", "tool=fail"], READ, ("fail", True)),
        (["live", "fail"], READ, ("fail", True)),
    ],
)
def test_the_most_specific_rule_decides_and_a_write_goes_live_by_name_only(rules, call, action):
    assert on_miss_rules(rules).action(call) == action


@pytest.mark.parametrize("rules", ["guess", "tool=", "=live", "tol:x=live", ["live", "nope"]])
def test_other_rules_are_refused(rules):
    with pytest.raises(BadInput, match=r"is none of extend|is no selector"):
        on_miss_rules(rules)


def test_the_rules_are_told_as_they_were_given():
    given = ["fail", "tool:get_*=extend", "user/model=live"]
    assert on_miss_rules(given).to_list() == given
    assert on_miss_rules(on_miss_rules(given)).to_list() == given


def test_offline_lets_everything_fail():
    assert EVERYTHING_FAILS.action(READ) == ("fail", True)
