from __future__ import annotations

import pytest
from attrs import evolve

from cassettes.model import Mark, Value
from replay.spoken import Said, said_before
from replay.view import View
from tests import factories
from tests.reports import conversation, model, tool


@pytest.fixture
def told(tmp_path):
    """What is said in a trial of these steps, by step."""

    def tell(steps, marks=()):
        return said_before(View(factories.write_cassette(tmp_path / "0.cassette", steps, marks=marks)))

    return tell


def test_what_the_user_said_and_the_prompt_stand_before_the_call_that_heard_them(told):
    found = told(conversation())
    assert [(said.role, said.text[:20]) for said in found[0]] == [
        ("prompt of the agent", "You are the agent of"),
        ("user", "My plate is broken."),
    ]
    assert found[3] == [Said("user", "Yes, please.")]


def test_what_a_step_shows_already_is_left_out(told):
    assert set(told(conversation())) == {0, 3}


def test_the_same_words_said_twice_are_said_twice(told):
    one = [{"role": "user", "content": "Yes."}]
    two = [*one, {"role": "assistant", "content": "Sure?"}, {"role": "user", "content": "Yes."}]
    found = told([model(0, one, "Sure?"), model(1, two, "Good.")])
    assert found == {0: [Said("user", "Yes.")], 1: [Said("user", "Yes.")]}


def test_a_result_that_no_recorded_tool_gave_is_shown(told):
    one = [{"role": "user", "content": "Hello"}]
    two = [*one, {"role": "tool", "content": "undeclared", "tool_call_id": "1"}]
    assert told([model(0, one), model(1, two, "ok")])[1] == [Said("tool", "undeclared")]


def test_marked_messages_stand_before_the_step_they_name_and_the_last_ones_at_the_end(told):
    marks = [
        Mark("message", 0.0, {"role": "user", "content": "first", "step": 0}),
        Mark("message", 0.0, {"role": "user", "content": "last", "step": 5}),
    ]
    found = told([tool(0, "look", "read", {}, 1)], marks)
    assert found == {0: [Said("user", "first")], None: [Said("user", "last")]}


@pytest.mark.parametrize(
    ("message", "said"),
    [
        ({"role": "user", "content": [{"type": "text", "text": "hi"}]}, [Said("user", "hi")]),
        ({"role": "user", "parts": [{"text": "hi"}]}, [Said("user", "hi")]),
        ({"role": "user", "content": [{"text": "hi"}]}, [Said("user", "hi")]),
        (
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "1", "content": [{"text": "42"}]}]},
            [Said("tool", "42")],
        ),
        ({"role": "user", "content": [{"toolResult": {"content": [{"text": "42"}]}}]}, [Said("tool", "42")]),
        ({"role": "user", "parts": [{"functionResponse": {"response": {"a": 1}}}]}, [Said("tool", '{"a": 1}')]),
        ({"type": "function_call_output", "output": "42"}, [Said("tool", "42")]),
        ({"role": "user", "content": [{"type": "image", "url": "u"}]}, [Said("user", '{"type": "image", "url": "u"}')]),
        ({"role": "assistant", "content": "no"}, []),
        ({"role": "model", "parts": [{"functionCall": {"name": "f"}}]}, []),
        ("plain", [Said("user", "plain")]),
        (7, []),
    ],
)
def test_messages_are_read_in_the_shapes_of_the_protocols(told, message, said):
    assert told([model(0, [message])]).get(0, []) == said


def test_a_prompt_outside_the_messages_is_a_prompt(told):
    call = factories.model_call([{"role": "user", "content": "hi"}], system=[{"type": "text", "text": "be kind"}])
    steps = [factories.interaction(0, Value({}), call=call)]
    assert told(steps)[0] == [Said("prompt of the agent", "be kind"), Said("user", "hi")]


def test_of_a_simulated_user_only_the_prompt_is_shown(told):
    call = factories.model_call([{"role": "system", "content": "you are Ada"}, {"role": "user", "content": "agent's"}])
    steps = [factories.interaction(0, Value({}), call=evolve(call, actor="user"))]
    assert told(steps)[0] == [Said("prompt of the user", "you are Ada")]
