from __future__ import annotations

import base64
import json

import pytest
from hypothesis import given

from adapters.decoders import recognise
from adapters.decoders.anthropic_messages import ANTHROPIC_MESSAGES
from cassettes.model import Reply, ToolRequest, Usage
from tests.adapters.decoders.wire import damaged, frame, grows, json_of, names_in, sse, survives

ASKED = {"model": "claude-a", "max_tokens": 9, "messages": [{"role": "user", "content": "hi"}]}
HOSTED = {"anthropic_version": "bedrock-2023-05-31", "max_tokens": 9, "messages": []}
BEDROCK = "/model/arn%3Aaws%3Abedrock%3Aeu-west-1%3A1%3Ainference-profile%2Feu.anthropic.claude/"
VERTEX = "/v1/projects/p/locations/l/publishers/anthropic/models/"

MESSAGE = {
    "id": "msg_1",
    "type": "message",
    "role": "assistant",
    "model": "claude-a-1",
    "content": [
        {"type": "thinking", "thinking": "well", "signature": "s"},
        {"type": "text", "text": "Grüße, "},
        {"type": "text", "text": "du."},
        {"type": "server_tool_use", "id": "srv_1", "name": "web_search", "input": {"query": "q"}},
        {"type": "tool_use", "id": "toolu_1", "name": "find", "input": {"a": "ß", "n": [1]}},
        {"type": "tool_use", "id": "toolu_2", "name": "now", "input": {}},
    ],
    "stop_reason": "tool_use",
    "stop_sequence": None,
    "usage": {
        "input_tokens": 3,
        "cache_read_input_tokens": 100,
        "cache_creation_input_tokens": 20,
        "output_tokens": 40,
        "output_tokens_details": {"thinking_tokens": 11},
    },
}
REPLY = Reply(
    text="Grüße, du.",
    tool_calls=(ToolRequest("toolu_1", "find", '{"a": "ß", "n": [1]}'), ToolRequest("toolu_2", "now", "{}")),
    finish="tool_use",
    model="claude-a-1",
    id="msg_1",
    usage=Usage(input=123, output=40, cached=100, reasoning=11, written=20),
)


def start(**usage):
    head = {**MESSAGE, "content": [], "stop_reason": None}
    head["usage"] = {"input_tokens": 3, "cache_read_input_tokens": 100, "cache_creation_input_tokens": 20, **usage}
    return {"type": "message_start", "message": head}


def block(index, first, *deltas):
    yield {"type": "content_block_start", "index": index, "content_block": first}
    for delta in deltas:
        yield {"type": "content_block_delta", "index": index, "delta": delta}
    yield {"type": "content_block_stop", "index": index}


def said(text):
    return {"type": "text_delta", "text": text}


def arguments(text):
    return {"type": "input_json_delta", "partial_json": text}


def end(reason, **more):
    usage = {"output_tokens": 40, "output_tokens_details": {"thinking_tokens": 11}}
    return {"type": "message_delta", "delta": {"stop_reason": reason, "stop_sequence": None, **more}, "usage": usage}


def tool(name, number):
    return {"type": "tool_use", "id": f"toolu_{number}", "name": name, "input": {}}


EVENTS = (
    start(output_tokens=1),
    {"type": "ping"},
    *block(0, {"type": "thinking", "thinking": "", "signature": ""}, {"type": "thinking_delta", "thinking": "well"}),
    *block(1, {"type": "text", "text": ""}, said("Grü"), said("ße, ")),
    *block(2, {"type": "text", "text": ""}, said("du.")),
    *block(3, {"type": "server_tool_use", "id": "srv_1", "name": "web_search", "input": {}}, arguments("{}")),
    *block(4, tool("find", 1), arguments(""), arguments('{"a": "'), arguments('ß", "n": [1]}')),
    *block(5, tool("now", 2), arguments("")),
    end("tool_use"),
    {"type": "message_stop"},
)
STREAM = sse(*EVENTS, named=True)


def bedrock(*events):
    return b"".join(
        frame(
            {"bytes": base64.b64encode(json.dumps(event).encode()).decode(), "p": "abc"},
            event_type="chunk",
            content_type="application/json",
            message_type="event",
        )
        for event in events
    )


