"""The steps of a trial as JSON-like data for a page."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import takewhile
from typing import Any, Final

from cassettes.model import Cancelled, Error, Interaction, Patch, Stream, Value
from cassettes.values import unpack
from replay.leaves import ABSENT, leaf_changes
from replay.report.trial_text import caught_up_text, outcome_text
from replay.spoken import Said, said_before
from replay.view import Step, View

from .shown import clipped, laid_out, one_line, shown

__all__ = ["call_line", "steps_of"]

_MOST_CHANGES: Final = 60
_USUAL: Final = (None, "stop", "tool_calls", "end_turn", "tool_use", "STOP")


def steps_of(view: View) -> tuple[list[dict[str, Any]], list[list[str]]]:
    """Each step, and the messages after the last one; what a step has not, is left out."""
    said = said_before(view)
    done = view.caught_up
    told = [
        _step(step, said.get(step.number, []), [d for d in done if d["before"] == step.number]) for step in view.steps
    ]
    for place, step in enumerate(view.steps):
        _without_what_follows(told[place], step, view.steps[place + 1 :])
    return told, _messages(said.get(None, []))


def _without_what_follows(told: dict[str, Any], step: Step, later: Sequence[Step]) -> None:
    """Arguments that a model wrote are left out where they stand at the call of the tool that follows."""
    if step.reply is None or not told.get("calls"):
        return
    until_next = takewhile(lambda other: (other.call.kind, other.call.actor) != ("model", step.call.actor), later)
    made = [(other.call.name, dict(other.call.arguments)) for other in until_next if other.call.kind == "tool"]
    for call, asked in zip(told["calls"], step.reply.tool_calls, strict=True):
        if (asked.name, _parsed(asked.arguments)) in made:
            del call[1:]


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text


def call_line(step: Step, most: int = 160) -> str:
    """A call on one line, as in an alignment."""
    if step.call.kind == "model":
        reply = step.reply
        calls = [] if reply is None else [f"{tool.name}(…)" for tool in reply.tool_calls]
        return one_line(" ".join([step.text or "", *(f"→ {call}" for call in calls)]).strip() or "no text", most)
    return one_line(f"{step.call.name}({_arguments(step)})", most)


def _arguments(step: Step) -> str:
    return ", ".join(f"{name}={_json(value)}" for name, value in step.call.arguments.items())


def _step(step: Step, said: list[Said], carried_out: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    call, interaction = step.call, step.interaction
    told: dict[str, Any] = {
        "n": step.number,
        "kind": call.kind,
        "actor": shown(call.actor),
        "name": shown(call.name),
        "said": _messages(said),
        "carried": [[shown(caught_up_text(done)), done["other"] is not None] for done in carried_out],
        "parent": interaction.parent,
        "effect": call.effect if call.kind in {"tool", "http"} else None,
        "time": _time(interaction),
        "origin": _origin(interaction),
        "from": _source(interaction),
        **(_model(step) if call.kind == "model" else _other(step)),
        "changes": None if interaction.patch is None else changes_of(interaction.patch),
    }
    return {name: value for name, value in told.items() if value not in (None, [], "") or name == "result"}


def _messages(said: list[Said]) -> list[list[str]]:
    return [[shown(message.role), clipped(message.text)] for message in said]


def _time(interaction: Interaction) -> str | None:
    """When it began and how long it took; an import knows neither."""
    if not interaction.at and not interaction.duration:
        return None
    return f"+{interaction.at:.2f} s, took {interaction.duration * 1e3:.0f} ms"


def _origin(interaction: Interaction) -> str | None:
    """Who answered, if not the real thing alone."""
    told = [] if interaction.origin.verdict == "live" else [str(interaction.origin.verdict)]
    if interaction.injected is not None:
        told.append(shown(str(interaction.injected)))
    return ", ".join(told) or None


def _source(interaction: Interaction) -> str | None:
    origin = interaction.origin
    return None if origin.trial is None else shown(f"{origin.trial} step {origin.step}")


def _model(step: Step) -> dict[str, Any]:
    reply = step.reply
    if reply is None:
        return _came(step)
    told: dict[str, Any] = {
        "text": None if not reply.text else clipped(reply.text),
        "calls": [[shown(tool.name), clipped(tool.arguments)] for tool in reply.tool_calls],
        "refusal": None if not reply.refusal else clipped(reply.refusal),
        "finish": None
        if reply.finish in {None, "stop", "tool_calls", "end_turn", "tool_use", "STOP"}
        else reply.finish,
    }
    if reply.usage is not None and (reply.usage.input is not None or reply.usage.output is not None):
        cached = f" ({reply.usage.cached} cached)" if reply.usage.cached else ""
        told["tokens"] = f"{_known(reply.usage.input)} tokens in{cached}, {_known(reply.usage.output)} out"
    if reply.error:
        return {**told, "result": clipped(reply.error), "failed": True}
    return {**told, **_came(step)} if isinstance(step.outcome, Error | Cancelled) else told


def _known(tokens: int | None) -> str:
    return "?" if tokens is None else str(tokens)


def _other(step: Step) -> dict[str, Any]:
    arguments = dict(step.call.arguments)
    return {"args": laid_out(arguments) if arguments else None, **_came(step)}


def _came(step: Step) -> dict[str, Any]:
    match step.outcome:
        case Value() as returned:
            return {"result": laid_out(returned.result)}
        case Error():
            if step.origin.verdict in {"stale", "missed"}:
                return {"result": "no recorded answer", "failed": True}
            return {"result": clipped(outcome_text(step.outcome)), "failed": True}
        case Stream(_, chunks, _, error):
            pieces = [c.data.decode("utf-8", "replace") if isinstance(c.data, bytes) else str(c.data) for c in chunks]
            told = f"{''.join(pieces)}\n({outcome_text(step.outcome)})"
            return {"result": clipped(told), **({} if error is None else {"failed": True})}
        case Cancelled():
            return {"result": outcome_text(step.outcome), "failed": True}


def changes_of(patch: Patch) -> list[list[str]]:
    """What a write changed in the tracked state: path, before, after; a side where nothing was is empty."""
    found = list(_changes(patch))
    rest = len(found) - _MOST_CHANGES
    return found[:_MOST_CHANGES] + ([[f"and {rest} more", "", ""]] if rest > 0 else [])


def _changes(patch: Patch) -> Iterator[list[str]]:
    for path, old, new in patch.changes:
        where = ".".join(str(part) for part in path)
        before, after = (ABSENT if side is None else unpack(side) for side in (old, new))
        for change in leaf_changes(before, after):
            joined = f"{where}{'' if change.path.startswith('[') or not change.path else '.'}{change.path}"
            yield [one_line(joined), *(one_line(_side(side)) for side in (change.left, change.right))]


def _side(value: Any) -> str:
    return "" if value is ABSENT else _json(value)


def _json(value: Any) -> str:
    try:
        return json.dumps(value, ensure_ascii=False, default=repr)
    except (TypeError, ValueError):  # keys that JSON has not
        return repr(value)
