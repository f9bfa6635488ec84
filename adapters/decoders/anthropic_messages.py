"""The Anthropic messages protocol, at Anthropic, on Bedrock and Vertex, and as LiteLLM, Ollama and vLLM speak it.

A stream is first put together to the message that it describes; one function reads that.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final
from urllib.parse import unquote

from attrs import define, field

from adapters.sse import events
from cassettes.eventstream import messages
from cassettes.model import Reply, ToolRequest, Usage

from .loose import (
    count,
    dumped,
    fault,
    joined,
    looks_like_json,
    map_of,
    maps_of,
    parsed,
    problem,
    text_of,
    total,
)
from .protocol import Decoder

__all__ = ["ANTHROPIC_MESSAGES"]

_BEDROCK: Final = re.compile(r"/model/(.+)/invoke(?:-with-response-stream)?/?\Z", re.DOTALL)
_VERTEX: Final = re.compile(r"/models/([^/]+):(?:streamRawPredict|rawPredict)/?\Z", re.DOTALL)
_COUNTED: Final = ("input_tokens", "output_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")


def recognises(method: str, path: str, body: Any) -> bool:
    """True for a POST of messages to any ``.../messages``, or to Bedrock or Vertex in Anthropic's name."""
    if method != "POST" or not isinstance(body, dict) or not isinstance(body.get("messages"), list):
        return False
    if path.rstrip("/").endswith("/messages"):
        return isinstance(body.get("model"), str)
    return isinstance(body.get("anthropic_version"), str) and _hosted(path) not in {None, "count-tokens"}


def model(path: str, body: Any) -> str:
    """The model asked for; Bedrock and Vertex name it in the path only."""
    return text_of(map_of(body).get("model")) or _hosted(path) or "unknown"


def reply(status: int, body: str | bytes) -> Reply | None:
    """Read a whole answer; None if it is no answer of this protocol."""
    data = parsed(body)
    error = fault(status, data)
    if error is not None:
        return Reply(error=error)
    message = map_of(data)
    return _read(message) if isinstance(message.get("content"), str | list) else None


def reply_from_stream(data: bytes) -> Reply | None:
    """Put the events of a streamed answer together; None if there is none."""
    if looks_like_json(data):
        return reply(200, data)
    message = _Message()
    for event in _events(data):
        message.add(event)
    return _read(message.whole(), message.error) if message.known else None


def stream_ended(data: bytes) -> bool:
    """True once the message stopped, or failed."""
    return any(event.get("type") in {"message_stop", "error"} for event in _events(data))


@define
class _Block:
    """One block of the content while its pieces arrive."""

    block: Mapping[str, Any]
    text: list[str] = field(factory=list)
    json: list[str] = field(factory=list)
    stopped: bool = False

    def whole(self) -> Mapping[str, Any]:
        """The block as a message would hold it, but for its input, which stays the text that it came as."""
        block = dict(self.block)
        if block.get("type") == "text" or self.text:
            block.update(type="text", text=(text_of(block.get("text")) or "") + "".join(self.text))
        arguments = "".join(self.json)
        if arguments or not self.stopped:  # else there were none, and the empty ones of its start hold
            block["input"] = arguments
        return block