@pytest.mark.parametrize(
    ("path", "body", "name"),
    [
        ("/v1/messages", ASKED, "claude-a"),
        ("/anthropic/v1/messages/", ASKED, "claude-a"),
        (BEDROCK + "invoke", HOSTED, "arn:aws:bedrock:eu-west-1:1:inference-profile/eu.anthropic.claude"),
        ("/model/eu.anthropic.claude-v2:0/invoke-with-response-stream", HOSTED, "eu.anthropic.claude-v2:0"),
        (VERTEX + "claude-a@20250101:rawPredict", HOSTED, "claude-a@20250101"),
        (VERTEX + "claude-a%4020250101:streamRawPredict", HOSTED, "claude-a@20250101"),
    ],
)
def test_what_is_a_request_for_a_message(path, body, name):
    assert recognise("POST", path, body) is ANTHROPIC_MESSAGES
    assert ANTHROPIC_MESSAGES.model(path, body) == name


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("GET", "/v1/messages", ASKED),
        ("POST", "/v1/messages/count_tokens", ASKED),
        ("POST", "/v1/messages/batches", {"requests": []}),
        ("POST", "/v1/threads/t/messages", {"role": "user", "content": "x"}),
        ("POST", "/v1/messages", {"messages": []}),
        ("POST", "/v1/messages", [ASKED]),
        ("POST", BEDROCK + "invoke", {"messages": []}),
        ("POST", VERTEX + "count-tokens:rawPredict", HOSTED),
    ],
)
def test_what_is_none(method, path, body):
    assert recognise(method, path, body) is None


def test_a_whole_answer():
    assert ANTHROPIC_MESSAGES.reply(200, json.dumps(MESSAGE)) == REPLY


@pytest.mark.parametrize(
    "data",
    [STREAM, sse(*EVENTS), bedrock(*EVENTS), json.dumps(MESSAGE).encode()],
    ids=["sse", "without names", "bedrock", "a server that does not stream"],
)
def test_a_stream_gives_what_the_whole_gives(data):
    assert ANTHROPIC_MESSAGES.reply_from_stream(data) == REPLY


@pytest.mark.parametrize("data", [STREAM, bedrock(*EVENTS)], ids=["sse", "bedrock"])
def test_a_stream_that_is_cut_gives_what_came(data):
    grows(ANTHROPIC_MESSAGES, data)


def test_a_tool_call_that_is_cut_is_not_taken_for_one_without_arguments():
    events = (start(), *block(0, tool("now", 2)))
    assert ANTHROPIC_MESSAGES.reply_from_stream(sse(*events)).tool_calls[0].arguments == "{}"
    assert ANTHROPIC_MESSAGES.reply_from_stream(sse(*events[:-1])).tool_calls[0].arguments == ""


def test_blocks_that_arrive_interleaved():
    first, second = list(block(0, tool("a", 1), arguments("[1"), arguments("]"))), list(block(1, tool("b", 2)))
    mixed = [first[0], first[1], second[0], first[2], second[1], first[3]]
    calls = ANTHROPIC_MESSAGES.reply_from_stream(sse(start(), *mixed)).tool_calls
    assert calls == (ToolRequest("toolu_1", "a", "[1]"), ToolRequest("toolu_2", "b", "{}"))


def test_counts_may_come_at_the_start_or_at_the_end_only():
    late = {**end("end_turn"), "usage": {"input_tokens": 50, "output_tokens": 7}}
    head = {"type": "message_start", "message": {"id": "m", "content": [], "usage": {"input_tokens": 0}}}
    assert ANTHROPIC_MESSAGES.reply_from_stream(sse(head, late)).usage == Usage(50, 7)
    early = {**end("end_turn"), "usage": {"input_tokens": 0, "output_tokens": 7}}
    assert ANTHROPIC_MESSAGES.reply_from_stream(sse(start(output_tokens=1), early)).usage == Usage(
        123, 7, 100, written=20
    )
    assert ANTHROPIC_MESSAGES.reply_from_stream(sse({"type": "message_start", "message": {}})).usage is None


@pytest.mark.parametrize(
    ("details", "words"),
    [
        ({"type": "refusal", "category": "bio", "explanation": "Not that."}, "Not that."),
        ({"type": "refusal", "category": "bio", "explanation": None}, "bio"),
        (None, "refusal"),
    ],
)
def test_refusals(details, words):
    whole = ANTHROPIC_MESSAGES.reply(200, json.dumps({**MESSAGE, "stop_reason": "refusal", "stop_details": details}))
    streamed = ANTHROPIC_MESSAGES.reply_from_stream(sse(start(), end("refusal", stop_details=details)))
    assert (whole.refusal, whole.finish) == (streamed.refusal, streamed.finish) == (words, "refusal")


