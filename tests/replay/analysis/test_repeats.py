from __future__ import annotations

import pytest
from attrs import evolve

from cassettes.model import Origin, Reply
from replay.analysis.repeats import repeats_in
from tests import factories


def asked(step, text, answer, temperature=0, actor="agent", **arguments):
    call = factories.call(
        "model",
        "m",
        actor=actor,
        arguments={"messages": [{"role": "user", "content": text}], "temperature": temperature, **arguments},
    )
    made = factories.interaction(step, call=call)
    return evolve(made, reply=Reply(text=answer))


def test_different_answers_to_the_same_request_are_found():
    found = repeats_in(
        [
            ("r/a#0", [asked(0, "good?", "yes"), asked(1, "why?", "so")]),
            ("r/a#1", [asked(0, "good?", "no"), asked(1, "good?", "yes")]),
        ]
    )
    assert (found.calls, found.requests, found.differing) == (4, 2, 1)
    request = found.repeated[0]
    assert (request.model, request.calls, request.answers) == ("m", 3, 2)
    assert request.where == ("r/a#0 step 0", "r/a#1 step 0")


def test_how_an_answer_travels_is_no_part_of_the_request():
    found = repeats_in([("r/a#0", [asked(0, "?", "yes", stream=True), asked(1, "?", "yes")])])
    assert (found.repeated[0].calls, found.repeated[0].answers, found.differing) == (2, 1, 0)


@pytest.mark.parametrize("temperature", [0.7, None])
def test_other_temperatures_do_not_count(temperature):
    found = repeats_in([("r/a#0", [asked(0, "?", "yes", temperature), asked(1, "?", "no", temperature)])])
    assert (found.calls, found.repeated) == (0, ())
    assert found.unknown == (2 if temperature is None else 0)


def test_nested_temperatures_are_seen():
    nested = {"generationConfig": {"temperature": 0.0}}
    assert repeats_in([("r/a#0", [asked(0, "?", "yes", None, **nested)])]).calls == 1


def test_only_one_actor_or_live_calls_count():
    calls = [asked(0, "?", "yes", actor="judge"), asked(1, "?", "no")]
    assert repeats_in([("r/a#0", calls)], "judge").calls == 1
    replayed = [evolve(call, origin=Origin("own", None, None)) for call in calls]
    assert repeats_in([("r/a#0", replayed)]).calls == 0
