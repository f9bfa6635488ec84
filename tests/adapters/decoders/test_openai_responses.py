from __future__ import annotations

import json

import pytest
from hypothesis import given

from adapters.decoders import recognise
from adapters.decoders.openai_responses import OPENAI_RESPONSES
from cassettes.model import Reply, ToolRequest, Usage
from tests.adapters.decoders.wire import damaged, grows, json_of, names_in, sse, survives

ASKED = {"model": "gpt-x", "input": [{"role": "user", "content": "hi"}], "instructions": "be kind"}
REASONING = {"type": "reasoning", "id": "rs_1", "summary": []}
SEARCH = {"type": "web_search_call", "id": "ws_1", "status": "completed", "action": {"type": "search", "query": "q"}}


def message(*texts):
    content = [{"type": "output_text", "text": text, "annotations": []} for text in texts]
    return {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "content": content}


def call(number, name, arguments):
    return {
        "type": "function_call",
        "id": f"fc_{number}",
        "call_id": f"call_{number}",
        "name": name,
        "arguments": arguments,
        "status": "completed",
    }


CUSTOM = {"type": "custom_tool_call", "id": "ctc_1", "call_id": "call_9", "name": "sh", "input": "ls -l"}
OUTPUT = [REASONING, SEARCH, message("Grüße, ", "du."), call(1, "find", '{"a": "ß"}'), call(2, "now", "{}"), CUSTOM]
USAGE = {
    "input_tokens": 120,
    "input_tokens_details": {"cached_tokens": 100, "cache_write_tokens": 0},
    "output_tokens": 40,
    "output_tokens_details": {"reasoning_tokens": 11},
    "total_tokens": 160,
}


def response(output, status="completed", **more):
    return {
        "id": "resp_1",
        "object": "response",
        "created_at": 1,
        "model": "gpt-x-1",
        "status": status,
        "error": None,
        "incomplete_details": None,
        "instructions": None,
        "metadata": {},
        "output": output,
        "parallel_tool_calls": True,
        "temperature": 1.0,
        "tool_choice": "auto",
        "tools": [],
        "top_p": 1.0,
        "usage": None,
        **more,
    }


WHOLE = response(OUTPUT, usage=USAGE)
REPLY = Reply(
    text="Grüße, du.",
    tool_calls=(
        ToolRequest("call_1", "find", '{"a": "ß"}'),
        ToolRequest("call_2", "now", "{}"),
        ToolRequest("call_9", "sh", "ls -l"),
    ),
    finish="completed",
    model="gpt-x-1",
    id="resp_1",
    usage=Usage(120, 40, 100, 11),
)


def event(kind, index=None, **more):
    place = {} if index is None else {"output_index": index, "item_id": OUTPUT[index]["id"]}
    return {"type": f"response.{kind}", **place, **more}


def item(kind, index, **changed):
    return {"type": f"response.output_item.{kind}", "output_index": index, "item": {**OUTPUT[index], **changed}}


def text(index, content_index, *pieces):
    part = {"type": "output_text", "text": "", "annotations": []}
    yield event("content_part.added", index, content_index=content_index, part=part)
    for piece in pieces:
        yield event("output_text.delta", index, content_index=content_index, delta=piece, logprobs=[])
    whole = "".join(pieces)
    yield event("output_text.done", index, content_index=content_index, text=whole, logprobs=[])
    yield event("content_part.done", index, content_index=content_index, part={**part, "text": whole})


def numbered(*events):
    return tuple({**e, "sequence_number": number} for number, e in enumerate(events))


EVENTS = numbered(
    event("created", response=response([], "in_progress")),
    event("in_progress", response=response([], "in_progress")),
    item("added", 0),
    item("done", 0),
    item("added", 1, status="in_progress"),
    item("done", 1),
    item("added", 2, content=[], status="in_progress"),
    *text(2, 0, "Grü", "ße, "),
    *text(2, 1, "du."),
    item("done", 2),
    item("added", 3, arguments="", status="in_progress"),
    item("added", 4, arguments="", status="in_progress"),
    event("function_call_arguments.delta", 3, delta='{"a": '),
    event("function_call_arguments.delta", 4, delta="{}"),
    event("function_call_arguments.delta", 3, delta='"ß"}'),
    event("function_call_arguments.done", 3, name="find", arguments='{"a": "ß"}'),
    event("function_call_arguments.done", 4, name="now", arguments="{}"),
    item("done", 3),
    item("done", 4),
    item("added", 5, input=""),
    event("custom_tool_call_input.delta", 5, delta="ls "),
    event("custom_tool_call_input.delta", 5, delta="-l"),
    event("custom_tool_call_input.done", 5, input="ls -l"),
    item("done", 5),
    event("completed", response=WHOLE),
)
STREAM = sse(*EVENTS, named=True)


