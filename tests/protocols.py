"""What providers answer, in their own protocols: Anthropic messages, Google generateContent, Bedrock converse.

Each gives a whole answer as JSON, or a stream in pieces. Like the OpenAI one of tests/provider.py they answer
``tok0 tok1 ...``, or a tool call if tools are offered and none was used yet.
"""

from __future__ import annotations

import binascii
import json
import struct
from typing import Any

ARGUMENTS = '{"zip_code": "94105"}'
EVENTS = "text/event-stream; charset=utf-8"
AWS_EVENTS = "application/vnd.amazon.eventstream"


def answer(path: str, asked: Any, identity: str, pieces: int) -> tuple[str, Any] | None:
    """The answer's content type, and its JSON or a list of its pieces; None if no protocol has such a path."""
    words = [f"tok{i} " for i in range(pieces)]
    if path.endswith("/messages"):
        return _anthropic(asked, identity, words)
    if path.endswith((":generateContent", ":streamGenerateContent")):
        return _google(path, asked, identity, words)
    if path.endswith(("/converse", "/converse-stream")):
        return _bedrock(path, asked, words)
    return None


def problem(path: str, status: int) -> dict[str, Any] | None:
    """The body of an error in the path's protocol."""
    message = f"told to answer {status}"
    if path.endswith("/messages"):
        return {"type": "error", "error": {"type": "api_error", "message": message}, "request_id": "req_1"}
    if path.endswith((":generateContent", ":streamGenerateContent")):
        return {"error": {"code": status, "message": message, "status": "UNAVAILABLE"}}
    if path.endswith(("/converse", "/converse-stream")):
        return {"message": message}
    return None


# -- Anthropic


def _anthropic(asked: Any, identity: str, words: list[str]) -> tuple[str, Any]:
    used = _has(asked["messages"][-1]["content"], "tool_result")
    if asked.get("tools") and not used:
        tool = {"type": "tool_use", "id": "toolu_1", "name": asked["tools"][0]["name"], "input": json.loads(ARGUMENTS)}
        content, stop = [{"type": "text", "text": "Let me look. "}, tool], "tool_use"
    else:
        content, stop = [{"type": "text", "text": "".join(words)}], "end_turn"
    usage = {
        "input_tokens": 7,
        "output_tokens": len(words),
        "cache_read_input_tokens": 3,
        "cache_creation_input_tokens": 0,
    }
    message = {
        "id": identity,
        "type": "message",
        "role": "assistant",
        "model": asked["model"],
        "content": content,
        "stop_reason": stop,
        "stop_sequence": None,
        "usage": usage,
    }
    if not asked.get("stream"):
        return "application/json", message
    opened = {"content": [], "stop_reason": None, "usage": usage | {"output_tokens": 1}}
    events: list[dict[str, Any]] = [{"type": "message_start", "message": message | opened}, {"type": "ping"}]
    for index, block in enumerate(content):
        events += _anthropic_block(index, block)
    delta = {"stop_reason": stop, "stop_sequence": None}
    events.append({"type": "message_delta", "delta": delta, "usage": {"output_tokens": len(words)}})
    events.append({"type": "message_stop"})
    return EVENTS, [f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode() for event in events]


