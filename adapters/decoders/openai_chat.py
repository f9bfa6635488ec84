"""The OpenAI chat completions protocol, as many servers speak it (vLLM, Azure, OpenRouter, Ollama, ...)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, Final
from urllib.parse import unquote

from attrs import define

from adapters.sse import Event, events
from cassettes.model import Reply, ToolRequest, Usage

from .loose import (
    count,
    dumped,
    fault,
    first,
    first_choice,
    joined,
    last,
    looks_like_json,
    map_of,
    maps_of,
    parsed,
    problem,
    text_of,
)
from .protocol import Decoder

__all__ = ["OPENAI_CHAT", "model"]

_DEPLOYMENT: Final = re.compile(r"/deployments/([^/]+)/")
_DONE: Final = re.compile(rb"(?:^|[\r\n])data: ?\[DONE\][^\r\n]*[\r\n]")


def recognises(method: str, path: str, body: Any) -> bool:
    """True for a POST of messages to any ``.../chat/completions``."""
    return (
        method == "POST"
        and path.rstrip("/").endswith("/chat/completions")
        and isinstance(body, dict)
        and isinstance(body.get("messages"), list)
    )


def model(path: str, body: Any) -> str:
    """The model asked for; Azure names it in the path only."""
    named = text_of(map_of(body).get("model"))
    deployment = _DEPLOYMENT.search(path)
    return named or (unquote(deployment[1]) if deployment else "unknown")


def reply(status: int, body: str | bytes) -> Reply | None:
    """Read a whole answer; None if it is no answer of this protocol."""
    data = parsed(body)
    error = fault(status, data)
    if error is not None:
        return Reply(error=error, id=text_of(map_of(data).get("id")))
    if not isinstance(data, dict):
        return None
    choice = first_choice(data.get("choices"))
    message = map_of(choice.get("message"))
    finish = text_of(choice.get("finish_reason"))
    requests = [_request(call) for call in maps_of(message.get("tool_calls"))]
    if not requests and isinstance(message.get("function_call"), dict):
        requests = [_request({"function": message["function_call"]})]
    return Reply(
        text=_content(message.get("content")),
        tool_calls=tuple(requests),
        finish=finish,
        model=text_of(data.get("model")),
        id=text_of(data.get("id")),
        usage=_usage(data.get("usage")),
        refusal=_refusal(text_of(message.get("refusal")), finish),
        error=problem(choice),
    )


def reply_from_stream(data: bytes) -> Reply | None:
    """Put the pieces of a streamed answer together; None if there is none."""
    if looks_like_json(data):
        return reply(200, data)
    found = [(event, parsed(event.data)) for event in events(data)]
    chunks = [chunk for _, chunk in found if isinstance(chunk, dict)]
    error = first(_error(event, chunk) for event, chunk in found)
    if not chunks and error is None:
        return None
    choices = [first_choice(chunk.get("choices")) for chunk in chunks]
    deltas = [map_of(choice.get("delta")) for choice in choices]
    finish = last(text_of(choice.get("finish_reason")) for choice in choices)
    return Reply(
        text=joined(_content(delta.get("content")) for delta in deltas),
        tool_calls=_requests(deltas),
        finish=finish,
        # Azure begins with a chunk of filter results, whose model and id are empty.
        model=first(text_of(chunk.get("model")) or None for chunk in chunks),
        id=first(text_of(chunk.get("id")) or None for chunk in chunks),
        usage=last(_usage(chunk.get("usage")) for chunk in chunks),
        refusal=_refusal(joined(text_of(delta.get("refusal")) for delta in deltas), finish),
        error=error or first(map(problem, choices)),
    )


def stream_ended(data: bytes) -> bool:
    """True once ``[DONE]`` was seen: clients stop reading there, without waiting for the connection."""
    return _DONE.search(data) is not None


@define
class _Call:
    """A tool call while its pieces arrive."""

    id: str | None
    name: str
    arguments: list[str]


def _requests(deltas: Iterable[Mapping[str, Any]]) -> tuple[ToolRequest, ...]:
    """The tool calls of a stream: the name comes first, the arguments piece by piece, told apart by index."""
    calls: list[_Call] = []
    latest: dict[Any, _Call] = {}
    for delta in deltas:
        pieces = maps_of(delta.get("tool_calls"))
        if isinstance(delta.get("function_call"), dict):
            pieces = [*pieces, {"index": "function", "function": delta["function_call"]}]
        for piece in pieces:
            request = _request(piece)
            index = piece.get("index")
            # Some servers leave the index out and send each call whole, under its own id.
            place = index if isinstance(index, int | str) else request.id or len(calls)
            call = latest.get(place)
            # Others (Gemini) give every call the index 0; and a new id alone is none, old vLLM made one per chunk.
            if call is None or (request.name and request.id and request.id != call.id and call.id):
                call = latest[place] = _Call(None, "", [])
                calls.append(call)
            call.id = call.id or request.id
            call.name = call.name or request.name
            call.arguments.append(request.arguments)
    return tuple(ToolRequest(call.id, call.name, "".join(call.arguments)) for call in calls)


def _request(call: Mapping[str, Any]) -> ToolRequest:
    function = map_of(call.get("function")) or map_of(call.get("custom"))
    arguments = function.get("arguments", function.get("input"))
    return ToolRequest(text_of(call.get("id")), text_of(function.get("name")) or "", dumped(arguments))


def _error(event: Event, data: Any) -> str | None:
    """The message of an error within a stream; some servers say so by the event's name only."""
    if event.event == "error":
        return problem(data) or text_of(map_of(data).get("message")) or event.data
    return problem(data)


def _refusal(words: str | None, finish: str | None) -> str | None:
    """The model's words, or that the provider's filter spoke for it."""
    return words or (finish if finish == "content_filter" else None)


def _usage(data: Any) -> Usage | None:
    if not isinstance(data, dict):
        return None
    cached = map_of(data.get("prompt_tokens_details")).get("cached_tokens", data.get("prompt_cache_hit_tokens"))
    return Usage(
        input=count(data.get("prompt_tokens")),
        output=count(data.get("completion_tokens")),
        cached=count(cached),
        reasoning=count(map_of(data.get("completion_tokens_details")).get("reasoning_tokens")),
    )


def _content(content: Any) -> str | None:
    """Text, or the text parts of a list of parts."""
    if isinstance(content, list):
        return joined(text_of(part.get("text")) for part in maps_of(content))
    return text_of(content)


OPENAI_CHAT: Final = Decoder("openai-chat", "messages", recognises, model, reply, reply_from_stream, stream_ended)