@pytest.mark.parametrize(
    ("path", "body", "name"),
    [
        ("/v1/responses", ASKED, "gpt-x"),
        ("/v1/responses/", {"model": "gpt-x", "input": "hi"}, "gpt-x"),
        ("/openai/responses", ASKED, "gpt-x"),
        ("/openai/deployments/my%20gpt/responses", {"input": "hi"}, "my gpt"),
        ("/v1/responses", {"prompt": {"id": "pmpt_1"}}, "unknown"),
    ],
)
def test_what_is_a_request_for_a_response(path, body, name):
    assert recognise("POST", path, body) is OPENAI_RESPONSES
    assert OPENAI_RESPONSES.model(path, body) == name
    assert OPENAI_RESPONSES.history == "input"


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("GET", "/v1/responses/resp_1", None),
        ("POST", "/v1/responses/resp_1/cancel", None),
        ("POST", "/v1/responses/compact", ASKED),
        ("POST", "/v1/embeddings", ASKED),
        ("POST", "/survey/responses", {"answers": [1]}),
        ("POST", "/v1/responses", "hi"),
    ],
)
def test_what_is_none(method, path, body):
    assert recognise(method, path, body) is None


def test_a_whole_answer():
    assert OPENAI_RESPONSES.reply(200, json.dumps(WHOLE)) == REPLY


@pytest.mark.parametrize(
    "data",
    [
        STREAM,
        sse(*EVENTS, done=True),
        sse(*EVENTS[:-1], event("completed", response={**WHOLE, "output": []})),
        sse(*(e for e in EVENTS if "output_item.done" not in e["type"])),
        json.dumps(WHOLE).encode(),
    ],
    ids=["sse", "without names", "nothing in the last event", "no items done", "a server that does not stream"],
)
def test_a_stream_gives_what_the_whole_gives(data):
    assert OPENAI_RESPONSES.reply_from_stream(data) == REPLY


def test_the_type_may_be_the_name_of_the_event_only():
    bare = [(e["type"], {k: v for k, v in e.items() if k != "type"}) for e in EVENTS]
    data = "".join(f"event: {name}\ndata: {json.dumps(fields)}\n\n" for name, fields in bare).encode()
    assert OPENAI_RESPONSES.reply_from_stream(data) == REPLY


def test_items_may_be_told_apart_by_their_id_only():
    events = [{k: v for k, v in e.items() if k != "output_index"} for e in EVENTS[:-1]]
    assert OPENAI_RESPONSES.reply_from_stream(sse(*events)).tool_calls == REPLY.tool_calls


def test_a_stream_without_items():
    events = (
        {"type": "response.output_text.delta", "delta": "a"},
        {"type": "response.function_call_arguments.delta", "item_id": "x", "delta": "{"},
        {"type": "response.function_call_arguments.done", "item_id": "x", "name": "f", "arguments": "{}"},
    )
    reply = OPENAI_RESPONSES.reply_from_stream(sse(*events))
    assert (reply.text, reply.finish) == ("a", None)
    assert [call.arguments for call in reply.tool_calls] == ["{}"]


def test_a_stream_that_is_cut_gives_what_came():
    grows(OPENAI_RESPONSES, STREAM)
    cut = OPENAI_RESPONSES.reply_from_stream(sse(*EVENTS[:9]))
    assert cut == Reply(text="Grü", model="gpt-x-1", id="resp_1")


def test_what_the_provider_runs_itself_is_no_call_of_the_client():
    own = {"type": "local_shell_call", "id": "l", "call_id": "c", "action": {"command": ["ls"]}, "status": "completed"}
    server = {"type": "mcp_call", "id": "m", "name": "f", "arguments": "{}", "server_label": "s"}
    reply = OPENAI_RESPONSES.reply(200, json.dumps(response([own, server, SEARCH])))
    assert reply.tool_calls == (ToolRequest("c", "local_shell", '{"command": ["ls"]}'),)


def test_refusals():
    said = {**message(), "content": [{"type": "refusal", "refusal": "I won't."}]}
    whole = OPENAI_RESPONSES.reply(200, json.dumps(response([said])))
    assert (whole.text, whole.refusal, whole.finish) == (None, "I won't.", "completed")
    events = (
        EVENTS[0],
        {"type": "response.refusal.delta", "output_index": 0, "content_index": 0, "delta": "I "},
        {"type": "response.refusal.delta", "output_index": 0, "content_index": 0, "delta": "won't."},
    )
    assert OPENAI_RESPONSES.reply_from_stream(sse(*events)).refusal == "I won't."
    filtered = response([message("a")], "incomplete", incomplete_details={"reason": "content_filter"})
    assert OPENAI_RESPONSES.reply(200, json.dumps(filtered)).refusal == "content_filter"


