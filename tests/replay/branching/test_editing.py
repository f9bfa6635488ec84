"""Another outcome for a recorded step."""

from __future__ import annotations

import json

import pytest
from attrs import evolve

from cassettes.errors import BadInput
from cassettes.model import Call, Cancelled, Changed, Chunk, Error, Patch, Reply, Stream, Value
from replay.branching.editing import edited, read_edit
from replay.rereading import reread
from tests.factories import call, interaction, model_call

HEAD = {"status": 200, "headers": [["content-type", "application/json"]], "encoding": None, "http_version": "HTTP/1.1"}
BODY = {"id": "c1", "model": "gpt-x", "choices": [{"message": {"content": "hi"}, "finish_reason": "stop"}]}
OTHER = {"id": "c1", "model": "gpt-x", "choices": [{"message": {"content": "bye"}, "finish_reason": "stop"}]}


def asked(outcome, reply=None):
    made = evolve(model_call([{"role": "user", "content": "hello"}]), endpoint="openai-chat /v1/chat/completions")
    return interaction(3, outcome, call=made, reply=reply or Reply(text="hi"))


def unread(call, outcome):
    raise AssertionError("a tool has no reply")


@pytest.mark.parametrize("value", [1, None, "text", [1, {"a": 2.5}], {"status": "open"}])
def test_the_result_of_a_tool_is_what_is_given(value):
    edit = edited(interaction(2, Value({"x": 1})), value, unread)
    assert edit.interaction.outcome == Value(value)
    assert edit.step == 2


def test_what_a_tool_changed_in_its_arguments_stays():
    edit = edited(interaction(0, Value(Changed("old", {"items": [1]}))), "new", unread)
    assert edit.interaction.outcome == Value(Changed("new", {"items": [1]}))


def test_a_tool_that_raised_or_was_cancelled_returns_now():
    for outcome in (Error(ValueError("no")), Cancelled()):
        assert edited(interaction(0, outcome), 5, unread).interaction.outcome == Value(5)


def test_another_value_is_another_digest():
    made = [edited(interaction(0), value, unread).digest for value in (1, True, 1.0, "1", 1)]
    assert len(set(made)) == 4
    assert made[0] == made[-1]


def test_the_body_of_a_models_reply_is_replaced_and_read_again():
    edit = edited(asked(Value({**HEAD, "body": json.dumps(BODY)})), OTHER, reread)
    assert edit.interaction.outcome.value == {**HEAD, "body": json.dumps(OTHER)}
    assert edit.interaction.reply.text == "bye"


def test_the_whole_response_may_be_given():
    whole = {**HEAD, "status": 429, "body": {"error": {"message": "slow down"}}}
    edit = edited(asked(Value({**HEAD, "body": json.dumps(BODY)})), whole, reread)
    assert edit.interaction.outcome.value["status"] == 429
    assert edit.interaction.reply.error == "slow down"


def test_a_model_call_that_reached_nobody_answers_now():
    made = asked(Error(ConnectionError("down")))
    made = interaction(
        3, made.outcome, call=Call("model", "m", {}, endpoint="openai-chat /x", detail={"method": "POST"})
    )
    edit = edited(made, OTHER, reread)
    assert edit.interaction.outcome.value["status"] == 200
    assert edit.interaction.reply.text == "bye"


@pytest.mark.parametrize("value", [{"answer": 42}, "hello", [1], {"choices": []}])
def test_what_is_no_reply_of_the_protocol_is_refused(value):
    with pytest.raises(BadInput, match="no reply that the protocol openai-chat knows"):
        edited(asked(Value({**HEAD, "body": json.dumps(BODY)})), value, reread)


def test_a_stream_is_replaced_by_one_piece():
    text = f"data: {json.dumps({'choices': [{'delta': {'content': 'bye'}}]})}\n\ndata: [DONE]\n\n"
    edit = edited(asked(Stream(HEAD, (Chunk(0.1, b"a"), Chunk(0.2, b"b")))), text, reread)
    assert edit.interaction.outcome == Stream(HEAD, (Chunk(0.0, text.encode()),))
    assert edit.interaction.reply.text == "bye"


def test_a_stream_is_not_replaced_by_a_body():
    with pytest.raises(BadInput, match="is a stream: its edit is the text of the whole stream"):
        edited(asked(Stream(HEAD, ())), OTHER, reread)


def test_a_value_that_cannot_be_kept():
    with pytest.raises(BadInput, match=r"the edit of step 0 .* cannot be kept"):
        edited(interaction(0), object(), unread)


def test_it_says_that_the_state_stays_as_recorded():
    patched = interaction(1, call=call(effect="write"), patch=Patch(()))
    assert "stays as recorded" in edited(patched, "no", unread).told()
    assert "stays as recorded" not in edited(interaction(1), "no", unread).told()


@pytest.mark.parametrize(
    ("text", "recorded", "expected"),
    [
        ('{"a": 1}\n', {"a": 0}, {"a": 1}),
        ("3", 1, 3),
        ("null", 1, None),
        ("no such order\n", {"a": 0}, "no such order"),
        ('{"a": 1}\n', '{"a": 0}', '{"a": 1}'),
        ("12345", "10115", "12345"),
        ('"quoted"', "10115", "quoted"),
        ("two\nlines\r\n", "x", "two\nlines"),
        ("", "x", ""),
    ],
)
def test_a_file_holds_json_or_text(text, recorded, expected):
    assert read_edit(text, interaction(0, Value(recorded))) == expected


def test_the_file_of_a_streams_edit_is_text():
    assert read_edit("[1]", interaction(0, Stream(HEAD, ()))) == "[1]"
