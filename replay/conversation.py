"""What the user and the agent said to each other, in order, and between which steps."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final, Literal

from attrs import frozen

from cassettes.model import Interaction, Mark

__all__ = ["Turn", "speaker_of", "turns_of", "unreplied"]

Speaker = Literal["user", "agent"]

_ROLES: Final[dict[str, Speaker]] = {"user": "user", "assistant": "agent"}


@frozen
class Turn:
    """Something that was said.

    Attributes:
        who: ``user`` or ``agent``.
        before: the first step that began after it; the number of steps if none did.
    """

    who: Speaker
    text: str
    before: int


def turns_of(marks: Iterable[Mark], interactions: Iterable[Interaction]) -> list[Turn]:
    """The turns of a trial.

    Messages that were marked count; of a side that marked none, the texts of its model's replies do.
    """
    said = [mark.data for mark in marks if mark.kind == "message" and mark.data.get("role") in _ROLES]
    marked = [Turn(_ROLES[data["role"]], _text(data.get("content")), int(data.get("step", 0))) for data in said]
    speakers = {turn.who for turn in marked}
    replied = [turn for turn in _replies(interactions) if turn.who not in speakers]
    # A mark says how many steps had begun, so what was replied at the last of them came before it.
    return sorted((turn for turn in (*replied, *marked) if turn.text), key=lambda turn: turn.before)


def speaker_of(role: str) -> str:
    """Who speaks in messages of this role; another role is its own name."""
    return _ROLES.get(role, role)


def unreplied(marks: Iterable[Mark], interactions: Iterable[Interaction]) -> list[Mark]:
    """The messages that were marked, less those that say what a model had just replied for that side.

    A dialogue marks all that is said; where a model said it, its step shows it already.
    """
    replies = list(_replies(interactions))
    found = []
    for mark in marks:
        if mark.kind != "message":
            continue
        who, at = speaker_of(mark.data["role"]), mark.data.get("step", 0)
        last = next((turn for turn in reversed(replies) if turn.who == who and turn.before <= at), None)
        if last is None or last.text != mark.data.get("content"):
            found.append(mark)
        else:
            replies.remove(last)  # said twice, it is shown twice
    return found


def _replies(interactions: Iterable[Interaction]) -> Sequence[Turn]:
    found = []
    for item in interactions:
        actor: Speaker | None = "agent" if item.call.actor == "agent" else "user" if item.call.actor == "user" else None
        if item.call.kind == "model" and actor is not None and item.reply is not None and item.reply.text:
            found.append(Turn(actor, item.reply.text, item.step + 1))
    return found


def _text(content: object) -> str:
    return content if isinstance(content, str) else "" if content is None else str(content)
