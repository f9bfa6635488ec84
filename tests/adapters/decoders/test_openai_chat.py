from __future__ import annotations

import json

import pytest
from hypothesis import given

from adapters.decoders import recognise
from adapters.decoders.openai_chat import OPENAI_CHAT
from cassettes.model import Reply, ToolRequest, Usage
from tests.adapters.decoders.wire import damaged, grows, json_of, names_in, sse, survives

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
    return sse(*chunks, done=True)


CHUNK = {"id": "i", "object": "chat.completion.chunk", "created": 1, "model": "g"}


def delta(fields, **choice):
    return {**CHUNK, "choices": [{"index": 0, "delta": fields, **choice}]}


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


def tool(index, identity=None, name=None, arguments=None):
    call = {
        "index": index,
        "id": identity,
        "type": identity and "function",
        "function": {"name": name, "arguments": arguments},
    }
    call["function"] = {k: v for k, v in call["function"].items() if v is not None}
    return delta({"tool_calls": [{k: v for k, v in call.items() if v is not None}]})


# One answer as an OpenAI server streams it, and another as compatible servers do.
PLAIN = (
    delta({"role": "assistant", "content": "", "refusal": None}, finish_reason=None),
    delta({"content": "Grü"}),
    delta({"content": "ße"}),
    tool(0, "c1", "f", ""),
    tool(1, "c2", "g", "{}"),
    tool(0, arguments='{"a": '),
    tool(0, arguments="1}"),
    delta({}, finish_reason="tool_calls"),
    {**CHUNK, "choices": [], "usage": {**ANSWER["usage"], "total_tokens": 11}},
)
PLAIN_REPLY = Reply(
    text="Grüße",
    tool_calls=(ToolRequest("c1", "f", '{"a": 1}'), ToolRequest("c2", "g", "{}")),
    finish="tool_calls",
    model="g",
    id="i",
    usage=Usage(5, 6, 1, 2),
)


def test_a_stream_that_is_cut_gives_what_came():
    assert OPENAI_CHAT.reply_from_stream(stream(*PLAIN)) == PLAIN_REPLY
    grows(OPENAI_CHAT, stream(*PLAIN))


def test_a_server_that_does_not_stream():
    assert OPENAI_CHAT.reply_from_stream(json.dumps(ANSWER).encode()) == OPENAI_CHAT.reply(200, json.dumps(ANSWER))


