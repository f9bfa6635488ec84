"""What the list of steps, its keys and its breakpoints know of a step: little enough to keep for every step."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final, Literal

from attrs import frozen

from cassettes.errors import TrialtapeError
from cassettes.model import Call, Interaction, Kind, Outcome, Stream
from replay.recording import digest_of

from .inert import on_one_line
from .outcomes import compact, failed, outcome_told

__all__ = ["Glance", "glance_at", "unreadable", "verdict_word"]

_WORDS: Final[Mapping[str, str]] = {"emulator": "emul.", "unknown": "tool?", "random": "rand."}
_EXACT: Final = ("own", "borrowed", "repeated")
_LETTERS: Final = 300


@frozen
class Glance:
    """One step at a glance.

    Attributes:
        word: who or what: ``agent``, ``user``, ``read``, ``write``, ``tool?`` (no effect declared), ``http``, ...
        writes: it may change the world: a tool, or HTTP outside of every other step.
        failed: it raised, or the model's answer is an error.
        verdict: how it was answered (`cassettes.model.Origin`).
        result: of a tool or HTTP what tells its outcome from others; empty for a model.
        asked, came: on one line, cut short and inert; of a model only ``asked``, what it said.
        tokens: of a model call, in and out; None if the provider did not say.
        at, seconds: since the trial began, and how long it took.
        call: what counts when trials are laid beside each other: of a model call what it answered, not what it saw.
    """

    number: int
    kind: Kind | Literal["unreadable"]
    name: str
    word: str
    writes: bool
    failed: bool
    verdict: str
    parent: int | None
    result: str
    asked: str
    came: str
    tokens: int | None
    at: float
    seconds: float
    call: Call


def glance_at(interaction: Interaction) -> Glance:
    """Sum up one step."""
    call, reply, outcome = interaction.call, interaction.reply, interaction.outcome
    cut = isinstance(outcome, Stream) and not outcome.complete
    wrong = failed(outcome) or (reply is not None and reply.error is not None)
    usage = None if reply is None else reply.usage
    spoken = _spoken(interaction) if call.kind == "model" else ""
    told = call.kind == "model" and reply is not None and not (cut or failed(outcome))
    return Glance(
        number=interaction.step,
        kind=call.kind,
        name=call.name,
        word=_word(call),
        writes=call.may_write and (call.kind == "tool" or interaction.parent is None),
        failed=wrong,
        verdict=interaction.origin.verdict,
        parent=interaction.parent,
        result="" if call.kind == "model" else _result(outcome),
        asked=spoken if call.kind == "model" else on_one_line(compact(dict(call.arguments)), _LETTERS),
        came="" if told else on_one_line(_came(interaction), _LETTERS),
        tokens=None if usage is None else (usage.input or 0) + (usage.output or 0),
        at=interaction.at,
        seconds=interaction.duration,
        call=_said(interaction) if call.kind == "model" else call,
    )


def _came(interaction: Interaction) -> str:
    told = outcome_told(interaction.outcome)
    return told if interaction.injected is None else f"[{interaction.injected}] {told}"


def unreadable(number: int, why: str) -> Glance:
    """A step that the file no longer tells; ``why`` says what is wrong with it."""
    return Glance(
        number=number,
        kind="unreadable",
        name="unreadable",
        word="?????",
        writes=False,
        failed=True,
        verdict="live",
        parent=None,
        result="",
        asked="cannot be read",
        came=on_one_line(why),
        tokens=None,
        at=0.0,
        seconds=0.0,
        call=Call("tool", "unreadable", {"step": number}),
    )


def verdict_word(verdict: str) -> str:
    """A verdict as screens tell it: ``exact``, ``missed``, ...; nothing for a live call."""
    return "" if verdict == "live" else "exact" if verdict in _EXACT else verdict


def _word(call: Call) -> str:
    told = {"model": call.actor, "tool": call.effect}.get(call.kind, call.kind)
    return _WORDS.get(told, told)[:5]


def _spoken(interaction: Interaction) -> str:
    reply = interaction.reply
    if reply is None:
        return on_one_line(interaction.call.name)
    calls = ", ".join(f"{tool.name}({tool.arguments})" for tool in reply.tool_calls)
    parts = (
        reply.text,
        f"→ {calls}" if calls else None,
        reply.refusal,
        f"error: {reply.error}" if reply.error else None,
    )
    return on_one_line(" ".join(part for part in parts if part), _LETTERS)


def _result(outcome: Outcome) -> str:
    try:
        return digest_of(outcome)
    except TrialtapeError:  # of an unknown class, say: how it shows itself tells it, too
        return outcome_told(outcome)


def _said(interaction: Interaction) -> Call:
    """A model's answer as a call, so that it can be compared: requests hold the whole history, and always differ."""
    call, reply = interaction.call, interaction.reply
    calls = [] if reply is None else [[tool.name, _arguments(tool.arguments)] for tool in reply.tool_calls]
    text = None if reply is None else reply.text
    return Call("model", call.actor, {"text": text, "calls": calls}, actor=call.actor)


def _arguments(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text
