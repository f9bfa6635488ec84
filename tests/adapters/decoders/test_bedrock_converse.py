from __future__ import annotations

import json

import pytest
from hypothesis import given

from adapters.decoders import recognise
from adapters.decoders.bedrock_converse import BEDROCK_CONVERSE
from cassettes.model import Reply, ToolRequest, Usage
from tests.adapters.decoders.wire import damaged, frame, grows, json_of, names_in, survives

ASKED = {"messages": [{"role": "user", "content": [{"text": "hi"}]}], "system": [{"text": "be kind"}]}
USAGE = {
    "inputTokens": 3,
    "outputTokens": 40,
    "totalTokens": 163,
    "cacheReadInputTokens": 100,
    "cacheWriteInputTokens": 20,
}
RESPONSE = {
    "output": {
        "message": {
            "role": "assistant",
            "content": [
                {"reasoningContent": {"reasoningText": {"text": "well", "signature": "s"}}},
                {"text": "Grüße, "},
                {"text": "du."},
                {"toolUse": {"toolUseId": "srv", "name": "search", "input": {}, "type": "server_tool_use"}},
                {"toolUse": {"toolUseId": "t1", "name": "find", "input": {"a": "ß", "n": [1]}}},
                {"toolUse": {"toolUseId": "t2", "name": "now", "input": {}}},
            ],
        }
    },
    "stopReason": "tool_use",
    "usage": USAGE,
    "metrics": {"latencyMs": 12},
}
REPLY = Reply(
    text="Grüße, du.",
    tool_calls=(ToolRequest("t1", "find", '{"a": "ß", "n": [1]}'), ToolRequest("t2", "now", "{}")),
    finish="tool_use",
    usage=Usage(input=123, output=40, cached=100, written=20),
)


def event(kind, payload):
    return frame(payload, event_type=kind, content_type="application/json", message_type="event")


def delta(index, **fields):
    return ("contentBlockDelta", {"contentBlockIndex": index, "delta": fields, "p": "abcd"})


def start(index, **tool):
    return ("contentBlockStart", {"contentBlockIndex": index, "start": {"toolUse": tool}})


def stop(index):
    return ("contentBlockStop", {"contentBlockIndex": index})


EVENTS = (
    ("messageStart", {"role": "assistant"}),
    delta(0, reasoningContent={"text": "well"}),
    stop(0),
    delta(1, text="Grü"),
    delta(1, text="ße, "),
    stop(1),
    delta(2, text="du."),
    stop(2),
    start(3, toolUseId="srv", name="search", type="server_tool_use"),
    stop(3),
    start(4, toolUseId="t1", name="find"),
    delta(4, toolUse={"input": '{"a": "'}),
    start(5, toolUseId="t2", name="now"),
    delta(4, toolUse={"input": 'ß", "n": [1]}'}),
    stop(4),
    stop(5),
    ("messageStop", {"stopReason": "tool_use"}),
    ("metadata", {"usage": USAGE, "metrics": {"latencyMs": 12}}),
)


def stream(*events):
    return b"".join(event(*e) for e in events)


STREAM = stream(*EVENTS)


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("/model/amazon.nova-lite-v1%3A0/converse", "amazon.nova-lite-v1:0"),
        ("/model/eu.anthropic.claude-v2:0/converse-stream", "eu.anthropic.claude-v2:0"),
        ("/bedrock/model/arn%3Aaws%3Abedrock%3Aus-east-1%3A1%3Aprompt%2FP1%3A2/converse", None),
    ],
)
def test_what_is_a_conversation(path, name):
    assert recognise("POST", path, ASKED) is BEDROCK_CONVERSE
    assert BEDROCK_CONVERSE.model(path, ASKED) == (name or "arn:aws:bedrock:us-east-1:1:prompt/P1:2")
    assert BEDROCK_CONVERSE.history == "messages"


def test_a_stored_prompt_needs_no_messages():
    assert recognise("POST", "/model/arn/converse", {"promptVariables": {}}) is BEDROCK_CONVERSE


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("GET", "/model/m/converse", ASKED),
        ("POST", "/model/m/invoke", ASKED),
        ("POST", "/converse", ASKED),
        ("POST", "/model/m/converse", None),
        ("POST", "/model/m/converse", {"messages": "hi"}),
    ],
)
def test_what_is_none(method, path, body):
    assert recognise(method, path, body) is None


def test_a_whole_answer():
    assert BEDROCK_CONVERSE.reply(200, json.dumps(RESPONSE)) == REPLY