@pytest.mark.parametrize(
    ("status", "body", "message"),
    [
        (529, '{"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}', "Overloaded"),
        (400, '{"message": "The model id is invalid."}', "The model id is invalid."),  # Bedrock
        (400, '[{"error": {"code": 400, "message": "bad"}}]', "bad"),  # Vertex
        (502, "<html>", "HTTP 502"),
        (200, '{"type": "error", "error": {"type": "api_error", "message": "late"}}', "late"),
    ],
)
def test_error_answers(status, body, message):
    assert ANTHROPIC_MESSAGES.reply(status, body) == Reply(error=message)


def test_errors_within_a_stream():
    error = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}
    text = block(0, {"type": "text", "text": ""}, said("a"))
    reply = ANTHROPIC_MESSAGES.reply_from_stream(sse(start(), *text, error, named=True))
    assert (reply.text, reply.error, reply.finish) == ("a", "Overloaded", None)
    assert ANTHROPIC_MESSAGES.reply_from_stream(sse({"error": {"message": "proxy"}})).error == "proxy"
    assert ANTHROPIC_MESSAGES.reply_from_stream(b"event: error\ndata: gone\n\n").error == "gone"
    thrown = frame({"message": "slow down"}, exception_type="throttlingException", message_type="exception")
    assert ANTHROPIC_MESSAGES.reply_from_stream(bedrock(start()) + thrown).error == "slow down"
    broken = frame(b"", error_code="500", error_message="broken", message_type="error")
    assert ANTHROPIC_MESSAGES.reply_from_stream(broken).error == "broken"


def test_what_is_no_answer():
    assert ANTHROPIC_MESSAGES.reply(200, "hello") is None
    assert ANTHROPIC_MESSAGES.reply(200, '{"input_tokens": 5}') is None
    assert ANTHROPIC_MESSAGES.reply_from_stream(b"") is None
    assert ANTHROPIC_MESSAGES.reply_from_stream(sse({"type": "ping"})) is None
    assert ANTHROPIC_MESSAGES.reply_from_stream(frame({"bytes": "%%%"}, event_type="chunk")) is None


def test_the_end_of_a_stream():
    assert ANTHROPIC_MESSAGES.stream_ended(STREAM)
    assert ANTHROPIC_MESSAGES.stream_ended(bedrock(*EVENTS))
    assert not ANTHROPIC_MESSAGES.stream_ended(sse(*EVENTS[:-1]))
    assert not ANTHROPIC_MESSAGES.stream_ended(sse(start(), *block(0, {"type": "text", "text": "message_stop"})))


def test_the_samples_are_what_the_sdk_reads():
    anthropic, httpx2 = pytest.importorskip("anthropic"), pytest.importorskip("httpx2")

    def answer(request):
        streams = json.loads(request.content).get("stream")
        kind = "text/event-stream" if streams else "application/json"
        return httpx2.Response(
            200, headers={"content-type": kind}, content=STREAM if streams else json.dumps(MESSAGE).encode()
        )

    with httpx2.Client(transport=httpx2.MockTransport(answer)) as http:
        client = anthropic.Anthropic(api_key="k", http_client=http)
        whole = client.messages.create(**ASKED)
        with client.messages.stream(**ASKED) as stream:
            final = stream.get_final_message()
    for message in (whole, final):
        assert "".join(b.text for b in message.content if b.type == "text") == REPLY.text
        calls = [(b.id, b.name, b.input) for b in message.content if b.type == "tool_use"]
        assert calls == [(t.id, t.name, json.loads(t.arguments)) for t in REPLY.tool_calls]
        assert (message.stop_reason, message.id, message.usage.output_tokens) == ("tool_use", "msg_1", 40)
        type(message).model_validate(message.model_dump(), strict=False)


def test_the_stream_of_bedrock_is_what_the_sdk_reads():
    decoder = pytest.importorskip("anthropic.lib.bedrock._stream_decoder")
    pytest.importorskip("botocore")
    read = decoder.AWSEventStreamDecoder().iter_bytes(iter([bedrock(*EVENTS)]))
    assert [json.loads(event.data) for event in read] == list(EVENTS)


@given(damaged(STREAM) | damaged(bedrock(*EVENTS)) | damaged(json.dumps(MESSAGE).encode()))
def test_damage_makes_no_decoder_raise(data):
    survives(ANTHROPIC_MESSAGES, data)


@given(json_of(*names_in(MESSAGE, *EVENTS)))
def test_no_answer_makes_a_decoder_raise(data):
    survives(ANTHROPIC_MESSAGES, json.dumps(data).encode())
    survives(ANTHROPIC_MESSAGES, sse(data, *(data if isinstance(data, list) else ()), *EVENTS[-2:]))
