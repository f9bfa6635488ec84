"""Which calls after a fork would ask a real thing that lacks frozen writes, and what is told of it."""

from __future__ import annotations

import itertools

import pytest

from cassettes.errors import Refused
from cassettes.model import Call, Header, Interaction, TrialId, Value
from cassettes.redact import Redactor
from cassettes.writer import CassetteWriter
from replay.branching.prefix import Prefix
from replay.deciding import Decider, Live, Unanswerable
from replay.given_policy import GivenPolicy
from replay.journal import Journal
from replay.policy import RECORD, Selector, freeze
from replay.recording import Recording
from replay.state import StateTracker
from replay.tickets import SessionTicket
from replay.worlds import World

TRIAL = TrialId("baseline", "t", 0)


def tool(name="f", *, effect="read", external=True, **arguments):
    return Call("tool", name, arguments, effect=effect, external=external)


PAY = tool("pay", effect="write")
WRITTEN = ((PAY, "paid"), (tool("note", effect="write", external=False), "noted"), (tool("balance"), 7))
SPAN = ((tool("outer", effect="unknown"), "o", 2, 9), (tool("inner"), "i", 3, 4))


@pytest.fixture
def after(tmp_path):
    """What is decided of ``call`` after ``parts``, all of them frozen: recorded before the fork, or in a world."""
    numbers = itertools.count()

    def decide(call, *parts, allow=(), tracked=True, parents=None, at=None, policy=RECORD, world=False):
        recording = Recording(
            TRIAL,
            [
                Interaction(
                    step, p[0], Value(p[1]), *(p[2:] or (2 * step, 2 * step + 1)), parent=(parents or {}).get(step)
                )
                for step, p in enumerate(parts)
            ],
        )
        redactor = Redactor(b"k" * 32)
        journal = Journal(CassetteWriter(tmp_path / f"{next(numbers)}.cassette", Header("r", "t", 0, 0.0), redactor))
        if tracked:
            journal.state = StateTracker({}, redactor)
        at = len(parts) if at is None else at
        prefix = None if world else Prefix(recording, at, None, [Selector.parse(text) for text in allow])
        decider = Decider(policy, redactor, World([recording]) if world else None, prefix, journal)
        asked = [*(part[0] for part in parts[:at]), call]
        for step, one in enumerate(asked):
            ticket = SessionTicket(journal, lambda *_: None, one, step, journal.place(), 0.0, None)
            decision = decider.decide(ticket)
            if step < len(asked) - 1:
                ticket.origin = decision.origin
                decider.happened(ticket, ticket.interaction(decision.entry.interaction.outcome, None, None))
        return decision

    return decide


def goes_on(decision):
    if isinstance(decision, Live):
        return True
    assert isinstance(decision, Unanswerable)
    assert isinstance(decision.halt, Refused)
    return False


def test_a_call_that_may_notice_a_frozen_write_does_not_reach_the_real_thing(after):
    refused = after(tool("balance"), *WRITTEN, at=2).halt
    assert "never saw the write of step 0 (pay)" in str(refused)
    assert "--freeze external" in str(refused)
    assert "--allow-live tool:balance" in str(refused)
    assert "--catch-up tool:pay" in str(refused)
    assert refused.report["write"] == {"step": 0, "name": "pay"}


def test_tools_on_the_tracked_state_models_and_pure_tools_go_on(after):
    assert goes_on(after(tool("notes", external=False), *WRITTEN, at=2))
    assert goes_on(after(tool("add", effect="pure"), *WRITTEN, at=2))
    assert goes_on(after(Call("model", "m", {"messages": []}), *WRITTEN, at=2))


def test_resources_that_do_not_meet_go_on(after):
    written = Call("tool", "pay", {}, effect="write", writes=("account:1",))
    assert goes_on(after(Call("tool", "look", {}, effect="read", reads=("account:2",)), (written, "paid")))
    assert not goes_on(after(Call("tool", "look", {}, effect="read", reads=("account:1",)), (written, "paid")))


def test_what_is_allowed_by_name_goes_on(after):
    assert goes_on(after(tool("balance"), *WRITTEN, at=2, allow=["tool:bal*"]))
    assert not goes_on(after(tool("balance"), *WRITTEN, at=2, allow=["tool:other"]))


def test_a_state_that_nobody_tracks_lacks_the_writes_on_it(after):
    note = (tool("note", effect="write", external=False), "noted")
    refused = after(tool("notes", external=False), note, tracked=False).halt
    assert "a state that is not tracked" in str(refused)
    assert goes_on(after(tool("notes", external=False), note))


def test_a_write_of_unknown_effect_is_told_as_such(after):
    assert "declares no effect" in str(after(tool("look"), (tool("do", effect="unknown"), "done")).halt)


def test_a_span_is_not_refused_its_calls_are(after):
    parts = ((PAY, "p"), *SPAN)
    assert goes_on(after(tool("outer", effect="unknown"), *parts, parents={2: 1}, at=1))
    assert not goes_on(after(tool("inner"), *parts, parents={2: 1}, at=1))


def test_in_a_world_what_is_live_by_its_name_goes_on_and_what_is_live_by_default_does_not(after):
    frozen = freeze(["tool:pay"])
    assert not goes_on(after(tool("look"), (PAY, "paid"), world=True, policy=frozen))
    assert goes_on(after(tool("look"), (PAY, "paid"), world=True, policy=freeze(["external"], live=["tool:lo*"])))
    assert goes_on(after(Call("model", "m", {"messages": []}), (PAY, "paid"), world=True, policy=frozen))
    parts = ((PAY, "p"), *SPAN)
    assert goes_on(after(tool("outer", effect="unknown"), *parts, parents={2: 1}, at=1, world=True, policy=frozen))


@pytest.mark.parametrize(
    ("call", "written", "told"),
    [
        (tool("look"), (tool("do", effect="write"), "x"), "permit it with --catch-up tool:do"),
        (tool("look"), (Call("http", "POST h/x", {}, effect="write"), "x"), "is no tool, and only tools can be"),
        (Call("http", "GET h/x", {}, effect="read"), (PAY, "x"), "only a tool can wait until they are carried out"),
        (tool("look"), (PAY, "x"), "not called in this process, as a function that @tt.tool declares"),
    ],
)
def test_what_cannot_be_carried_out_first_is_told_with_the_reason(after, call, written, told):
    refused = after(call, written, policy=GivenPolicy(catch_up="tool:pay").policy).halt
    assert told in str(refused)
    assert told in refused.report["catch_up"]
