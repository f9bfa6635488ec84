"""What users said in a trial, by the step at which it reached the agent."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from cassettes.model import Interaction, Mark
from cassettes.reader import Cassette

__all__ = ["said_before"]


def said_before(cassette: Cassette, interactions: Sequence[Interaction], marks: Iterable[Mark]) -> dict[int, str]:
    """The messages that no model reply holds, each at the step before which it was said.

    These are the user's messages in the requests of the agent's models, where they are new, and the messages that
    were marked; what the model of a simulated user replied stands at its own step already.

    Args:
        cassette: the trial's.
        interactions: all of the cassette, in step order.
        marks: of the same trial.
    """
    known = {i.reply.text for i in interactions if i.reply is not None and i.reply.text}
    found: dict[int, list[str]] = {}
    for step, text in (*_marked(interactions, marks), *_asked(cassette, interactions)):
        if text not in known:
            known.add(text)
            found.setdefault(step, []).append(text)
    return {step: "\n".join(texts) for step, texts in found.items()}


def _marked(interactions: Sequence[Interaction], marks: Iterable[Mark]) -> Iterator[tuple[int, str]]:
    """A mark names the step that was next; what was said after the last one stands there."""
    if not interactions:
        return
    last = interactions[-1].step
    for mark in marks:
        if mark.kind == "message" and isinstance(mark.data["content"], str):
            yield min(mark.data.get("step", 0), last), mark.data["content"]


def _asked(cassette: Cassette, interactions: Iterable[Interaction]) -> Iterator[tuple[int, str]]:
    for interaction in interactions:
        call = interaction.call
        if call.kind != "model" or call.actor != "agent" or call.history is None:
            continue
        for message in cassette.new_messages(interaction.step):
            if isinstance(message, dict) and message.get("role") == "user":
                text = " ".join(_texts(message.get("content", message.get("parts"))))
                if text:
                    yield interaction.step, text
        if isinstance(plain := call.arguments.get(call.history), str):
            yield interaction.step, plain


def _texts(content: Any) -> Iterator[str]:
    """The texts of a message in the shapes of the known protocols; images and the like have none."""
    match content:
        case str():
            yield content
        case list():
            for part in content:
                yield from _texts(part)
        case {"text": str() as text}:
            yield text
        case {"content": inner}:
            yield from _texts(inner)
