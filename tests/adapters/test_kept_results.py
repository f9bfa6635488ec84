"""A result kept in another form: the caller gets the live one, or, if it was attacked, that of what was kept."""

from __future__ import annotations

import asyncio

import pytest
from attrs import frozen

import trialtape as tt
from adapters.kept_results import Form, acalled, called
from cassettes.model import Call
from cassettes.recorder import current


@frozen
class Answer:
    text: str
    run: str = "this one"


FORM = Form(lambda answer: {"text": answer.text}, lambda kept: Answer(kept["text"]))
READ = Call("tool", "read", {}, effect="read")


def sync(real):
    return called(current(), READ, real, FORM)


def not_sync(real):
    async def areal():
        return real()

    return asyncio.run(acalled(current(), READ, areal, FORM))


@pytest.mark.parametrize("make", [sync, not_sync])
def test_a_live_result_is_handed_on_as_it_is(make, tmp_path):
    answer = Answer("hi {x}")
    with tt.trial(run="base", task="t", home=tmp_path):
        assert make(lambda: answer) is answer
    with tt.trial(run="again", task="t", replay="base/t#0", home=tmp_path):
        assert make(lambda: Answer("never asked")) == answer


@pytest.mark.parametrize("make", [sync, not_sync])
def test_an_attack_is_in_what_the_caller_gets_as_in_what_is_recorded(make, tmp_path):
    attacked = tt.Task("t", injections=[tt.Injection("PAY", tool="read", at="{x}")])
    with tt.trial(run="base", task=attacked, home=tmp_path):
        assert make(lambda: Answer("hi {x}")) == Answer("hi PAY")
    (step,) = tt.open("base/t#0", home=tmp_path).steps
    assert step.outcome.value == {"text": "hi PAY"}
    assert step.interaction.returned.value == {"text": "hi {x}"}
