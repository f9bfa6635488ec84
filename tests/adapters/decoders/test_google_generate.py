from __future__ import annotations

import json

import pytest
from hypothesis import given

from adapters.decoders import recognise
from adapters.decoders.google_generate import GOOGLE_GENERATE
from cassettes.model import Reply, ToolRequest, Usage
from tests.adapters.decoders.wire import cut, damaged, grows, json_of, names_in, sse, survives

ASKED = {"contents": [{"role": "user", "parts": [{"text": "hi"}]}]}
VERTEX = "/v1beta1/projects/p/locations/l/publishers/google/models/gemini-x:"


def response(parts, finish=None, **more):
    candidate = {"content": {"role": "model", "parts": parts}, "index": 0}
    if finish:
        candidate["finishReason"] = finish
    return {"candidates": [candidate], "modelVersion": "gemini-x-001", "responseId": "r1", **more}


USAGE = {
    "promptTokenCount": 120,
    "cachedContentTokenCount": 100,
    "toolUsePromptTokenCount": 5,
    "candidatesTokenCount": 30,
    "thoughtsTokenCount": 10,
    "totalTokenCount": 165,
}
THOUGHT = {"text": "well", "thought": True}
FIND = {"functionCall": {"id": "f1", "name": "find", "args": {"a": "ß", "n": [1]}}, "thoughtSignature": "c2ln"}
NOW = {"functionCall": {"name": "now"}}
WHOLE = response([THOUGHT, {"text": "Grüße, "}, {"text": "du."}, FIND, NOW], "STOP", usageMetadata=USAGE)
CHUNKS = (
    response([THOUGHT], usageMetadata={"promptTokenCount": 120, "totalTokenCount": 120}),
    response([{"text": "Grü"}]),
    response([{"text": "ße, "}]),
    response([{"text": "du."}, FIND]),
    response([NOW]),
    response([{"text": ""}], "STOP", usageMetadata=USAGE),
)
REPLY = Reply(
    text="Grüße, du.",
    tool_calls=(ToolRequest("f1", "find", '{"a": "ß", "n": [1]}'), ToolRequest(None, "now", "{}")),
    finish="STOP",
    model="gemini-x-001",
    id="r1",
    usage=Usage(input=125, output=40, cached=100, reasoning=10),
)
STREAM = sse(*CHUNKS)
ARRAY = ("[" + "\n,\r\n".join(json.dumps(c, indent=1, ensure_ascii=False) for c in CHUNKS) + "\n]\n").encode()


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("/v1beta/models/gemini-x:generateContent", "gemini-x"),
        ("/v1beta/models/gemini-x:streamGenerateContent", "gemini-x"),
        ("/v1beta/models/gemini-x%3AgenerateContent", "gemini-x"),
        (VERTEX + "streamGenerateContent", "gemini-x"),
        ("/v1beta/tunedModels/mine-1:generateContent", "mine-1"),
        ("/v1/projects/p/locations/l/endpoints/123:generateContent", "123"),
        ("/models/ollama/llama3:8b:generateContent", "ollama/llama3:8b"),
    ],
)
def test_what_is_a_generation(path, name):
    assert recognise("POST", path, ASKED) is GOOGLE_GENERATE
    assert GOOGLE_GENERATE.model(path, ASKED) == name
    assert GOOGLE_GENERATE.history == "contents"


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("GET", "/v1beta/models/gemini-x:generateContent", ASKED),
        ("POST", "/v1beta/models/gemini-x:countTokens", ASKED),
        ("POST", "/v1beta/models/gemini-x:embedContent", {"content": {}}),
        ("POST", "/v1beta/models/gemini-x:generateContent", {"prompt": "hi"}),
        ("POST", "/v1beta/models/gemini-x", ASKED),
    ],
)
def test_what_is_none(method, path, body):
    assert recognise(method, path, body) is None


def test_a_whole_answer():
    assert GOOGLE_GENERATE.reply(200, json.dumps(WHOLE)) == REPLY


def test_a_stream_that_was_not_taken_for_one():
    assert GOOGLE_GENERATE.reply(200, ARRAY) == REPLY