def test_reasoning_is_no_text():  # vLLM, DeepSeek; Ollama, OpenRouter
    pieces = [{"reasoning_content": "hm", "content": None}, {"reasoning": "hm", "content": ""}, {"content": "yes"}]
    assert OPENAI_CHAT.reply_from_stream(stream(*map(delta, pieces))).text == "yes"
    message = {"role": "assistant", "reasoning_content": "hm", "reasoning": "hm", "content": "yes"}
    assert OPENAI_CHAT.reply(200, json.dumps({"choices": [{"index": 0, "message": message}]})).text == "yes"
    parts = [{"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]}, {"type": "text", "text": "yes"}]
    assert OPENAI_CHAT.reply_from_stream(stream(delta({"content": parts}))).text == "yes"  # Mistral


def test_usage_comes_with_the_last_choice_or_without_any():
    for choices in ([], [{"index": 0, "delta": {}, "finish_reason": "stop"}]):
        last = {"id": "i", "choices": choices, "usage": {"prompt_tokens": 1, "completion_tokens": 2}}
        assert OPENAI_CHAT.reply_from_stream(stream(delta({"content": "a"}, usage=None), last)).usage == Usage(1, 2)


def test_usage_within_every_chunk():  # vLLM's continuous_usage_stats
    chunks = [{**delta({"content": "a"}), "usage": {"prompt_tokens": 1, "completion_tokens": n}} for n in (1, 2, 3)]
    assert OPENAI_CHAT.reply_from_stream(stream(*chunks)).usage == Usage(1, 3)


def test_refusals():
    chunks = [delta({"refusal": "I "}), delta({"refusal": "won't."}), delta({}, finish_reason="stop")]
    assert OPENAI_CHAT.reply_from_stream(stream(*chunks)).refusal == "I won't."
    whole = {"choices": [{"index": 0, "message": {"content": None, "refusal": "No."}, "finish_reason": "stop"}]}
    assert OPENAI_CHAT.reply(200, json.dumps(whole)).refusal == "No."


def test_a_filter_that_speaks_for_the_model():
    cut = stream(delta({"content": "a"}), delta({}, finish_reason="content_filter"))
    assert OPENAI_CHAT.reply_from_stream(cut).refusal == "content_filter"
    whole = {"choices": [{"index": 0, "message": {"content": ""}, "finish_reason": "content_filter"}]}
    assert OPENAI_CHAT.reply(200, json.dumps(whole)).refusal == "content_filter"


def test_azure_begins_with_the_results_of_its_filter():
    filtered = {"id": "", "object": "", "model": "", "choices": [], "prompt_filter_results": [{"prompt_index": 0}]}
    assert OPENAI_CHAT.reply_from_stream(stream(filtered, *PLAIN)) == PLAIN_REPLY


def test_of_several_choices_the_first_counts():
    second = {"index": 1, "delta": {"content": "no"}, "finish_reason": "length"}
    mixed = [{"id": "i", "model": "g", "choices": [second]}, delta({"content": "yes"}, finish_reason="stop")]
    reply = OPENAI_CHAT.reply_from_stream(stream(*mixed, mixed[0]))
    assert (reply.text, reply.finish) == ("yes", "stop")


def test_parallel_calls_that_all_have_the_index_0():  # Gemini
    chunks = (tool(0, "a", "f", "{}"), tool(0, "b", "f", "[]"))
    assert OPENAI_CHAT.reply_from_stream(stream(*chunks)).tool_calls == (
        ToolRequest("a", "f", "{}"),
        ToolRequest("b", "f", "[]"),
    )


def test_a_new_id_with_every_piece_is_no_new_call():  # old vLLM
    chunks = (tool(0, "a", "f", ""), tool(0, "b", None, "{"), tool(0, "c", None, "}"))
    assert OPENAI_CHAT.reply_from_stream(stream(*chunks)).tool_calls == (ToolRequest("a", "f", "{}"),)


def test_arguments_as_an_object_keep_their_letters():
    call = {"id": "a", "function": {"name": "f", "arguments": {"a": "ß"}}}
    data = {"choices": [{"message": {"tool_calls": [call, None]}}]}
    assert OPENAI_CHAT.reply(200, json.dumps(data)).tool_calls == (ToolRequest("a", "f", '{"a": "ß"}'),)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (stream(delta({"content": "a"}), {"object": "error", "message": "vllm", "code": 400}), "vllm"),
        (stream(delta({"content": "a"}), {"error": "ollama"}), "ollama"),
        (
            stream({**delta({"content": "a"}, finish_reason="error"), "error": {"code": 502, "message": "router"}}),
            "router",
        ),
        (stream(delta({"content": "a"}, error={"code": 502, "message": "choice"})), "choice"),
        (stream(delta({"content": "a"})) + b'event: error\ndata: {"message": "named"}\n\n', "named"),
        (stream(delta({"content": "a"})) + b"event: error\ndata: worker died\n\n", "worker died"),
    ],
)
def test_errors_of_compatible_servers_within_a_stream(data, message):
    reply = OPENAI_CHAT.reply_from_stream(data)
    assert (reply.text, reply.error) == ("a", message)


def test_an_error_within_a_list():  # Gemini
    assert OPENAI_CHAT.reply(400, '[{"error": {"code": 400, "message": "bad"}}]') == Reply(error="bad")


def test_the_samples_are_what_the_sdk_reads():
    openai, httpx2 = pytest.importorskip("openai"), pytest.importorskip("httpx2")

    def answer(request):
        head = {"content-type": "text/event-stream"}
        return httpx2.Response(200, headers=head, content=stream(*PLAIN))

    with httpx2.Client(transport=httpx2.MockTransport(answer)) as http:
        client = openai.OpenAI(api_key="k", base_url="http://x/v1", http_client=http)
        with client.chat.completions.stream(model="m", messages=[]) as read:
            final = read.get_final_completion()
    message = final.choices[0].message
    assert (message.content, final.choices[0].finish_reason) == (PLAIN_REPLY.text, "tool_calls")
    calls = [(c.id, c.function.name, c.function.arguments) for c in message.tool_calls]
    assert calls == [(t.id, t.name, t.arguments) for t in PLAIN_REPLY.tool_calls]
    assert final.usage.prompt_tokens_details.cached_tokens == PLAIN_REPLY.usage.cached


@given(damaged(stream(*PLAIN)) | damaged(json.dumps(ANSWER).encode()))
def test_damage_makes_no_decoder_raise(data):
    survives(OPENAI_CHAT, data)


@given(json_of(*names_in(ANSWER, *PLAIN)))
def test_no_answer_makes_a_decoder_raise(data):
    survives(OPENAI_CHAT, json.dumps(data).encode())
    survives(OPENAI_CHAT, stream(data, data))
    survives(
        OPENAI_CHAT, stream(*(delta({name: data}) for name in ("content", "tool_calls", "function_call", "refusal")))
    )