@define
class _Message:
    """A message while its events arrive."""

    head: Mapping[str, Any] = field(factory=dict)
    blocks: dict[Any, _Block] = field(factory=dict)
    end: dict[str, Any] = field(factory=dict)
    usage: dict[str, Any] = field(factory=dict)
    error: str | None = None
    known: bool = False

    def add(self, event: Mapping[str, Any]) -> None:
        kind = event.get("type")
        index = count(event.get("index"))
        if kind == "error":
            self.error = self.error or problem(event) or text_of(event.get("message")) or dumped(event)
        elif kind == "message_start":
            self.head = map_of(event.get("message"))
            self._count(self.head.get("usage"))
        elif kind == "content_block_start":
            self.blocks[index] = _Block(map_of(event.get("content_block")))
        elif kind == "content_block_delta":
            self._delta(index, map_of(event.get("delta")))
        elif kind == "content_block_stop" and index in self.blocks:
            self.blocks[index].stopped = True
        elif kind == "message_delta":
            self.end.update({name: value for name, value in map_of(event.get("delta")).items() if value is not None})
            self._count(event.get("usage"))
        else:
            return
        self.known = True

    def whole(self) -> Mapping[str, Any]:
        """The message as one answer would hold it."""
        content = [block.whole() for block in self.blocks.values()] or self.head.get("content")
        return {**self.head, **self.end, "content": content, "usage": self.usage or None}

    def _delta(self, index: int | None, delta: Mapping[str, Any]) -> None:
        block = self.blocks.setdefault(index, _Block({}))
        if isinstance(delta.get("text"), str):
            block.text.append(delta["text"])
        if isinstance(delta.get("partial_json"), str):
            block.json.append(delta["partial_json"])

    def _count(self, usage: Any) -> None:
        """The counts grow through a stream; some servers leave them out, or at 0, at its start or at its end."""
        for name, value in map_of(usage).items():
            number = count(value)
            if number is not None and name in _COUNTED:
                self.usage[name] = max(number, self.usage.get(name, number))
            elif isinstance(value, dict):
                self.usage[name] = value


def _read(message: Mapping[str, Any], error: str | None = None) -> Reply:
    content = message.get("content")
    blocks = maps_of(content)
    asked = [block for block in blocks if block.get("type") == "tool_use"]
    finish = text_of(message.get("stop_reason"))
    return Reply(
        text=text_of(content) or joined(text_of(b.get("text")) for b in blocks if b.get("type") == "text"),
        tool_calls=tuple(
            ToolRequest(text_of(block.get("id")), text_of(block.get("name")) or "", dumped(block.get("input")))
            for block in asked
        ),
        finish=finish,
        model=text_of(message.get("model")),
        id=text_of(message.get("id")),
        usage=_usage(message.get("usage")),
        refusal=_refusal(message.get("stop_details")) if finish == "refusal" else None,
        error=error,
    )


def _refusal(details: Any) -> str:
    fields = map_of(details)
    return text_of(fields.get("explanation")) or text_of(fields.get("category")) or "refusal"


def _usage(data: Any) -> Usage | None:
    """Anthropic's ``input_tokens`` are those that the cache neither gave nor took; here input is the whole prompt."""
    if not isinstance(data, dict):
        return None
    read, written = data.get("cache_read_input_tokens"), data.get("cache_creation_input_tokens")
    return Usage(
        input=total(data.get("input_tokens"), read, written),
        output=count(data.get("output_tokens")),
        cached=count(read),
        written=count(written),
        reasoning=count(map_of(data.get("output_tokens_details")).get("thinking_tokens")),
    )


def _hosted(path: str) -> str | None:
    found = _BEDROCK.search(path) or _VERTEX.search(unquote(path))
    return unquote(found[1]) if found else None


def _events(data: bytes) -> Iterator[Mapping[str, Any]]:
    """The events, each with its type; Bedrock wraps them into its own stream."""
    if data.startswith(b"\0"):
        yield from _bedrock_events(data)
        return
    for event in events(data):
        fields = parsed(event.data)
        if isinstance(fields, dict):
            # An error of a proxy has no type.
            kind = text_of(fields.get("type")) or event.event or ("error" if problem(fields) else None)
            yield {**fields, "type": kind}
        elif event.event == "error":
            yield {"type": "error", "message": event.data}


def _bedrock_events(data: bytes) -> Iterator[Mapping[str, Any]]:
    for message in messages(data):
        payload = map_of(parsed(message.payload))
        if message.headers.get(":message-type") in {"exception", "error"}:
            named = message.headers.get(":error-message") or message.headers.get(":exception-type")
            yield {"type": "error", "message": text_of(payload.get("message")) or str(named)}
            continue
        try:
            wrapped = base64.b64decode(text_of(payload.get("bytes")) or "")
        except ValueError:
            continue
        fields = parsed(wrapped)
        if isinstance(fields, dict):
            yield {**fields, "type": text_of(fields.get("type"))}


ANTHROPIC_MESSAGES: Final = Decoder(
    "anthropic-messages", "messages", recognises, model, reply, reply_from_stream, stream_ended
)