def test_an_answer_that_is_not_complete():
    short = response([message("a")], "incomplete", incomplete_details={"reason": "max_output_tokens"}, usage=USAGE)
    whole = OPENAI_RESPONSES.reply(200, json.dumps(short))
    assert (whole.finish, whole.refusal, whole.usage) == ("max_output_tokens", None, REPLY.usage)
    assert OPENAI_RESPONSES.reply_from_stream(sse(EVENTS[0], event("incomplete", response=short))) == whole
    assert OPENAI_RESPONSES.reply(200, json.dumps(response([], "queued"))).finish == "queued"


@pytest.mark.parametrize(
    ("status", "body", "message"),
    [
        (400, '{"error": {"message": "too long", "type": "invalid_request_error"}}', "too long"),
        (404, '{"detail": "Not Found"}', "Not Found"),
        (502, "<html>", "HTTP 502"),
        (200, '{"error": {"message": "late"}}', "late"),
    ],
)
def test_error_answers(status, body, message):
    assert OPENAI_RESPONSES.reply(status, body) == Reply(error=message)


def test_a_response_that_failed():
    failed = response([], "failed", error={"code": "server_error", "message": "broken"})
    whole = OPENAI_RESPONSES.reply(200, json.dumps(failed))
    assert (whole.error, whole.finish) == ("broken", "failed")
    assert OPENAI_RESPONSES.reply_from_stream(sse(EVENTS[0], event("failed", response=failed))) == whole


@pytest.mark.parametrize(
    "error",
    [
        {"type": "error", "code": "busy", "message": "busy", "param": None, "sequence_number": 2},
        {"type": "error", "error": {"type": "server_error", "code": "busy", "message": "busy"}},
        {"error": {"message": "busy"}},
    ],
)
def test_errors_within_a_stream(error):
    reply = OPENAI_RESPONSES.reply_from_stream(sse(*EVENTS[:9], error))
    assert (reply.text, reply.error, reply.finish) == ("Grü", "busy", None)


def test_what_is_no_answer():
    assert OPENAI_RESPONSES.reply(200, "hello") is None
    assert OPENAI_RESPONSES.reply(200, '{"object": "list", "data": []}') is None
    assert OPENAI_RESPONSES.reply_from_stream(b"") is None
    assert OPENAI_RESPONSES.reply_from_stream(b"data: [DONE]\n\n") is None
    assert OPENAI_RESPONSES.reply_from_stream(sse({"type": "keepalive"})) is None


def test_the_end_of_a_stream():
    assert OPENAI_RESPONSES.stream_ended(STREAM)
    assert not OPENAI_RESPONSES.stream_ended(sse(*EVENTS[:-1]))
    assert OPENAI_RESPONSES.stream_ended(sse({"type": "error", "message": "busy"}))


def test_the_samples_are_what_the_sdk_reads():
    openai, httpx2 = pytest.importorskip("openai"), pytest.importorskip("httpx2")

    def answer(request):
        streams = json.loads(request.content).get("stream")
        kind = "text/event-stream" if streams else "application/json"
        return httpx2.Response(
            200, headers={"content-type": kind}, content=STREAM if streams else json.dumps(WHOLE).encode()
        )

    with httpx2.Client(transport=httpx2.MockTransport(answer)) as http:
        client = openai.OpenAI(api_key="k", base_url="http://x/v1", http_client=http)
        whole = client.responses.create(**ASKED)
        with client.responses.stream(**ASKED) as stream:
            final = stream.get_final_response()
    for read in (whole, final):
        assert read.output_text == REPLY.text
        calls = [(i.call_id, i.name, i.arguments) for i in read.output if i.type == "function_call"]
        assert calls == [(t.id, t.name, t.arguments) for t in REPLY.tool_calls[:2]]
        assert (read.status, read.usage.input_tokens_details.cached_tokens) == ("completed", 100)


def test_the_samples_have_the_types_of_the_sdk():
    types = pytest.importorskip("openai.types.responses")
    pydantic = pytest.importorskip("pydantic")
    types.Response.model_validate(WHOLE)
    event_type = pydantic.TypeAdapter(types.ResponseStreamEvent)
    assert [event_type.validate_python(e).type for e in EVENTS] == [e["type"] for e in EVENTS]


@given(damaged(STREAM) | damaged(json.dumps(WHOLE).encode()))
def test_damage_makes_no_decoder_raise(data):
    survives(OPENAI_RESPONSES, data)


@given(json_of(*names_in(WHOLE, *EVENTS)))
def test_no_answer_makes_a_decoder_raise(data):
    survives(OPENAI_RESPONSES, json.dumps(data).encode())
    survives(
        OPENAI_RESPONSES,
        sse(
            *(
                e
                for kind in {e["type"] for e in EVENTS}
                for e in (event(kind[9:]), {"type": kind, "item": data, "response": data, "delta": data})
            )
        ),
    )
    survives(OPENAI_RESPONSES, sse(data, *(data if isinstance(data, list) else ()), *EVENTS[-9:-1]))
