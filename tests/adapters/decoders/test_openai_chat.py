from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.decoders import recognise
from adapters.decoders.openai_chat import OPENAI_CHAT
from cassettes.model import Reply, ToolRequest, Usage

ASKED = {"model": "m", "messages": []}
ANSWER = {
    "id": "chatcmpl-1",
    "model": "gpt-x",
    "choices": [
        {"index": 1, "message": {"content": "other"}, "finish_reason": "length"},
        {
            "index": 0,
            "finish_reason": "tool_calls",
            "message": {
                "content": "hm",
                "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}}],
            },
        },
    ],
    "usage": {
        "prompt_tokens": 5,
        "completion_tokens": 6,
        "prompt_tokens_details": {"cached_tokens": 1},
        "completion_tokens_details": {"reasoning_tokens": 2},
    },
}


def stream(*chunks):
    return "".join(f"data: {json.dumps(chunk)}\n\n" for chunk in chunks).encode() + b"data: [DONE]\n\n"


def delta(fields, **choice):
    return {"id": "i", "model": "g", "choices": [{"index": 0, "delta": fields, **choice}]}


@pytest.mark.parametrize(
    ("method", "path", "body", "known"),
    [
        ("POST", "/v1/chat/completions", ASKED, True),
        ("POST", "/openai/deployments/gpt-4o/chat/completions", ASKED, True),
        ("POST", "/api/v1/chat/completions/", ASKED, True),
        ("GET", "/v1/chat/completions", ASKED, False),
        ("POST", "/v1/embeddings", ASKED, False),
        ("POST", "/v1/chat/completions", {"model": "m"}, False),
        ("POST", "/v1/chat/completions", [1], False),
        ("POST", "/v1/chat/completions", None, False),
    ],
)
def test_what_is_a_chat_completion(method, path, body, known):
    assert (recognise(method, path, body) is OPENAI_CHAT) is known


def test_azure_names_the_model_in_the_path():
    assert OPENAI_CHAT.model("/openai/deployments/gpt-4o/chat/completions", {"messages": []}) == "gpt-4o"
    assert OPENAI_CHAT.model("/v1/chat/completions", {"messages": []}) == "unknown"


def test_a_whole_answer():
    assert OPENAI_CHAT.reply(200, json.dumps(ANSWER)) == Reply(
        text="hm",
        tool_calls=(ToolRequest("c1", "f", "{}"),),
        finish="tool_calls",
        model="gpt-x",
        id="chatcmpl-1",
        usage=Usage(5, 6, 1, 2),
    )


def test_a_streamed_answer_is_put_together():
    pieces = [{"index": 0, "function": {"arguments": part}} for part in ('{"a', '": 1}')]
    head = {"index": 0, "id": "c1", "function": {"name": "f", "arguments": ""}}
    data = stream(
        delta({"role": "assistant", "content": "Grü"}),
        delta({"content": "ße"}),
        delta({"tool_calls": [head]}),
        delta({"tool_calls": [{"index": 1, "id": "c2", "function": {"name": "g", "arguments": "[]"}}]}),
        *(delta({"tool_calls": [piece]}) for piece in pieces),
        delta({"refusal": "no"}, finish_reason="tool_calls"),
        {"id": "i", "model": "g", "choices": [], "usage": {"prompt_tokens": 1, "completion_tokens": 2}},
    )
    assert OPENAI_CHAT.reply_from_stream(data) == Reply(
        text="Grüße",
        tool_calls=(ToolRequest("c1", "f", '{"a": 1}'), ToolRequest("c2", "g", "[]")),
        finish="tool_calls",
        model="g",
        id="i",
        usage=Usage(1, 2),
        refusal="no",
    )


def test_tool_calls_without_an_index_are_told_apart_by_id():
    calls = [{"id": name, "function": {"name": name, "arguments": {"x": 1}}} for name in ("a", "b")]
    reply = OPENAI_CHAT.reply_from_stream(stream(*(delta({"tool_calls": [call]}) for call in calls)))
    assert reply.tool_calls == (ToolRequest("a", "a", '{"x": 1}'), ToolRequest("b", "b", '{"x": 1}'))


def test_old_function_calls_and_parts_of_content():
    message = {"content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]}
    message["function_call"] = {"name": "f", "arguments": "{}"}
    reply = OPENAI_CHAT.reply(200, json.dumps({"choices": [{"message": message}]}))
    assert (reply.text, reply.tool_calls) == ("ab", (ToolRequest(None, "f", "{}"),))
    streamed = OPENAI_CHAT.reply_from_stream(
        stream(delta({"function_call": {"name": "f"}}), delta({"function_call": {"arguments": "{}"}}))
    )
    assert streamed.tool_calls == (ToolRequest(None, "f", "{}"),)


@pytest.mark.parametrize(
    ("status", "body", "message"),
    [
        (400, '{"error": {"message": "too long"}}', "too long"),
        (400, '{"error": "plain"}', "plain"),
        (422, '{"detail": "missing"}', "missing"),
        (400, '{"object": "error", "message": "vllm"}', "vllm"),
        (502, "<html>Bad gateway</html>", "HTTP 502"),
        (500, b"\xff", "HTTP 500"),
    ],
)
def test_error_answers(status, body, message):
    assert OPENAI_CHAT.reply(status, body) == Reply(error=message)


def test_an_error_within_a_stream():
    assert (
        OPENAI_CHAT.reply_from_stream(stream(delta({"content": "a"}), {"error": {"message": "busy"}})).error == "busy"
    )


def test_what_is_no_answer():
    assert OPENAI_CHAT.reply(200, "hello") is None
    assert OPENAI_CHAT.reply(200, "[1]") is None
    assert OPENAI_CHAT.reply_from_stream(b"") is None
    assert OPENAI_CHAT.reply_from_stream(b"data: [DONE]\n\n") is None


def test_the_end_of_a_stream_is_known_before_the_connection_ends():
    assert OPENAI_CHAT.stream_ended(b'data: {"a": 1}\n\ndata: [DONE]\n\n')
    assert OPENAI_CHAT.stream_ended(b"data:[DONE]\r\n")
    assert not OPENAI_CHAT.stream_ended(b'data: {"text": "data: [DONE]"}\n\n')
    assert not OPENAI_CHAT.stream_ended(b'data: {"a": 1}\n\n')


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=4),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                [
                    "choices",
                    "message",
                    "delta",
                    "tool_calls",
                    "function",
                    "index",
                    "usage",
                    "error",
                    "content",
                    "detail",
                ]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=20,
)


@given(JSON)
def test_no_answer_makes_a_decoder_raise(data):
    OPENAI_CHAT.reply(200, json.dumps(data))
    OPENAI_CHAT.reply_from_stream(stream(data, data))
