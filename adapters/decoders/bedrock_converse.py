"""The Converse protocol of Amazon Bedrock; its streams are binary (`cassettes.eventstream`).

A stream is first put together to the response that it describes; one function reads that.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final
from urllib.parse import unquote

from attrs import define, field

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
    text_of,
    total,
)
from .protocol import Decoder

__all__ = ["BEDROCK_CONVERSE"]

_PATH: Final = re.compile(r"/model/(.+)/converse(?:-stream)?/?\Z", re.DOTALL)
_REFUSALS: Final = frozenset({"guardrail_intervened", "content_filtered"})


def recognises(method: str, path: str, body: Any) -> bool:
    """True for a POST to any ``.../model/MODEL/converse``; a stored prompt needs no messages."""
    return (
        method == "POST"
        and _PATH.search(path) is not None
        and isinstance(body, dict)
        and isinstance(body.get("messages", []), list)
    )


def model(path: str, body: Any) -> str:  # noqa: ARG001 - the body does not name it
    """The model asked for, of the path: an id, or the ARN of a profile or a prompt."""
    found = _PATH.search(path)
    return unquote(found[1]) if found else "unknown"


def reply(status: int, body: str | bytes) -> Reply | None:
    """Read a whole answer; None if it is no answer of this protocol."""
    data = parsed(body)
    error = fault(status, data)
    if error is not None:
        return Reply(error=error)
    response = map_of(data)
    return _read(response) if isinstance(response.get("output"), dict) else None


def reply_from_stream(data: bytes) -> Reply | None:
    """Put the events of a streamed answer together; None if there is none."""
    if looks_like_json(data):
        return reply(200, data)
    blocks: dict[Any, _Block] = {}
    end: dict[str, Any] = {}
    error: str | None = None
    known = False
    for kind, event in _events(data):
        index = count(event.get("contentBlockIndex"))
        if kind == "contentBlockStart":
            blocks[index] = _Block(map_of(map_of(event.get("start")).get("toolUse")))
        elif kind == "contentBlockDelta":
            blocks.setdefault(index, _Block()).add(map_of(event.get("delta")))
        elif kind == "contentBlockStop" and index in blocks:
            blocks[index].stopped = True
        elif kind == "messageStop":
            end["stopReason"] = event.get("stopReason")
        elif kind == "metadata":
            end["usage"] = event.get("usage")
        elif kind == "error":
            error = error or text_of(event.get("message"))
        known = True
    content = [block.whole() for block in blocks.values()]
    return _read({"output": {"message": {"content": content}}, **end}, error) if known else None


def stream_ended(data: bytes) -> bool:
    """True once the metadata came, which follow the end of the message, or an error."""
    return any(kind in {"metadata", "error"} for kind, _ in _events(data))


@define
class _Block:
    """One block of the content while its pieces arrive."""

    tool: Mapping[str, Any] = field(factory=dict)
    text: list[str] = field(factory=list)
    input: list[str] = field(factory=list)
    stopped: bool = False

    def add(self, delta: Mapping[str, Any]) -> None:
        if isinstance(delta.get("text"), str):
            self.text.append(delta["text"])
        piece = map_of(delta.get("toolUse")).get("input")
        if isinstance(piece, str):
            self.input.append(piece)

    def whole(self) -> Mapping[str, Any]:
        """The block as a response would hold it, but for its input, which stays the text that it came as."""
        if self.tool or self.input:
            text = "".join(self.input)
            return {"toolUse": {**self.tool, "input": text or {} if self.stopped else text}}
        return {"text": "".join(self.text)} if self.text else {}


def _read(response: Mapping[str, Any], error: str | None = None) -> Reply:
    blocks = maps_of(map_of(map_of(response.get("output")).get("message")).get("content"))
    tools = [block["toolUse"] for block in blocks if isinstance(block.get("toolUse"), dict)]
    finish = text_of(response.get("stopReason"))
    return Reply(
        text=joined(_text(block) for block in blocks),
        tool_calls=tuple(
            ToolRequest(text_of(tool.get("toolUseId")), text_of(tool.get("name")) or "", dumped(tool.get("input")))
            for tool in tools
            if tool.get("type") != "server_tool_use"  # which the provider runs itself
        ),
        finish=finish,
        usage=_usage(response.get("usage")),
        refusal=finish if finish in _REFUSALS else None,
        error=error,
    )


def _text(block: Mapping[str, Any]) -> str | None:
    """The text of a block; with citations it lies one level deeper."""
    cited = maps_of(map_of(block.get("citationsContent")).get("content"))
    return text_of(block.get("text")) if not cited else joined(text_of(part.get("text")) for part in cited)


def _usage(data: Any) -> Usage | None:
    """The ``inputTokens`` of Bedrock are those that the cache neither gave nor took; here input is the whole prompt."""
    if not isinstance(data, dict):
        return None
    read, written = data.get("cacheReadInputTokens"), data.get("cacheWriteInputTokens")
    return Usage(
        input=total(data.get("inputTokens"), read, written),
        output=count(data.get("outputTokens")),
        cached=count(read),
        written=count(written),
    )


def _events(data: bytes) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The events by type; an exception of the service is an ``error``."""
    for message in messages(data):
        payload = map_of(parsed(message.payload))
        kind = message.headers.get(":message-type")
        if kind in {"exception", "error"}:
            named = message.headers.get(":error-message") or message.headers.get(":exception-type")
            yield "error", {"message": text_of(payload.get("message")) or str(named or kind)}
        else:
            yield str(message.headers.get(":event-type")), payload


BEDROCK_CONVERSE: Final = Decoder(
    "bedrock-converse", "messages", recognises, model, reply, reply_from_stream, stream_ended
)
