"""A plain loop agent, driven by the recorded model answers, gets every recorded tool answer in its place."""

from __future__ import annotations

import json

import pytest

import trialtape as tt
from cassettes.model import Call, Reply
from cassettes.recorder import current, hand_out
from tests.replay.recorded import AIRLINE

pytestmark = pytest.mark.skipif(
    not AIRLINE.exists(), reason=f"{AIRLINE} is not here: the tau-bench recordings are no part of the project"
)


def never(**_):
    raise AssertionError("a tool ran")


def asked(call: Call):
    ticket = current().begin(call)
    assert ticket.answer is not None, "a frozen trial let a call go live"
    return hand_out(ticket.answer)


def loop(view) -> list[tuple[int, object]]:
    """Ask what the model is recorded to have been asked, and call the tools that its answers name; their results."""
    results = []
    steps = list(view.steps)
    place = 0
    while place < len(steps):
        step = steps[place]
        asked(step.call)
        place += 1
        reply: Reply | None = step.reply
        for wanted in reply.tool_calls if reply is not None and step.call.actor == "agent" else ():
            if place == len(steps) or steps[place].call.kind != "tool":
                break  # the recorded conversation ended before the tool was called
            recorded = steps[place]
            tool = tt.tool(name=wanted.name, effect=recorded.call.effect)(never)
            arguments = json.loads(wanted.arguments)
            results.append((recorded.number, recorded.outcome.value, tool(**arguments)))
            place += 1
    return results


def test_every_airline_trial(airline_home, tmp_path):
    tools = 0
    for trial, path in airline_home.trials("airline"):
        view = tt.open(path)
        with tt.trial(run="again", task=trial.task, index=trial.index, replay=str(path), home=tmp_path) as again:
            results = loop(view)
        assert [(number, now) for number, _, now in results] == [(number, was) for number, was, _ in results]
        assert len(results) == sum(step.call.kind == "tool" for step in view.steps)
        assert set(again.verdicts) == {"own"}
        tools += len(results)
    assert tools == 1164
