"""What was said to the models of a trial: the messages that are no outcome of another step."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from attrs import frozen

from cassettes.model import Mark, Value

from .conversation import speaker_of, unreplied
from .view import Step, View, messages_of

__all__ = ["PROMPT_OF", "Said", "said_before"]

PROMPT_OF = "prompt of the "  # and its actor

_PROMPTS = ("system", "developer")
_RESULTS = ("tool_result", "toolResult", "functionResponse", "function_response", "function_call_output")
_CALLS = ("tool_use", "toolUse", "functionCall", "function_call", "thinking", "reasoning", "reasoningContent")


@frozen
class Said:
    """One message: who said it, and its text."""

    role: str
    text: str


def said_before(view: View) -> dict[int | None, list[Said]]:
    """Messages by the step before which they were said; under None what was said after the last one.

    A message is left out if a step shows it already: the reply of a model, or what a tool returned.
    """
    found: dict[int | None, list[Said]] = {}
    marked = _marked(view)
    known = {said.text for _, said in marked} | {view.task.instruction}
    known |= {str(mark.data.get("content")) for mark in view.marks if mark.kind == "message"}
    known |= {step.text for step in view.steps if step.text}
    known |= {text for step in view.steps if step.call.kind in {"tool", "http"} for text in _outcome_texts(step)}
    for at, said in marked:
        later = next((step.number for step in view.steps if step.number >= at), None)
        found.setdefault(later, []).append(said)
    before: dict[str, list[Any]] = {}
    for step in view.steps:
        if step.call.kind != "model":
            continue
        for said in _asked(step, before):
            if said.text in known:
                continue
            there = found.setdefault(step.number, [])
            if said.role in _PROMPTS:
                there.insert(0, Said(f"{PROMPT_OF}{step.call.actor}", said.text))
                known.add(said.text)  # a prompt is sent with every call
            else:
                there.append(said)
    return found


def _marked(view: View) -> list[tuple[int, Said]]:
    apart = unreplied(view.marks, (step.interaction for step in view.steps))
    marks: list[Mark] = [mark for mark in apart if mark.data.get("content")]
    return [
        (mark.data.get("step", 0), Said(speaker_of(str(mark.data["role"])), str(mark.data["content"])))
        for mark in marks
    ]


def _outcome_texts(step: Step) -> list[str]:
    if not isinstance(step.outcome, Value):
        return []
    result = step.outcome.result
    if isinstance(result, str):
        return [result]
    try:
        return [str(result), json.dumps(result), json.dumps(result, ensure_ascii=False)]
    except (TypeError, ValueError):  # no JSON: no SDK sent it as such
        return [str(result)]


def _asked(step: Step, before: dict[str, list[Any]]) -> Iterator[Said]:
    """What a model call says that the one before it by the same actor did not."""
    call = step.call
    for name in ("system", "instructions", "systemInstruction", "system_instruction"):
        text = "\n".join(text for _, text in _parts(call.arguments.get(name)))
        if text:
            yield Said("system", text)
    messages = messages_of(call)
    last = before.get(call.actor, [])
    same = next((i for i, pair in enumerate(zip(messages, last, strict=False)) if pair[0] != pair[1]), None)
    before[call.actor] = messages
    for message in messages[min(len(messages), len(last)) if same is None else same :]:
        for said in _read(message):
            if said.role in _PROMPTS or (call.actor == "agent" and said.role not in {"assistant", "model"}):
                yield said


def _read(message: Any) -> Iterator[Said]:
    if isinstance(message, str):
        yield Said("user", message)
    if not isinstance(message, dict):
        return
    kind = str(message.get("type") or "")
    role = str(message.get("role") or ("tool" if kind in _RESULTS else "assistant" if kind in _CALLS else "user"))
    for part, text in _parts(message.get("content", message.get("parts", message.get("output")))):
        if text:
            yield Said("tool" if part in _RESULTS else role, text)


def _parts(content: Any) -> Iterator[tuple[str, str]]:
    """The kind and the text of each part of a message, in the shapes of the known protocols."""
    match content:
        case None:
            return
        case str():
            yield "text", content
        case list():
            for part in content:
                yield from _parts(part)
        case {"text": str() as text}:
            yield "text", text
        case {"parts": list() as parts}:
            yield from _parts(parts)
        case dict():
            kind = next((name for name in (*_RESULTS, *_CALLS) if name in content or content.get("type") == name), "")
            if kind not in _CALLS:
                inner = content.get(kind, content)
                body = inner.get("content", inner.get("response", inner)) if isinstance(inner, dict) else inner
                yield kind, _flat(body)
        case _:
            yield "", str(content)


def _flat(body: Any) -> str:
    if isinstance(body, str):
        return body
    if isinstance(body, list) and all(isinstance(part, dict) and isinstance(part.get("text"), str) for part in body):
        return "\n".join(part["text"] for part in body)
    return json.dumps(body, ensure_ascii=False, default=repr)
