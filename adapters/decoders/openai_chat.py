"""The OpenAI chat completions protocol, as many servers speak it (vLLM, Azure, OpenRouter, Ollama, ...)."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any, Final, TypeVar

from adapters.sse import events
from cassettes.model import Reply, ToolRequest, Usage

from .protocol import Decoder

__all__ = ["OPENAI_CHAT"]

T = TypeVar("T")

_DEPLOYMENT: Final = re.compile(r"/deployments/([^/]+)/chat/completions")
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
    named = _text(body.get("model"))
    deployment = _DEPLOYMENT.search(path)
    return named or (deployment[1] if deployment else "unknown")


def reply(status: int, body: str | bytes) -> Reply | None:
    """Read a whole answer; None if it is no answer of this protocol."""
    data = _parsed(body)
    problem = _error(data)
    if status >= 400 or problem is not None:
        return Reply(error=problem or f"HTTP {status}", id=_text(_map(data).get("id")))
    if not isinstance(data, dict):
        return None
    choice = _first_choice(data)
    message = _map(choice.get("message"))
    requests = [_request(call) for call in _list(message.get("tool_calls"))]
    if not requests and isinstance(message.get("function_call"), dict):
        requests = [_request({"function": message["function_call"]})]
    return Reply(
        text=_content(message.get("content")),
        tool_calls=tuple(requests),
        finish=_text(choice.get("finish_reason")),
        model=_text(data.get("model")),
        id=_text(data.get("id")),
        usage=_usage(data.get("usage")),
        refusal=_text(message.get("refusal")),
    )


def reply_from_stream(data: bytes) -> Reply | None:
    """Put the pieces of a streamed answer together; None if there is none."""
    chunks = [_parsed(event.data) for event in events(data) if not event.data.startswith("[DONE]")]
    maps = [chunk for chunk in chunks if isinstance(chunk, dict)]
    if not maps:
        return None
    choices = [_first_choice(chunk) for chunk in maps]
    deltas = [_map(choice.get("delta")) for choice in choices]
    return Reply(
        text=_joined(_content(delta.get("content")) for delta in deltas),
        tool_calls=_requests(deltas),
        finish=_last(_text(choice.get("finish_reason")) for choice in choices),
        model=_first(_text(chunk.get("model")) for chunk in maps),
        id=_first(_text(chunk.get("id")) for chunk in maps),
        usage=_last(_usage(chunk.get("usage")) for chunk in maps),
        refusal=_joined(_text(delta.get("refusal")) for delta in deltas),
        error=_first(_error(chunk) for chunk in maps),
    )


def stream_ended(data: bytes) -> bool:
    """True once ``[DONE]`` was seen: clients stop reading there, without waiting for the connection."""
    return _DONE.search(data) is not None


def _requests(deltas: Iterable[Mapping[str, Any]]) -> tuple[ToolRequest, ...]:
    """The tool calls of a stream: the name comes first, the arguments piece by piece, told apart by index."""
    pieces: dict[Any, list[Any]] = {}
    for delta in deltas:
        calls = _list(delta.get("tool_calls"))
        if isinstance(delta.get("function_call"), dict):
            calls = [*calls, {"index": "function", "function": delta["function_call"]}]
        for call in map(_map, calls):
            request = _request(call)
            index = call.get("index")
            # Some servers leave the index out and send each call whole, under its own id.
            place = index if isinstance(index, int | str) else request.id or len(pieces)
            known = pieces.setdefault(place, [None, "", ""])
            known[0] = known[0] or request.id
            known[1] = known[1] or request.name
            known[2] += request.arguments
    return tuple(ToolRequest(*known) for known in pieces.values())


def _request(call: Any) -> ToolRequest:
    function = _map(_map(call).get("function")) or _map(_map(call).get("custom"))
    arguments = function.get("arguments", function.get("input"))
    # Some servers send the arguments as an object; its text is what a client would have to write.
    text = arguments if isinstance(arguments, str) else "" if arguments is None else json.dumps(arguments)
    return ToolRequest(_text(_map(call).get("id")), _text(function.get("name")) or "", text)


def _usage(data: Any) -> Usage | None:
    if not isinstance(data, dict):
        return None
    cached = _map(data.get("prompt_tokens_details")).get("cached_tokens", data.get("prompt_cache_hit_tokens"))
    return Usage(
        input=_count(data.get("prompt_tokens")),
        output=_count(data.get("completion_tokens")),
        cached=_count(cached),
        reasoning=_count(_map(data.get("completion_tokens_details")).get("reasoning_tokens")),
    )


def _error(data: Any) -> str | None:
    """The message of an error body, in the shapes that servers use."""
    fields = _map(data)
    for problem in (fields.get("error"), fields if fields.get("object") == "error" else None, fields.get("detail")):
        if isinstance(problem, dict):
            return _text(problem.get("message")) or json.dumps(problem)
        if problem:
            return problem if isinstance(problem, str) else json.dumps(problem)
    return None


def _content(content: Any) -> str | None:
    """Text, or the text parts of a list of parts."""
    if isinstance(content, list):
        return _joined(_text(_map(part).get("text")) for part in content)
    return _text(content)


def _first_choice(data: Mapping[str, Any]) -> Mapping[str, Any]:
    """With several choices (``n``) the first one stands for the reply."""
    return next((c for c in map(_map, _list(data.get("choices"))) if c.get("index") in (0, None)), {})


def _parsed(body: str | bytes) -> Any:
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        return None


def _map(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def _count(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _joined(parts: Iterable[str | None]) -> str | None:
    texts = [part for part in parts if part is not None]
    return "".join(texts) if texts else None


def _first(values: Iterable[T | None]) -> T | None:
    return next((value for value in values if value is not None), None)


def _last(values: Iterable[T | None]) -> T | None:
    return _first(reversed(list(values)))


OPENAI_CHAT: Final = Decoder(
    protocol="openai-chat",
    history="messages",
    recognises=recognises,
    model=model,
    reply=reply,
    reply_from_stream=reply_from_stream,
    stream_ended=stream_ended,
)
