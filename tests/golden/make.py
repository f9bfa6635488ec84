"""Made the golden files once: ``python -m tests.golden.make FOLDER``. A file of a format is never made again.

``v1.cassette`` holds one of everything of format 1, ``v999.cassette`` claims a format of the far future.
"""

from __future__ import annotations

import datetime as dt
import sys
from decimal import Decimal
from pathlib import Path

from cassettes.model import (
    Call,
    Cancelled,
    Chunk,
    Ending,
    Error,
    Header,
    Interaction,
    Mark,
    Origin,
    Patch,
    Reply,
    Stream,
    ToolRequest,
    Usage,
    Value,
)
from cassettes.redact import Redactor
from cassettes.values import pack
from tests.factories import write_cassette

HEADER = Header(
    run="baseline",
    task="exchange/1#a",
    index=3,
    began=1_764_000_000.5,
    config={"mode": "record", "seed": 7, "policy": {"external": "frozen"}},
    task_definition={"id": "exchange/1#a", "instruction": "Exchange the hat.", "expected": {"hat": (1, "red")}},
    packages={"trialtape": "0.1.0"},
)
MESSAGES = [
    {"role": "system", "content": "You are a shop's agent."},
    {"role": "user", "content": "Exchange my hat, \u00e4\u65e5\ud83c\udfa9."},
    {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": "c1", "function": {"name": "get", "arguments": "{}"}}],
    },
    {"role": "tool", "tool_call_id": "c1", "content": "a red hat"},
]


def _model(step: int, messages: int, **options: object) -> Interaction:
    body = {"model": "gpt-x", "temperature": 0.0, "messages": MESSAGES[:messages], "tools": [{"name": "get"}]}
    call = Call("model", "gpt-x", body, endpoint="openai.chat /v1/chat/completions", history="messages")
    return Interaction(step, call, started=2 * step, ended=2 * step + 1, at=step / 4, duration=0.125, **options)


INTERACTIONS = [
    _model(
        0,
        2,
        outcome=Value({"id": "r1", "choices": []}),
        reply=Reply(
            text="One moment.",
            tool_calls=(ToolRequest("c1", "get", '{"id": 1}'),),
            finish="tool_calls",
            model="gpt-x-1",
            id="r1",
            usage=Usage(12, 3, 2, 1),
        ),
    ),
    Interaction(
        1,
        Call(
            "tool", "get", {"id": 1}, effect="read", external=False, reads=("order:1",), writes=(), detail={"id": "c1"}
        ),
        Value(
            {
                "when": dt.datetime(2025, 3, 1, 12, 30, tzinfo=dt.timezone(dt.timedelta(hours=1), "CET")),
                "price": Decimal("1.50"),
                "parts": [(1, 2.5, True), {"a", "b"}, frozenset({1}), b"\x00\xff", bytearray(b"x"), 2**70, -0.0],
                5: None,
            }
        ),
        2,
        3,
        0.25,
        0.001,
    ),
    Interaction(
        2,
        Call("tool", "cancel_order", {"reason": "no"}, actor="user", effect="write"),
        Error(ValueError("no such order", 17)),
        4,
        5,
        0.5,
        0.002,
        Origin("borrowed", "baseline/exchange/1#0", 4),
        patch=Patch(((("orders", 17, "status"), pack("open"), pack(("cancelled", 1))), (("log",), None, pack([])))),
    ),
    Interaction(
        3,
        Call("http", "GET shop.example/feed", {"url": "https://shop.example/feed"}, effect="read"),
        Stream(
            {"status": 200},
            (Chunk(0.01, b"data: 1\n\n"), Chunk(0.02, b"data: 2\n\n")),
            False,
            ConnectionResetError(104, "reset"),
        ),
        6,
        9,
        0.75,
        0.5,
        parent=2,
    ),
    Interaction(4, Call("clock", "time.time", {}), Cancelled(), 7, 8, 0.8, 0.0),
    _model(5, 4, outcome=Value({"id": "r2"}), origin=Origin("extended")),
]
MARKS = [Mark("message", 0.1, {"role": "user", "content": "Exchange my hat."}), Mark("state", 0.0, "00ff")]
ENDING = Ending("error", "the provider broke off", "infrastructure")


def make(folder: Path) -> None:
    """Write both files."""
    options = {name: getattr(HEADER, name) for name in ("run", "task", "index", "began", "config", "packages")}
    path = folder / "v1.cassette"
    write_cassette(
        path,
        INTERACTIONS,
        ENDING,
        marks=MARKS,
        redactor=Redactor(b"golden"),
        task_definition=HEADER.task_definition,
        **options,
    )
    content = bytearray(path.read_bytes())
    content[8:10] = (999).to_bytes(2, "little")
    (folder / "v999.cassette").write_bytes(bytes(content))


if __name__ == "__main__":
    make(Path(sys.argv[1]))
