"""Attempts that an SDK marks as retries of one model call, made one: asked as the first, answered as the last.

So a replay serves the final outcome at once, without the refusals before it and without waiting between them.
"""

from __future__ import annotations

from collections.abc import Iterable

from attrs import evolve

from cassettes.canonical import key_of
from cassettes.model import Error, Interaction, Outcome, Value

__all__ = ["folded"]

_MARK = "x-stainless-retry-count"


def folded(interactions: Iterable[Interaction]) -> list[Interaction]:
    """The interactions, given and returned in start order, with the attempts of each model call as one.

    Attempts that ended in no answer at all stay as they are: an SDK makes them again, whatever it is told.
    """
    groups: list[list[Interaction]] = []
    for interaction in interactions:
        number = _attempt(interaction)
        group = next((g for g in groups if number and len(g) == number and _is_retry(interaction, g[-1])), None)
        if group is None:
            groups.append([interaction])
        else:
            group.append(interaction)
    whole = [interaction for group in groups for interaction in _united(group)]
    return sorted(whole, key=lambda interaction: interaction.started)


def _attempt(interaction: Interaction) -> int:
    """Which attempt this is, from 0."""
    headers = interaction.call.detail.get("headers") if interaction.call.kind == "model" else None
    text = str(headers.get(_MARK, "")) if isinstance(headers, dict) else ""
    return int(text) if text.isascii() and text.isdigit() else 0


def _is_retry(interaction: Interaction, of: Interaction) -> bool:
    return (
        of.call.kind == "model"
        and of.ended < interaction.started
        and of.parent == interaction.parent
        and key_of(of.call) == key_of(interaction.call)
    )


def _united(attempts: list[Interaction]) -> list[Interaction]:
    first, last = attempts[0], attempts[-1]
    if first is last or isinstance(last.outcome, Error):
        return attempts
    duration = last.at + last.duration - first.at
    return [evolve(first, outcome=_final(last.outcome), reply=last.reply, ended=last.ended, duration=duration)]


def _final(outcome: Outcome) -> Outcome:
    """The outcome; a refusal tells the SDK in the SDK's own way that this was the last attempt."""
    head = outcome.value if isinstance(outcome, Value) else None
    if not isinstance(head, dict) or head.get("status", 0) < 400:
        return outcome
    headers = [[name, value] for name, value in head.get("headers", ()) if name.lower() != "x-should-retry"]
    return Value({**head, "headers": [*headers, ["x-should-retry", "false"]]})
