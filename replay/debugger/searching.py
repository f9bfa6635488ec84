"""Does a step hold a text? Of a model call what is new in it counts, not the history that every later call repeats."""

from __future__ import annotations

from cassettes.errors import TrialtapeError

from .desk import Desk
from .outcomes import compact, outcome_told

__all__ = ["holds"]


def holds(desk: Desk, at: int, needle: str) -> bool:
    """True if the step of row ``at`` holds the text, upper and lower case alike; never of one that cannot be read."""
    side, place = desk.located(desk.rows[at])
    try:
        step = side.step(place)
        reply = step.reply
        parts = [step.call.name]
        if step.call.kind == "model":
            parts += [compact(message) for message in side.view.cassette.new_messages(step.step)]
        else:
            parts.append(compact(dict(step.call.arguments)))
        if reply is None:
            parts.append(outcome_told(step.outcome))
        else:
            parts += [reply.text or "", reply.refusal or "", reply.error or ""]
            parts += [f"{tool.name} {tool.arguments}" for tool in reply.tool_calls]
    except TrialtapeError:
        return False
    return needle.casefold() in "\n".join(parts).casefold()