@pytest.mark.parametrize(
    "data",
    [STREAM, STREAM.replace(b"\n", b"\r\n"), ARRAY, json.dumps(WHOLE).encode()],
    ids=["sse", "sse with CR LF", "array", "a server that does not stream"],
)
def test_a_stream_gives_what_the_whole_gives(data):
    assert GOOGLE_GENERATE.reply_from_stream(data) == REPLY


@pytest.mark.parametrize("data", [STREAM, ARRAY], ids=["sse", "array"])
def test_a_stream_that_is_cut_gives_what_came(data):
    grows(GOOGLE_GENERATE, data)


def test_arguments_that_come_in_pieces():
    def piece(path, going_on=False, **value):
        return {"jsonPath": path, **value, **({"willContinue": True} if going_on else {})}

    def call(**fields):
        return response([{"functionCall": fields}])

    chunks = (
        call(name="book", id="b1", willContinue=True),
        call(partialArgs=[piece("$.to", True, stringValue="New ")], willContinue=True),
        call(partialArgs=[piece("$.to", stringValue="York")], willContinue=True),
        call(partialArgs=[piece("$.who[0].age", numberValue=3), piece("$.who[1]", boolValue=True)], willContinue=True),
        call(partialArgs=[piece("$['a b']", nullValue="NULL_VALUE"), piece("$.to", stringValue="Rome")]),
        call(name="now", id="n1"),
    )
    reply = GOOGLE_GENERATE.reply_from_stream(sse(*chunks))
    arguments = '{"to": "Rome", "who": [{"age": 3}, true], "a b": null}'
    assert reply.tool_calls == (ToolRequest("b1", "book", arguments), ToolRequest("n1", "now", "{}"))
    halfway = GOOGLE_GENERATE.reply_from_stream(sse(*chunks[:3]))
    assert halfway.tool_calls == (ToolRequest("b1", "book", '{"to": "New York"}'),)


def test_paths_that_lead_nowhere():
    pieces = [
        {"jsonPath": path, "stringValue": "x"} for path in ("$.a", "$.a.b", "$.a[999999]", "$[0]", "$", "", "$.a.b")
    ]
    data = response([{"functionCall": {"name": "f", "partialArgs": pieces}}])
    assert GOOGLE_GENERATE.reply(200, json.dumps(data)).tool_calls[0].name == "f"


@pytest.mark.parametrize(
    ("counts", "usage"),
    [
        ({"promptTokenCount": 5, "totalTokenCount": 5}, Usage(5, 0)),  # a count of 0 is left out
        ({"promptTokenCount": 5, "thoughtsTokenCount": 3, "totalTokenCount": 8}, Usage(5, 3, None, 3)),
        ({"promptTokenCount": 5}, Usage(5, None)),
        ({"promptTokenCount": 5, "candidatesTokenCount": 2, "totalTokenCount": 7}, Usage(5, 2)),
    ],
)
def test_counts(counts, usage):
    assert GOOGLE_GENERATE.reply(200, json.dumps(response([], "STOP", usageMetadata=counts))).usage == usage


def test_the_first_candidate_counts():
    data = response([{"text": "first"}], "STOP")
    data["candidates"].insert(0, {"index": 1, "content": {"parts": [{"text": "second"}]}, "finishReason": "MAX_TOKENS"})
    reply = GOOGLE_GENERATE.reply(200, json.dumps(data))
    assert (reply.text, reply.finish) == ("first", "STOP")


