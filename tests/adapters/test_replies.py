"""A reply read again from an outcome that was edited."""

from __future__ import annotations

import json

from adapters.replies import reply_of
from cassettes.model import Call, Chunk, Error, Stream, Value

ANTHROPIC = Call("model", "m", {}, endpoint="anthropic-messages /v1/messages")


def test_the_endpoint_names_the_protocol():
    body = json.dumps({"type": "message", "content": [{"type": "text", "text": "hi"}]})
    assert reply_of(ANTHROPIC, Value({"status": 200, "body": body})).text == "hi"
    assert reply_of(Call("model", "m", {}, endpoint="unheard-of /v1"), Value({"status": 200, "body": body})) is None
    assert reply_of(Call("tool", "f", {}), Value({"status": 200, "body": body})) is None


def test_a_stream_is_read_whole_text_or_bytes():
    piece = 'data: {"choices":[{"delta":{"content":"hi"}}]}\n\n'
    call = Call("model", "m", {}, endpoint="openai-chat /v1/chat/completions")
    assert reply_of(call, Stream({}, (Chunk(0.0, piece), Chunk(0.1, piece.encode())))).text == "hihi"


def test_what_did_not_answer_has_no_reply():
    assert reply_of(ANTHROPIC, Error(ValueError())) is None
    assert reply_of(ANTHROPIC, Value("no response")) is None
