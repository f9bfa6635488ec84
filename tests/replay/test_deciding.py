"""Decisions as values: what the policy and the recordings say of a call."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from cassettes.errors import Divergence, Refused, Unanswered
from cassettes.model import Call, Error, Interaction, Origin, TrialId, Value
from cassettes.redact import Redactor
from replay.deciding import Decider, Live, Made, Played, Recorded, Span, Stopped, Unanswerable
from replay.playback import Playback
from replay.policy import RECORD, REPLAY, Policy, Selector, freeze
from replay.recording import Recording
from replay.worlds import World

READ = Call("tool", "look", {"x": 1}, effect="read")
OTHER = Call("tool", "look", {"x": 2}, effect="read")
WRITE = Call("tool", "pay", {}, effect="write")
MODEL = Call("model", "m", {})
RECORDING = Recording(TrialId("r", "t", 0), [Interaction(0, READ, Value("seen"), 0, 1)])


def decider(policy, source=None):
    journal = SimpleNamespace(state=None, problems=[])
    return Decider(policy, Redactor(), source, None, journal)


def ticket(call, step=0):
    return SimpleNamespace(call=call, step=step, started=2 * step, key="", extends=None, is_span=False, origin=Origin())


def decided(policy, call, source=None):
    return decider(policy, source).decide(ticket(call))


def test_while_recording_everything_is_live():
    assert decided(RECORD, READ) == decided(RECORD, WRITE) == decided(RECORD, MODEL) == Live()


def test_what_the_policy_refuses_is_kept_and_stops_the_trial():
    found = decided(Policy("record", ((Selector.parse("tool:pay"), "refuse"),)), WRITE)
    assert isinstance(found, Unanswerable)
    assert found.verdict == "refused"
    assert isinstance(found.halt, Refused)


def test_a_replay_serves_what_is_recorded_and_stops_at_what_is_not():
    served = decided(REPLAY, READ, Playback(RECORDING))
    assert isinstance(served, Recorded)
    assert (served.entry.interaction.outcome, served.origin) == (Value("seen"), Origin("own", "r/t#0", 0))
    stopped = decided(REPLAY, OTHER, Playback(RECORDING))
    assert isinstance(stopped, Stopped)
    assert isinstance(stopped.halt, Divergence)


@pytest.mark.parametrize(
    ("on_miss", "call", "expected"),
    [
        (None, OTHER, Live(Origin("extended"), (), asked_for=True)),
        ("live", OTHER, Live(asked_for=True)),
        ("emulate", OTHER, Played),
        ("error", OTHER, Made),
        ("fail", OTHER, "missed"),
        (None, WRITE, "missed"),
        ("live", WRITE, "refused"),
        ("tool:pay=live", WRITE, Live(asked_for=True)),
    ],
)
def test_in_a_freeze_a_miss_is_decided_by_what_the_user_wants(on_miss, call, expected):
    found = decided(freeze(["tool"], on_miss=on_miss), call, World([RECORDING]))
    if isinstance(expected, str):
        assert isinstance(found, Unanswerable)
        assert (found.verdict, type(found.halt)) == (expected, Unanswered)
    elif isinstance(expected, type):
        assert isinstance(found, expected)
    else:
        assert found == expected


def test_an_error_that_the_agent_gets_names_the_tool():
    made = decided(freeze(["tool"], on_miss="error"), OTHER, World([RECORDING]))
    assert isinstance(made.outcome, Error)
    assert str(made.outcome.error) == "look: no recorded answer"


def test_what_is_not_frozen_is_live_and_its_writes_decide_later_reads():
    chosen = decider(freeze(["tool:look"]), World([RECORDING]))
    wrote = ticket(WRITE)
    assert chosen.decide(wrote) == Live()
    chosen.happened(wrote, Interaction(0, WRITE, Value("paid"), 0, 1))
    later = chosen.decide(ticket(READ, step=1))
    assert later == Live(Origin("extended"), later.extends, asked_for=True)
    assert len(later.extends) == 1  # after the payment nothing is recorded


def test_a_recorded_span_runs_and_what_is_inside_it_is_looked_up():
    outer = Call("tool", "agent", {}, effect="read")
    inside = [Interaction(0, outer, Value("done"), 0, 3), Interaction(1, MODEL, Value("said"), 1, 2, parent=0)]
    assert decided(freeze(["tool"]), outer, World([Recording(TrialId("r", "t", 0), inside)])) == Span()


@pytest.mark.parametrize(("policy", "lets"), [(RECORD, True), (REPLAY, False), (freeze(["tool"]), False)])
def test_connections_are_free_only_where_nothing_is_frozen(policy, lets):
    assert decider(policy).lets_connect is lets