def test_refusals():
    blocked = {"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}, "modelVersion": "g"}
    assert GOOGLE_GENERATE.reply(200, json.dumps(blocked)) == Reply(model="g", refusal="PROHIBITED_CONTENT")
    assert GOOGLE_GENERATE.reply_from_stream(sse(blocked)) == Reply(model="g", refusal="PROHIBITED_CONTENT")
    blocked["promptFeedback"]["blockReasonMessage"] = "Not that."
    assert GOOGLE_GENERATE.reply(200, json.dumps(blocked)).refusal == "Not that."
    stopped = GOOGLE_GENERATE.reply_from_stream(sse(CHUNKS[1], {"candidates": [{"finishReason": "SAFETY"}]}))
    assert (stopped.text, stopped.finish, stopped.refusal) == ("Grü", "SAFETY", "SAFETY")
    told = {"candidates": [{"finishReason": "SPII", "finishMessage": "personal"}]}
    assert GOOGLE_GENERATE.reply(200, json.dumps(told)).refusal == "personal"
    assert GOOGLE_GENERATE.reply(200, json.dumps(response([], "MAX_TOKENS"))).refusal is None


ERROR = {"error": {"code": 429, "message": "quota", "status": "RESOURCE_EXHAUSTED"}}


@pytest.mark.parametrize(
    ("status", "body", "message"),
    [(429, json.dumps(ERROR), "quota"), (429, json.dumps([ERROR]), "quota"), (503, "", "HTTP 503")],
)
def test_error_answers(status, body, message):
    assert GOOGLE_GENERATE.reply(status, body) == Reply(error=message)


@pytest.mark.parametrize(
    "data",
    [
        sse(CHUNKS[1], ERROR),
        sse(CHUNKS[1]) + json.dumps(ERROR, indent=2).encode(),  # bare lines
        json.dumps([CHUNKS[1], ERROR]).encode(),
    ],
)
def test_errors_within_a_stream(data):
    reply = GOOGLE_GENERATE.reply_from_stream(data)
    assert (reply.text, reply.error) == ("Grü", "quota")


def test_what_is_no_answer():
    assert GOOGLE_GENERATE.reply(200, "hello") is None
    assert GOOGLE_GENERATE.reply(200, '{"totalTokens": 5}') is None
    assert GOOGLE_GENERATE.reply(200, "[]") is None
    assert GOOGLE_GENERATE.reply_from_stream(b"") is None
    assert GOOGLE_GENERATE.reply_from_stream(b"[") is None


def test_the_end_of_a_stream():
    assert GOOGLE_GENERATE.stream_ended(STREAM)
    assert GOOGLE_GENERATE.stream_ended(sse(ERROR))
    assert not GOOGLE_GENERATE.stream_ended(sse(*CHUNKS[:-1]))
    assert not any(GOOGLE_GENERATE.stream_ended(part) for part in cut(sse(*CHUNKS[:2])))


def test_the_samples_are_what_the_sdk_reads():
    genai, httpx2 = pytest.importorskip("google.genai"), pytest.importorskip("httpx2")

    def answer(request):
        streams = recognise("POST", request.url.path, json.loads(request.content)) and b"alt=sse" in request.url.query
        kind = "text/event-stream" if streams else "application/json"
        return httpx2.Response(
            200, headers={"content-type": kind}, content=STREAM if streams else json.dumps(WHOLE).encode()
        )

    with httpx2.Client(transport=httpx2.MockTransport(answer)) as http:
        client = genai.Client(api_key="k", http_options=genai.types.HttpOptions(httpx_client=http))
        whole = client.models.generate_content(model="gemini-x", contents="hi")
        streamed = list(client.models.generate_content_stream(model="gemini-x", contents="hi"))
    for answers in ([whole], streamed):
        parts = [part for a in answers for part in a.candidates[0].content.parts or []]
        assert "".join(p.text for p in parts if p.text and not p.thought) == REPLY.text
        calls = [
            (p.function_call.id, p.function_call.name, p.function_call.args or {}) for p in parts if p.function_call
        ]
        assert calls == [(t.id, t.name, json.loads(t.arguments)) for t in REPLY.tool_calls]
        end = answers[-1]
        assert (end.candidates[0].finish_reason.value, end.response_id, end.model_version) == (
            "STOP",
            "r1",
            REPLY.model,
        )
        assert end.usage_metadata.total_token_count == REPLY.usage.input + REPLY.usage.output


@given(damaged(STREAM) | damaged(ARRAY) | damaged(json.dumps(WHOLE).encode()))
def test_damage_makes_no_decoder_raise(data):
    survives(GOOGLE_GENERATE, data)


@given(json_of(*names_in(WHOLE, *CHUNKS), "partialArgs", "jsonPath", "$.a[0]", "$.a", "stringValue", "willContinue"))
def test_no_answer_makes_a_decoder_raise(data):
    survives(GOOGLE_GENERATE, json.dumps(data).encode())
    survives(GOOGLE_GENERATE, sse(data, *(data if isinstance(data, list) else ())))
    survives(GOOGLE_GENERATE, sse(response(data), response([{"functionCall": data}, {"functionCall": data}])))
