"""A small home for the debugger: a trial that failed, two that passed, a frozen one; the same at every run."""

from __future__ import annotations

import json
from typing import Any

from attrs import evolve

from cassettes.errors import Unanswered
from cassettes.model import Call, Error, Interaction, Mark, Origin, Patch, Reply, ToolRequest, Usage, Value
from cassettes.values import pack
from replay.home import Home
from replay.view import View
from tests.replay.recorded import keep

SYSTEM = {"role": "system", "content": "You help the customers of a small shop."}
TASK = {"id": "refund", "instruction": "You want order W1 cancelled.", "digests": {"instruction": "a"}}


def said(*texts: str) -> list[dict[str, Any]]:
    """A history: the system's message, then these, by user and assistant in turn."""
    roles = ("user", "assistant")
    return [SYSTEM, *({"role": roles[n % 2], "content": text} for n, text in enumerate(texts))]


def model(step: int, messages: list[Any], text: str | None = None, **calls: Any) -> Interaction:
    """A model call over HTTP that answers with a text and tool calls."""
    tools = tuple(ToolRequest(f"c{step}", name, json.dumps(arguments)) for name, arguments in calls.items())
    body = {"choices": [{"message": {"content": text, "tool_calls": [t.name for t in tools]}}]}
    detail = {
        "method": "POST",
        "url": "https://models.example/v1/chat/completions",
        "headers": [["content-type", "application/json"]],
        "host": "models.example",
    }
    asked = Call(
        "model",
        "shop-1",
        {"model": "shop-1", "messages": messages, "temperature": 0.5},
        endpoint="openai.chat /v1/chat/completions",
        history="messages",
        detail=detail,
    )
    head = {"status": 200, "headers": [["x-request-id", f"r{step}"]], "encoding": None, "http_version": "HTTP/1.1"}
    return Interaction(
        step=step,
        call=asked,
        outcome=Value({**head, "body": json.dumps(body)}),
        started=2 * step,
        ended=2 * step + 1,
        at=step / 10,
        duration=0.05,
        reply=Reply(text=text, tool_calls=tools, finish="stop", usage=Usage(100 + step, 7)),
    )


def tool(step: int, name: str, result: Any, effect: Any = "read", **arguments: Any) -> Interaction:
    """A tool call that returns, or raises if the result is an exception."""
    return Interaction(
        step=step,
        call=Call("tool", name, arguments, effect=effect, external=effect == "read"),
        outcome=Error(result) if isinstance(result, BaseException) else Value(result),
        started=2 * step,
        ended=2 * step + 1,
        at=step / 10,
        duration=0.002,
    )


def inside(parent: int, interaction: Interaction) -> Interaction:
    """The same, inside of another step."""
    return evolve(interaction, parent=parent)


def http(step: int) -> Interaction:
    """A request to a warehouse."""
    url = "https://warehouse.example/orders/W1"
    call = Call(
        "http",
        "GET warehouse.example/orders/W1",
        {"url": url, "body": None},
        effect="read",
        detail={"method": "GET", "url": url, "headers": [["accept", "application/json"]], "host": "warehouse.example"},
    )
    answer = {"status": 200, "headers": [], "encoding": None, "http_version": "HTTP/1.1", "body": '{"status": "open"}'}
    return Interaction(step, call, Value(answer), 2 * step, 2 * step + 1, at=step / 10, duration=0.001)


def failing() -> list[Interaction]:
    """Cancels the wrong order, after a tool raised."""
    patch = Patch(((("orders", "W2"), pack({"status": "open"}), pack({"status": "cancelled"})),))
    asked = said("Please cancel my order.", "I am looking.", "It is W1.")
    return [
        model(0, said("Please cancel my order."), "I am looking.", get_order={"order_id": "W1"}),
        evolve(tool(1, "get_order", {"order_id": "W1", "status": "open"}, order_id="W1"), duration=0.3, ended=5),
        inside(1, evolve(http(2), started=3, ended=4, at=0.15)),
        tool(3, "get_customer", LookupError("no such customer"), email="ada@example.com"),
        model(4, asked, None, cancel_order={"order_id": "W2", "reason": "asked"}),
        evolve(tool(5, "cancel_order", "done", "write", order_id="W2", reason="asked"), patch=patch),
        model(6, [*asked, {"role": "tool", "content": "done"}], "Your order is cancelled."),
    ]


def passing(text: str = "Your order W1 is cancelled.") -> list[Interaction]:
    """Cancels the right one, and confirms it."""
    asked = said("Please cancel my order.", "I am looking.", "It is W1.")
    return [
        model(0, said("Please cancel my order."), "I am looking.", get_order={"order_id": "W1"}),
        tool(1, "get_order", {"order_id": "W1", "status": "open"}, order_id="W1"),
        model(2, asked, None, cancel_order={"order_id": "W1", "reason": "asked"}),
        tool(3, "cancel_order", "done", "write", order_id="W1", reason="asked"),
        tool(4, "send_mail", "sent", "write", order_id="W1"),
        model(5, [*asked, {"role": "tool", "content": "done"}], text),
    ]


def scene(home: Home) -> View:
    """Record all; returns the trial that failed, ``r/refund#0``."""
    state = home.keep_state(pack({"orders": {"W1": {"status": "open"}, "W2": {"status": "open"}}}))
    marks = [Mark("state", 0.0, {"digest": state})]
    view = keep(home, "r/refund#0", failing(), passed=False, marks=marks, task_definition=TASK)
    keep(home, "r/refund#1", passing(), passed=True, task_definition=TASK)
    keep(home, "r/refund#2", passing("Done: W1 is cancelled. Anything else?"), passed=True, task_definition=TASK)
    return view


def frozen(home: Home) -> View:
    """Answered from recordings, until a call missed."""
    exact = evolve(tool(0, "get_order", {"status": "open"}, order_id="W1"), origin=Origin("own", "r/refund#0", 1))
    why = "step 1: tool get_order has no answer in the world of r/refund#0 (missed):\n  order W9 was never asked for"
    missed = evolve(tool(1, "get_order", Unanswered(why), order_id="W9"), origin=Origin("missed"))
    return keep(home, "frozen/refund#0", [exact, missed], task_definition=TASK)
