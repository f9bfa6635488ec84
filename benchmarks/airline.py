"""The traffic that a recorder would have seen, rebuilt from the 200 published airline trajectories of tau-bench.

Real: every message, tool call and tool result. Made up, seeded: ids, headers, times, token counts. Approximated: the
tool schemas, from the arguments seen; they are smaller than the real ones, so what repeats in each request is too.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any, Final

from attrs import frozen

from adapters.http import ask, response_head
from cassettes.codec import snapshot
from cassettes.model import Call, Ending, Header, Interaction, Value
from cassettes.redact import Redactor
from cassettes.writer import CassetteWriter

from .rows import Skipped

__all__ = [
    "FOLDER",
    "URL",
    "Event",
    "Exchange",
    "ToolUse",
    "conversation",
    "events",
    "interactions",
    "read",
    "tools",
    "trials",
    "write",
]

FOLDER: Final = Path(__file__).resolve().parents[2] / "shared" / "data" / "taubench"
URL: Final = "https://api.openai.com/v1/chat/completions"

Message = dict[str, Any]

_HEX: Final = "0123456789abcdef"
_LETTERS: Final = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
_REQUEST_HEADERS: Final = {
    "Accept": "application/json",
    "Accept-Encoding": "gzip, deflate",
    "Connection": "keep-alive",
    "Content-Type": "application/json",
    "Host": "api.openai.com",
    "User-Agent": "OpenAI/Python 3.57.0",
    "X-Stainless-Arch": "x64",
    "X-Stainless-Async": "false",
    "X-Stainless-Lang": "python",
    "X-Stainless-OS": "Linux",
    "X-Stainless-Package-Version": "3.57.0",
    "X-Stainless-Runtime": "CPython",
    "X-Stainless-Runtime-Version": "3.11.7",
    "x-stainless-read-timeout": "600",
    "x-stainless-retry-count": "0",
}


@frozen
class Exchange:
    """One model call as HTTP; ``body`` and ``answer`` are the parsed JSON."""

    body: dict[str, Any]
    headers: dict[str, str]
    answer: dict[str, Any]
    at: float
    duration: float

    @property
    def raw(self) -> dict[str, Any]:
        """All of it, as a line of raw JSONL holds it."""
        return {
            "at": self.at,
            "duration": self.duration,
            "request": {"method": "POST", "url": URL, "headers": _REQUEST_HEADERS, "body": self.body},
            "response": {"status": 200, "headers": self.headers, "body": self.answer},
        }


@frozen
class ToolUse:
    """One tool call with its result."""

    name: str
    arguments: dict[str, Any]
    result: Any
    at: float
    duration: float

    @property
    def raw(self) -> dict[str, Any]:
        """All of it, as a line of raw JSONL holds it."""
        return {
            "at": self.at,
            "duration": self.duration,
            "tool": self.name,
            "arguments": self.arguments,
            "result": self.result,
        }


Event = Exchange | ToolUse


def read(name: str) -> Any:
    """A file of the data folder.

    Raises:
        Skipped: it is not there.
    """
    return _read(FOLDER / name)


@cache
def _read(path: Path) -> Any:
    if not path.exists():
        raise Skipped(f"{path} is not there: this group needs the recordings published by sierra-research/tau-bench")
    return json.loads(path.read_bytes())


def trials(limit: int | None = None) -> list[list[Message]]:
    """The message lists of the recorded trials.

    Raises:
        Skipped: the data is not there.
    """
    return [record["traj"] for record in read("gpt-4o-airline.json")[:limit]]


def conversation(turns: int, start: int = 0) -> list[Message]:
    """Trials laid end to end, one system prompt, until there are that many model calls.

    Raises:
        Skipped: the data is not there.
    """
    known = trials()
    found, model_calls, place = [known[start % len(known)][0]], 0, start
    while True:
        for message in known[place % len(known)][1:]:
            found.append(message)
            model_calls += message["role"] == "assistant"
            if model_calls == turns:
                return found
        place += 1


def events(messages: list[Message], seed: int = 0) -> Iterator[Event]:
    """What a recorder sees of a conversation, in order."""
    made = random.Random(seed)
    at = 0.0
    asked: list[dict[str, Any]] = []
    for place, message in enumerate(messages):
        duration = made.uniform(0.6, 5.0) if message["role"] == "assistant" else made.uniform(0.001, 0.3)
        if message["role"] == "assistant":
            yield _exchange(messages[:place], message, at, duration, made)
            asked = list(message.get("tool_calls") or [])
        elif message["role"] == "tool":
            fitting = next((call for call in asked if call["id"] == message.get("tool_call_id")), None)
            arguments: dict[str, Any] = {}
            if fitting is not None:
                asked.remove(fitting)
                arguments = _arguments(fitting["function"]["arguments"])
            yield ToolUse(message["name"], arguments, message["content"], at, duration)
        else:
            duration = made.uniform(1.0, 20.0)
        at += duration


def interactions(found: Iterable[Event]) -> Iterator[Interaction]:
    """The events as our HTTP adapter and tool decorator would hand them to the recorder."""
    for step, event in enumerate(found):
        reply = None
        if isinstance(event, Exchange):
            body = json.dumps(event.body, ensure_ascii=False, separators=(",", ":")).encode()
            asked = ask("POST", URL, _REQUEST_HEADERS.items(), body)
            answer = json.dumps(event.answer, ensure_ascii=False)
            call, reply = asked.call, asked.reply(200, answer)
            outcome = Value({**response_head(200, event.headers.items()), "body": answer})
        else:
            call, outcome = Call("tool", event.name, event.arguments), Value(event.result)
        yield Interaction(step, call, outcome, 2 * step + 1, 2 * step + 2, event.at, event.duration, reply=reply)


def write(path: Path, found: Iterable[Interaction], name: str = "0") -> Path:
    """A whole cassette of these interactions."""
    writer = CassetteWriter(path, Header("bench", name, 0, 0.0), Redactor(b"k" * 32))
    for interaction in found:
        writer.append(interaction, snapshot(interaction.call))
    writer.close(Ending("completed"))
    return path


def _exchange(history: list[Message], message: Message, at: float, duration: float, made: random.Random) -> Exchange:
    body = {"model": "gpt-4o", "messages": history, "tools": tools(), "temperature": 0.0}
    asked = sum(len(str(m.get("content"))) for m in history) // 4 + 2100
    told = len(str(message)) // 4
    answer = {
        "id": "chatcmpl-" + _letters(made, 29),
        "object": "chat.completion",
        "created": 1_760_000_000 + int(at),
        "model": "gpt-4o-2024-08-06",
        "choices": [
            {
                "index": 0,
                "message": {**message, "refusal": None, "annotations": []},
                "logprobs": None,
                "finish_reason": "tool_calls" if message.get("tool_calls") else "stop",
            }
        ],
        "usage": {
            "prompt_tokens": asked,
            "completion_tokens": told,
            "total_tokens": asked + told,
            "prompt_tokens_details": {"cached_tokens": asked // 128 * 128, "audio_tokens": 0},
            "completion_tokens_details": {"reasoning_tokens": 0, "audio_tokens": 0},
        },
        "service_tier": "default",
        "system_fingerprint": "fp_07871e2ad8",
    }
    return Exchange(body, _headers(made, duration), answer, at, duration)


def _headers(made: random.Random, duration: float) -> dict[str, str]:
    """The response headers of a hosted provider."""
    return {
        "date": "Thu, 09 Oct 2025 08:53:20 GMT",
        "content-type": "application/json",
        "transfer-encoding": "chunked",
        "connection": "keep-alive",
        "access-control-expose-headers": "X-Request-ID",
        "openai-organization": "user-" + "x" * 24,
        "openai-processing-ms": str(round(duration * 1000)),
        "openai-project": "proj_" + "a" * 24,
        "openai-version": "2020-10-01",
        "x-envoy-upstream-service-time": str(round(duration * 1000) + 3),
        "x-ratelimit-limit-requests": "10000",
        "x-ratelimit-limit-tokens": "2000000",
        "x-ratelimit-remaining-requests": str(made.randint(9000, 9999)),
        "x-ratelimit-remaining-tokens": str(made.randint(1_900_000, 1_999_999)),
        "x-ratelimit-reset-requests": "6ms",
        "x-ratelimit-reset-tokens": f"{made.randint(1, 99)}ms",
        "x-request-id": "req_" + _letters(made, 32, _HEX),
        "cf-cache-status": "DYNAMIC",
        "set-cookie": f"__cf_bm={_letters(made, 43)}-1.0.1.1-{_letters(made, 150)}; path=/; HttpOnly; Secure",
        "x-content-type-options": "nosniff",
        "server": "cloudflare",
        "cf-ray": _letters(made, 16, _HEX) + "-IAD",
        "alt-svc": 'h3=":443"; ma=86400',
        "strict-transport-security": "max-age=31536000; includeSubDomains; preload",
    }


def tools() -> list[dict[str, Any]]:
    """The schemas of the tools that the recordings call, as far as their arguments tell."""
    return _tools(FOLDER)


@cache
def _tools(folder: Path) -> list[dict[str, Any]]:
    seen: dict[str, dict[str, str]] = {}
    for record in _read(folder / "gpt-4o-airline.json"):
        for message in record["traj"]:
            for call in message.get("tool_calls") or []:
                known = seen.setdefault(call["function"]["name"], {})
                for name, value in _arguments(call["function"]["arguments"]).items():
                    known.setdefault(name, _type_of(value))
    return [
        {
            "type": "function",
            "function": {
                "name": name,
                "description": name.replace("_", " "),
                "parameters": {
                    "type": "object",
                    "properties": {k: {"type": v, "description": k.replace("_", " ")} for k, v in known.items()},
                    "required": list(known),
                },
            },
        }
        for name, known in sorted(seen.items())
    ]


def _type_of(value: Any) -> str:
    kinds = {str: "string", bool: "boolean", int: "integer", float: "number", list: "array", dict: "object"}
    return kinds.get(type(value), "null")


def _arguments(text: str) -> dict[str, Any]:
    try:
        read_back = json.loads(text)
    except ValueError:
        return {"unparsed": text}
    return read_back if isinstance(read_back, dict) else {"unparsed": text}


def _letters(made: random.Random, length: int, alphabet: str = _LETTERS) -> str:
    return "".join(made.choices(alphabet, k=length))
