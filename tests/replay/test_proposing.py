from __future__ import annotations

import tomllib

import pytest
from attrs import evolve

from cassettes.model import Call, Interaction, Patch, TrialId, Value
from replay.effects import effects_in
from replay.proposing import effects_text, proposals
from replay.recording import Recording


def trial(*calls, index=0, patches=()):
    """A recording of (name, argument, answer), one after the other."""
    interactions = [
        Interaction(step, Call("tool", name, {"x": argument}), Value(answer), 2 * step, 2 * step + 1)
        for step, (name, argument, answer) in enumerate(calls)
    ]
    patch = Patch(((("a",), None, b"\x01"),))
    return Recording(
        TrialId("r", "t", index), [evolve(i, patch=patch) if i.step in patches else i for i in interactions]
    )


def proposed(*recordings):
    return {p.name: p for p in proposals(recordings)}


@pytest.mark.parametrize(
    ("name", "effect"),
    [
        ("get_order_details", "read"),
        ("list_all_airports", "read"),
        ("searchFlights", "read"),
        ("calculate", "pure"),
        ("think", "pure"),
        ("cancel_order", "write"),
        ("order_pizza", "write"),
        ("get_and_delete", "write"),
        ("checkout", "unknown"),
        ("frobnicate", "unknown"),
    ],
)
def test_a_name_proposes_an_effect(name, effect):
    found = proposed(trial((name, 1, "ok")))[name]
    assert (found.effect, found.basis) == (effect, "none" if effect == "unknown" else "name")


def test_a_call_that_changed_the_tracked_state_writes_whatever_its_name_says():
    found = proposed(trial(("get_order", 1, "ok"), ("get_order", 2, "ok"), patches={1}))["get_order"]
    assert (found.effect, found.basis) == ("write", "observed")
    assert "1 of its calls changed the tracked state" in found.evidence


def test_a_tool_after_which_a_read_answers_otherwise_is_not_proposed_as_a_read():
    quiet = proposed(trial(("get_order", 1, "open"), ("peek_in", 1, "ok"), ("get_order", 1, "closed")))
    assert (quiet["peek_in"].effect, quiet["peek_in"].basis) == ("unknown", "observed")
    assert "it may write: r/t#0 step 2: get_order answered something else after it" in quiet["peek_in"].evidence
    assert quiet["get_order"].effect == "read"
    assert "other answers came after: peek_in (1)" in quiet["get_order"].evidence


def test_a_read_that_answers_otherwise_with_nothing_between_stays_unknown():
    found = proposed(trial(("get_price", 1, 5), ("get_price", 1, 6)))["get_price"]
    assert (found.effect, found.basis) == ("unknown", "observed")
    assert any("with no call between, at r/t#0 step 1" in told for told in found.evidence)


def test_a_pure_tool_that_answered_otherwise_is_a_read_at_most():
    found = proposed(trial(("calculate", 1, 5), ("cancel_order", 1, "ok"), ("calculate", 1, 6)))["calculate"]
    assert found.effect == "read"


def test_the_same_answer_each_time_does_not_make_a_read():
    found = proposed(trial(*[("frobnicate", 1, "ok")] * 9))["frobnicate"]
    assert (found.effect, found.basis) == ("unknown", "none")
    assert "asked again in the same trial 8 times: 8 times the same answer" in found.evidence


def test_what_a_tool_declares_is_kept():
    call = Call("tool", "frobnicate", {}, effect="read")
    found = proposed(Recording(TrialId("r", "t", 0), [Interaction(0, call, Value(1), 0, 1)]))["frobnicate"]
    assert (found.effect, found.basis, found.declared) == ("read", "declared", "read")


def test_http_methods_propose():
    calls = [Call("http", f"{method} shop.example/x", {}) for method in ("GET", "POST")]
    recording = Recording(TrialId("r", "t", 0), [Interaction(i, c, Value(1), i, i) for i, c in enumerate(calls)])
    assert [(p.effect, p.basis) for p in proposals([recording])] == [("read", "method"), ("unknown", "none")]


def test_the_file_declares_what_was_proposed():
    found = proposals([trial(("get_order", 1, "ok"), ('odd "name"\n', 1, "ok"), ("cancel_order", 1, "ok"))])
    text = effects_text(found)
    declared = effects_in(tomllib.loads(text), "file")
    for proposal in found:
        assert declared.applied(Call(proposal.kind, proposal.name, {})).effect == proposal.effect
    assert "# 1 calls in 1 trials" in text
