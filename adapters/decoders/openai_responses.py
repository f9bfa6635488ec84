"""The OpenAI responses protocol, as OpenAI, Azure, vLLM, Ollama, OpenRouter and LiteLLM speak it.

A stream is first put together to the response object that it describes; one function reads that.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from attrs import define, field

from adapters.sse import events
from cassettes.model import Reply, ToolRequest, Usage

from .loose import (
    count,
    dumped,
    failure,
    first,
    joined,
    looks_like_json,
    map_of,
    maps_of,
    parsed,
    problem,
    text_of,
)
from .openai_chat import model
from .protocol import Decoder

__all__ = ["OPENAI_RESPONSES"]

_ENDS: Final = frozenset({"response.completed", "response.incomplete", "response.failed", "response.cancelled"})
# What a client is to run has a call_id; what the provider ran itself (web search, code interpreter) has none.
_ARGUMENTS: Final = ("arguments", "input", "action", "actions", "operation")


def recognises(method: str, path: str, body: Any) -> bool:
    """True for a POST of input, or of a stored prompt, to any ``.../responses``."""
    return (
        method == "POST"
        and path.rstrip("/").endswith("/responses")
        and isinstance(body, dict)
        and (isinstance(body.get("input"), str | list) or isinstance(body.get("prompt"), dict))
    )


def reply(status: int, body: str | bytes) -> Reply | None:
    """Read a whole answer; None if it is no answer of this protocol."""
    data = parsed(body)
    if status >= 400:
        return Reply(error=failure(status, data))
    response = map_of(data)
    if isinstance(response.get("output"), list) or response.get("object") == "response":
        return _read(response)
    error = problem(data)
    return None if error is None else Reply(error=error)


def reply_from_stream(data: bytes) -> Reply | None:
    """Put the events of a streamed answer together; None if there is none."""
    if looks_like_json(data):
        return reply(200, data)
    response: dict[str, Any] = {}
    items: dict[Any, _Item] = {}
    known = False
    for event in _events(data):
        kind = event["type"]
        if kind == "error" or problem(event) is not None:
            response["error"] = {"message": problem(event) or text_of(event.get("message")) or dumped(event)}
        elif isinstance(event.get("response"), dict):
            response = {**event["response"], "error": event["response"].get("error") or response.get("error")}
            if kind not in _ENDS:
                response.pop("status", None)  # "in progress" is no way to finish
        elif kind.startswith("response."):
            place = first((count(event.get("output_index")), text_of(event.get("item_id")), _id(event)))
            items.setdefault(place, _Item()).add(kind, event)
        else:
            continue
        known = True
    if not known:
        return None
    # Some servers leave the output out of the last event.
    response["output"] = maps_of(response.get("output")) or [item.whole() for item in items.values()]
    return _read(response)


def stream_ended(data: bytes) -> bool:
    """True once the response ended in one way or another."""
    return any(event["type"] in _ENDS or event["type"] == "error" for event in _events(data))


@define
class _Item:
    """One item of the output while its pieces arrive."""

    item: Mapping[str, Any] = field(factory=dict)
    done: bool = False
    parts: dict[tuple[str, int | None], list[str]] = field(factory=dict)
    arguments: list[str] = field(factory=list)

    def add(self, kind: str, event: Mapping[str, Any]) -> None:
        if kind in {"response.output_item.added", "response.output_item.done"}:
            self.item = map_of(event.get("item"))
            self.done = kind.endswith(".done")
            return
        name, _, step = kind.removeprefix("response.").rpartition(".")
        if name in {"output_text", "refusal"}:
            place = (name, count(event.get("content_index")))
            piece = event.get("delta") if step == "delta" else event.get("refusal", event.get("text"))
            _piece(self.parts.setdefault(place, []), step, piece)
        elif name in {"function_call_arguments", "custom_tool_call_input"}:
            piece = event.get("delta") if step == "delta" else event.get("arguments", event.get("input"))
            _piece(self.arguments, step, piece)
            # Some servers name the function here only.
            self.item = {"type": "function_call", "name": event.get("name")} if not self.item else self.item

    def whole(self) -> Mapping[str, Any]:
        """The item as a response would hold it."""
        if self.done:
            return self.item
        item = dict(self.item)
        if self.arguments:
            item["input" if item.get("type") == "custom_tool_call" else "arguments"] = "".join(self.arguments)
        if self.parts:
            item["type"] = "message"
            item["content"] = [
                {"type": kind, "refusal" if kind == "refusal" else "text": "".join(pieces)}
                for (kind, _), pieces in self.parts.items()
            ]
        return item


def _piece(pieces: list[str], step: str, piece: Any) -> None:
    """Add a delta; what comes with ``done`` is the whole, and stands instead of the pieces."""
    if isinstance(piece, str):
        if step == "done":
            pieces.clear()
        pieces.append(piece)


def _read(response: Mapping[str, Any]) -> Reply:
    items = maps_of(response.get("output"))
    parts = [part for item in items if item.get("type") == "message" for part in maps_of(item.get("content"))]
    reason = text_of(map_of(response.get("incomplete_details")).get("reason"))
    refusal = joined(text_of(part.get("refusal")) for part in parts if part.get("type") == "refusal")
    return Reply(
        text=joined(text_of(part.get("text")) for part in parts if part.get("type") == "output_text"),
        tool_calls=tuple(_requests(items)),
        finish=reason or text_of(response.get("status")),
        model=text_of(response.get("model")),
        id=text_of(response.get("id")),
        usage=_usage(response.get("usage")),
        refusal=refusal or (reason if reason == "content_filter" else None),
        error=problem({"error": response.get("error")}),
    )


def _requests(items: Iterable[Mapping[str, Any]]) -> Iterable[ToolRequest]:
    for item in items:
        kind = text_of(item.get("type")) or ""
        identity = text_of(item.get("call_id"))
        if kind == "function_call" or (kind.endswith("_call") and identity is not None):
            asked = first(item.get(name) for name in _ARGUMENTS)
            yield ToolRequest(identity, text_of(item.get("name")) or kind.removesuffix("_call"), dumped(asked))


def _usage(data: Any) -> Usage | None:
    if not isinstance(data, dict):
        return None
    return Usage(
        input=count(data.get("input_tokens")),
        output=count(data.get("output_tokens")),
        cached=count(map_of(data.get("input_tokens_details")).get("cached_tokens")),
        reasoning=count(map_of(data.get("output_tokens_details")).get("reasoning_tokens")),
    )


def _id(event: Mapping[str, Any]) -> str | None:
    return text_of(map_of(event.get("item")).get("id"))


def _events(data: bytes) -> list[Mapping[str, Any]]:
    """The events, each with its type, which some servers give by the event's name only."""
    found = [(event.event, parsed(event.data)) for event in events(data)]
    maps = [(name, fields) for name, fields in found if isinstance(fields, dict)]
    return [{**fields, "type": text_of(fields.get("type")) or name or ""} for name, fields in maps]


OPENAI_RESPONSES: Final = Decoder(
    "openai-responses", "input", recognises, model, reply, reply_from_stream, stream_ended
)
