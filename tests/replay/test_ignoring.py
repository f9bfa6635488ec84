from __future__ import annotations

import pytest

from cassettes.errors import BadInput
from replay.ignoring import checked_rules, counting_arguments, matching_key, rule_for
from tests.factories import call

ARGUMENTS = {"id": 1, "metadata": {"id": 2, "a": 3}, "items": [{"id": 4, "b": 5}, {"id": 6}]}


@pytest.mark.parametrize(
    ("rule", "left"),
    [
        ("id", {"metadata": {"id": 2, "a": 3}, "items": [{"id": 4, "b": 5}, {"id": 6}]}),
        ("metadata.id", {"id": 1, "metadata": {"a": 3}, "items": [{"id": 4, "b": 5}, {"id": 6}]}),
        ("items[*].id", {"id": 1, "metadata": {"id": 2, "a": 3}, "items": [{"b": 5}, {}]}),
        ("items[1].id", {"id": 1, "metadata": {"id": 2, "a": 3}, "items": [{"id": 4, "b": 5}, {}]}),
        ("items[0]", {"id": 1, "metadata": {"id": 2, "a": 3}, "items": [None, {"id": 6}]}),
        ("no.such[3].path", ARGUMENTS),
    ],
)
def test_a_path(rule, left):
    made = call("tool", name="charge", arguments=ARGUMENTS)
    assert counting_arguments(made, [rule]) == left
    assert counting_arguments(made, [f"tool:charge:{rule}"]) == left
    assert counting_arguments(made, [f"tool:other:{rule}"]) == ARGUMENTS
    assert counting_arguments(made, [f"model:{rule}"]) == ARGUMENTS
    assert dict(made.arguments) == ARGUMENTS


def test_a_selector_says_for_whom():
    agents, users = call("model", arguments={"id": 1}), call("model", actor="user", arguments={"id": 1})
    assert counting_arguments(agents, ["model:id"]) == {}
    assert counting_arguments(users, ["model:id"]) == {"id": 1}
    assert counting_arguments(users, ["user/model:id"]) == counting_arguments(users, ["user:id"]) == {}
    request = call("http", name="GET localhost:80/x", arguments={"url": "u"})
    assert counting_arguments(request, ["http:GET localhost:80/*:url"]) == {}
    assert counting_arguments(request, ["external:url"]) == {}


def test_the_key_is_that_of_the_rest():
    one, other = (call(arguments={"a": 1, "id": number}) for number in (1, 2))
    assert matching_key(one, ()) != matching_key(other, ())
    assert matching_key(one, ["id"]) == matching_key(other, ["id"])


@pytest.mark.parametrize("rule", ["", "tool:", "a..b", "a[x]", "[0]", "tool:x:a b:", "a."])
def test_another_form_is_refused(rule):
    with pytest.raises(BadInput, match="cannot be ignored"):
        checked_rules([rule])


def test_an_unknown_selector_is_refused():
    with pytest.raises(BadInput, match="no selector"):
        checked_rules(["tols:x:id"])


def test_rules_are_kept_once_and_in_order():
    assert checked_rules("id") == ("id",)
    assert checked_rules(["b", "a", "b"]) == ("b", "a")


@pytest.mark.parametrize(
    ("made", "path", "rule"),
    [
        (call("tool", name="charge"), "key", "tool:charge:key"),
        (call("tool", name="charge"), "items[3].id", "tool:charge:items[*].id"),
        (call("tool", name="odd[name]"), "key", "tool:key"),
        (call("model", actor="user"), "metadata.id", "user/model:metadata.id"),
        (call("http"), "body.id", "http:body.id"),
        (call("tool"), "a:b", None),
        (call("tool"), "", None),
    ],
)
def test_the_rule_for_a_path(made, path, rule):
    assert rule_for(made, path) == rule
    if rule is not None:
        checked_rules([rule])