def test_a_stream_gives_what_the_whole_gives():
    assert BEDROCK_CONVERSE.reply_from_stream(STREAM) == REPLY
    assert BEDROCK_CONVERSE.reply_from_stream(json.dumps(RESPONSE).encode()) == REPLY


def test_a_stream_that_is_cut_gives_what_came():
    grows(BEDROCK_CONVERSE, STREAM)


def test_a_damaged_message_ends_what_is_read():
    spoilt = stream(EVENTS[3]) + b"\0" * 20 + stream(*EVENTS)
    assert BEDROCK_CONVERSE.reply_from_stream(spoilt) == Reply(text="Grü")


def test_a_text_with_citations():
    content = [{"citationsContent": {"content": [{"text": "so "}, {"text": "it is"}], "citations": []}}]
    data = {**RESPONSE, "output": {"message": {"role": "assistant", "content": content}}}
    assert BEDROCK_CONVERSE.reply(200, json.dumps(data)).text == "so it is"


@pytest.mark.parametrize("reason", ["guardrail_intervened", "content_filtered"])
def test_refusals(reason):
    whole = BEDROCK_CONVERSE.reply(200, json.dumps({**RESPONSE, "stopReason": reason}))
    streamed = BEDROCK_CONVERSE.reply_from_stream(stream(("messageStop", {"stopReason": reason})))
    assert whole.refusal == streamed.refusal == whole.finish == reason


@pytest.mark.parametrize(
    ("status", "body", "message"),
    [
        (400, '{"message": "too long"}', "too long"),
        (403, '{"Message": "not you"}', "not you"),
        (500, "", "HTTP 500"),
    ],
)
def test_error_answers(status, body, message):
    assert BEDROCK_CONVERSE.reply(status, body) == Reply(error=message)


def test_errors_within_a_stream():
    thrown = frame({"message": "slow"}, exception_type="throttlingException", message_type="exception")
    reply = BEDROCK_CONVERSE.reply_from_stream(stream(EVENTS[3]) + thrown)
    assert (reply.text, reply.error, reply.finish) == ("Grü", "slow", None)
    unnamed = frame({}, exception_type="modelStreamErrorException", message_type="exception")
    assert BEDROCK_CONVERSE.reply_from_stream(unnamed).error == "modelStreamErrorException"
    broken = frame(b"", error_code="500", error_message="broken", message_type="error")
    assert BEDROCK_CONVERSE.reply_from_stream(broken).error == "broken"


def test_what_is_no_answer():
    assert BEDROCK_CONVERSE.reply(200, "hello") is None
    assert BEDROCK_CONVERSE.reply(200, '{"inputTokens": 5}') is None
    assert BEDROCK_CONVERSE.reply_from_stream(b"") is None
    assert BEDROCK_CONVERSE.reply_from_stream(STREAM[:20]) is None


def test_the_end_of_a_stream():
    assert BEDROCK_CONVERSE.stream_ended(STREAM)
    assert not BEDROCK_CONVERSE.stream_ended(STREAM[:-1])
    assert BEDROCK_CONVERSE.stream_ended(frame({}, exception_type="x", message_type="exception"))


def test_the_samples_are_what_botocore_reads():
    session = pytest.importorskip("botocore.session")
    from botocore.eventstream import EventStreamBuffer
    from botocore.parsers import EventStreamJSONParser, RestJSONParser

    service = session.Session().get_service_model("bedrock-runtime")
    shape = service.operation_model("Converse").output_shape
    head = {"status_code": 200, "headers": {"content-type": "application/json"}}
    whole = RestJSONParser().parse({**head, "body": json.dumps(RESPONSE).encode()}, shape)
    assert {**whole, "ResponseMetadata": None} == {**RESPONSE, "ResponseMetadata": None}
    buffer = EventStreamBuffer()
    buffer.add_data(STREAM)
    shape = service.shape_for("ConverseStreamOutput")
    parsed = [EventStreamJSONParser().parse(m.to_response_dict(), shape) for m in buffer]
    assert [next(iter(p.items())) for p in parsed] == [
        (kind, {k: v for k, v in payload.items() if k != "p"}) for kind, payload in EVENTS
    ]


@given(damaged(STREAM) | damaged(json.dumps(RESPONSE).encode()))
def test_damage_makes_no_decoder_raise(data):
    survives(BEDROCK_CONVERSE, data)


@given(json_of(*names_in(RESPONSE, *(payload for _, payload in EVENTS))))
def test_no_answer_makes_a_decoder_raise(data):
    survives(BEDROCK_CONVERSE, json.dumps(data).encode())
    survives(BEDROCK_CONVERSE, b"".join(event(kind, data) for kind in {kind for kind, _ in EVENTS}))
