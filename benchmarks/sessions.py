"""What a production session costs the host: a tool call and a model call without one, unsampled, and recorded."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from pathlib import Path
from typing import Any

import httpx2
import openai

import trialtape as tt

from .rows import Row
from .timing import Cpu, best

__all__ = ["rows"]


@tt.tool(effect="read", name="quote")
def _quote(number: int) -> dict[str, Any]:
    return {"number": number, "carrier": "post", "price": f"{number % 90}.90", "days": number % 7, "note": "x" * 300}


def rows(calls: int = 500, sessions: int = 20, rounds: int = 5) -> list[Row]:
    """Measure ``calls`` tool calls, a tenth as many model calls, and as many empty ``sessions``, in each round."""
    with tempfile.TemporaryDirectory() as folder:
        recorded = partial(tt.session, home=Path(folder), keep=None, max_bytes=None)
        ways: dict[str, Callable[[], AbstractContextManager[Any]]] = {
            "none": nullcontext,
            "unsampled": partial(recorded, sample=0.0),
            "sampled": recorded,
            "unredacted": partial(recorded, personal_data=False),
        }
        return [
            *_tools(ways, calls, rounds),
            *_models(ways, max(1, calls // 10), rounds),
            *_blocks(ways, sessions, rounds),
        ]


def _compared(what: str, found: dict[str, float], scale: float, unit: str, note: str) -> list[Row]:
    names = {
        "unsampled": "in an unsampled session",
        "sampled": "in a recorded session",
        "unredacted": "in a recorded session that keeps personal data",
    }
    return [
        Row(f"{what} {told}, CPU", found[way] * scale, unit, found["none"] * scale, "no session", note=note)
        for way, told in names.items()
    ]


def _tools(ways: dict[str, Callable[[], AbstractContextManager[Any]]], calls: int, rounds: int) -> list[Row]:
    def side(block: Callable[[], AbstractContextManager[Any]]) -> float:
        with block(), Cpu() as cpu:
            for number in range(calls):
                _quote(number)
        return cpu.seconds / calls

    found = best({way: partial(side, block) for way, block in ways.items()}, rounds)
    return _compared("a tool call", found, 1e6, "us", f"{calls} calls of a `@tt.tool` that returns 370 B of JSON")


def _models(ways: dict[str, Callable[[], AbstractContextManager[Any]]], calls: int, rounds: int) -> list[Row]:
    answer = {
        "id": "c",
        "object": "chat.completion",
        "created": 1,
        "model": "m",
        "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "Yes. " * 50}}],
        "usage": {"prompt_tokens": 100, "completion_tokens": 50, "total_tokens": 150},
    }
    body = json.dumps(answer).encode()
    transport = httpx2.MockTransport(
        lambda _: httpx2.Response(200, headers={"content-type": "application/json"}, content=body)
    )
    client = openai.OpenAI(
        api_key="any", base_url="http://x/v1", max_retries=0, http_client=httpx2.Client(transport=transport)
    )

    def side(block: Callable[[], AbstractContextManager[Any]]) -> float:
        messages: list[Any] = [{"role": "system", "content": "You help customers of a shop. " * 40}]
        with block(), Cpu() as cpu:
            for number in range(calls):
                messages.append({"role": "user", "content": f"Question {number}: where is my order?"})
                client.chat.completions.create(model="m", messages=messages[:1] + messages[-12:])
        return cpu.seconds / calls

    with client:
        found = best({way: partial(side, block) for way, block in ways.items()}, rounds)
    note = f"{calls} calls of the openai SDK over httpx2 with a mock transport, the last 12 messages in each"
    return _compared("a model call", found, 1e3, "ms", note)


def _blocks(ways: dict[str, Callable[[], AbstractContextManager[Any]]], sessions: int, rounds: int) -> list[Row]:
    def side(block: Callable[[], AbstractContextManager[Any]]) -> float:
        with Cpu() as cpu:
            for _ in range(sessions):
                with block():
                    pass
        return cpu.seconds / sessions

    found = best({way: partial(side, block) for way, block in ways.items()}, rounds)
    note = (
        "begin and end; a recorded one makes, syncs and closes a file, and installs the patches if it is the only one"
    )
    return _compared("an empty block", found, 1e6, "us", note)
