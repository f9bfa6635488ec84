from __future__ import annotations

from itertools import permutations

import pytest

from cassettes.errors import BadInput
from cassettes.model import KINDS, Call
from replay.policy import RECORD, REPLAY, Policy, Selector, freeze


def call(kind="tool", name="quote", actor="agent", *, external=True):
    return Call(kind, name, {}, actor=actor, external=external)


@pytest.mark.parametrize(
    ("text", "selected", "left"),
    [
        ("tool", [call()], [call(actor="user"), call("model")]),
        ("agent/tool", [call()], [call(actor="judge")]),
        ("user/model", [call("model", actor="user")], [call("model"), call(actor="user")]),
        ("user", [call("model", actor="user"), call(actor="user"), call("http", actor="user")], [call("model")]),
        ("tool:quote", [call()], [call(name="quotes"), call("http", "quote")]),
        ("tool:q*", [call(), call(name="q")], [call(name="Quote")]),
        ("http:GET *", [call("http", "GET h/a")], [call("http", "POST h/a")]),
        ("http:GET h:80/*", [call("http", "GET h:80/a")], [call("http", "GET h/a")]),
        ("tool:a[bc]", [call(name="ab")], [call(name="ad")]),
        (
            "external",
            [call(), call("http"), call(actor="user")],
            [call(external=False), call("model"), call("clock"), call("random")],
        ),
        ("clock", [call("clock")], [call("random"), call("clock", actor="user")]),
        ("user/random", [call("random", actor="user")], [call("random")]),
    ],
)
def test_what_a_selector_means(text, selected, left):
    selector = Selector.parse(text)
    assert all(selector.matches(one) for one in selected)
    assert not any(selector.matches(one) for one in left)


@pytest.mark.parametrize("actor", ["agent", "user", "judge", "emulator"])
def test_a_bare_actor_is_all_its_kinds_but_clock_and_random(actor):
    selector = Selector.parse(actor)
    assert [kind for kind in KINDS if selector.matches(call(kind, actor=actor))] == ["model", "tool", "http"]


@pytest.mark.parametrize(
    "text",
    ["", "tools", "nobody/tool", "/tool", "tool:", "user/", "user:x", "external:x", "agent/external", "a/b/tool"],
)
def test_what_is_no_selector(text):
    with pytest.raises(BadInput) as raised:
        Selector.parse(text)
    assert repr(text) in str(raised.value)
    assert "\n" not in str(raised.value)


def test_the_most_specific_rule_wins_in_any_order():
    rules = [
        (Selector.parse("external"), "refuse"),
        (Selector.parse("tool"), "frozen"),
        (Selector.parse("tool:q*"), "refuse"),
        (Selector.parse("tool:quote"), "live"),
    ]
    for order in permutations(rules):
        policy = Policy("freeze", order)
        assert policy.decide(call()) == "live"
        assert policy.decide(call(name="query")) == "refuse"
        assert policy.decide(call(name="other")) == "frozen"
        assert policy.decide(call("http")) == "refuse"
        assert policy.decide(call("model")) == "live"


def test_among_equals_the_last_wins():
    frozen, live = (Selector.parse("tool"), "frozen"), (Selector.parse("agent/tool"), "live")
    assert Policy("freeze", (frozen, live)).decide(call()) == "live"
    assert Policy("freeze", (live, frozen)).decide(call()) == "frozen"


def test_the_two_plain_policies():
    everything = [
        call(kind, actor=actor, external=out) for kind in KINDS for actor in ("agent", "user") for out in (0, 1)
    ]
    assert {RECORD.decide(one) for one in everything} == {"live"}
    assert {REPLAY.decide(one) for one in everything} == {"frozen"}
    assert (RECORD.frozen, REPLAY.frozen) == (False, True)


def test_freezing():
    policy = freeze([" external ", "user/model"], on_miss="error", ignore=["a.b"])
    assert (policy.mode, policy.on_miss.to_list(), policy.ignore, policy.frozen) == (
        "freeze",
        ["error"],
        ("a.b",),
        True,
    )
    assert policy.decide(call()) == policy.decide(call("model", actor="user")) == "frozen"
    assert policy.decide(call(external=False)) == policy.decide(call("model")) == policy.decide(call("clock")) == "live"


def test_what_cannot_be_frozen():
    with pytest.raises(BadInput, match="nothing to freeze"):
        freeze([])
    with pytest.raises(BadInput, match="no selector"):
        freeze(["external", "nonsense"])
    with pytest.raises(BadInput, match="'guess' is none of extend, fail, live, error"):
        freeze(["tool"], on_miss="guess")