def _anthropic_block(index: int, block: dict[str, Any]) -> list[dict[str, Any]]:
    if block["type"] == "text":
        parts = [f"{word} " for word in block["text"].split()]
        start: dict[str, Any] = {"type": "text", "text": ""}
        deltas = [{"type": "text_delta", "text": part} for part in parts]
    else:
        start = block | {"input": {}}
        deltas = [{"type": "input_json_delta", "partial_json": part} for part in ("", ARGUMENTS[:8], ARGUMENTS[8:])]
    middle = [{"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas]
    return [
        {"type": "content_block_start", "index": index, "content_block": start},
        *middle,
        {"type": "content_block_stop", "index": index},
    ]


# -- Google


def _google(path: str, asked: Any, identity: str, words: list[str]) -> tuple[str, Any]:
    model = path.rpartition("/")[2].partition(":")[0]
    declared = [f for tool in asked.get("tools", ()) for f in tool.get("functionDeclarations", ())]
    used = any("functionResponse" in part for part in asked["contents"][-1]["parts"])
    if declared and not used:
        call = {"functionCall": {"name": declared[0]["name"], "args": json.loads(ARGUMENTS)}}
        parts = [[{"text": "Let me look. "}], [call]]
    else:
        parts = [[{"text": word}] for word in words]
    usage = {"promptTokenCount": 7, "candidatesTokenCount": len(words), "totalTokenCount": 7 + len(words)}
    common = {"modelVersion": model, "responseId": identity}

    def told(content: list[Any], finish: str | None) -> dict[str, Any]:
        candidate: dict[str, Any] = {"content": {"role": "model", "parts": content}, "index": 0}
        return common | {"candidates": [candidate | ({"finishReason": finish} if finish else {})]}

    if path.endswith(":generateContent"):
        whole = [{"text": "".join(words)}] if not declared or used else [part for group in parts for part in group]
        return "application/json", told(whole, "STOP") | {"usageMetadata": usage}
    events = [told(group, None) for group in parts]
    events[-1] = told(parts[-1], "STOP") | {"usageMetadata": usage}
    return EVENTS, [f"data: {json.dumps(event)}\r\n\r\n".encode() for event in events]


# -- Bedrock


def _bedrock(path: str, asked: Any, words: list[str]) -> tuple[str, Any]:
    used = _has(asked["messages"][-1]["content"], "toolResult")
    tools = (asked.get("toolConfig") or {}).get("tools", ())
    usage = {"inputTokens": 7, "outputTokens": len(words), "totalTokens": 7 + len(words)}
    closing = {"usage": usage, "metrics": {"latencyMs": 1}}
    asks = tools and not used
    name = tools[0]["toolSpec"]["name"] if asks else ""
    stop = "tool_use" if asks else "end_turn"
    if path.endswith("/converse"):
        tool = {"toolUse": {"toolUseId": "tooluse_1", "name": name, "input": json.loads(ARGUMENTS)}}
        content = [tool] if asks else [{"text": "".join(words)}]
        message = {"role": "assistant", "content": content}
        return "application/json", closing | {"output": {"message": message}, "stopReason": stop}
    block: dict[str, Any] = {"contentBlockIndex": 0}
    events: list[tuple[str, dict[str, Any]]] = [("messageStart", {"role": "assistant"})]
    if asks:
        start = {"toolUse": {"toolUseId": "tooluse_1", "name": name}}
        events.append(("contentBlockStart", block | {"start": start}))
        deltas: list[Any] = [{"toolUse": {"input": part}} for part in (ARGUMENTS[:8], ARGUMENTS[8:])]
    else:
        deltas = [{"text": word} for word in words]
    events += [("contentBlockDelta", block | {"delta": delta}) for delta in deltas]
    events += [("contentBlockStop", block), ("messageStop", {"stopReason": stop}), ("metadata", closing)]
    return AWS_EVENTS, [aws_event(kind, json.dumps(event).encode()) for kind, event in events]


def aws_event(kind: str, payload: bytes) -> bytes:
    """One message of an AWS event stream: lengths with their check value, headers, payload, check value of all."""
    named = {":event-type": kind, ":content-type": "application/json", ":message-type": "event"}
    headers = b"".join(
        struct.pack("!B", len(name)) + name.encode() + struct.pack("!BH", 7, len(value)) + value.encode()
        for name, value in named.items()
    )
    lengths = struct.pack("!II", 16 + len(headers) + len(payload), len(headers))
    message = lengths + struct.pack("!I", binascii.crc32(lengths)) + headers + payload
    return message + struct.pack("!I", binascii.crc32(message))


def _has(content: Any, kind: str) -> bool:
    parts = content if isinstance(content, list) else []
    return any(kind in part or part.get("type") == kind for part in parts)
