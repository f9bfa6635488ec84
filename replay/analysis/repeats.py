"""Identical requests at temperature 0, and how many different answers they got."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from attrs import asdict, field, frozen

from cassettes.canonical import digest
from cassettes.errors import UnkeepableValue
from cassettes.model import Interaction

__all__ = ["RepeatedRequest", "Repeats", "repeats_in"]

_HOW_IT_TRAVELS = {"stream", "stream_options", "metadata", "user"}  # no part of what is asked
_NESTED = ("generationConfig", "config", "inferenceConfig")  # where some protocols keep the temperature


@frozen
class RepeatedRequest:
    """One request that was made several times.

    Attributes:
        model: that was asked.
        calls: how often.
        answers: how many different ones came back; texts and tool calls count.
        where: trials and steps of the first two different answers, or of the first two calls.
    """

    model: str
    calls: int
    answers: int
    where: tuple[str, ...]


@frozen
class Repeats:
    """What identical requests at temperature 0 got.

    Attributes:
        calls: live model calls at temperature 0.
        unknown: live model calls that name no temperature; they are not counted.
        requests: different requests among ``calls``.
        repeated: those that were made more than once, the most different answers first.
    """

    calls: int = 0
    unknown: int = 0
    requests: int = 0
    repeated: tuple[RepeatedRequest, ...] = field(default=())

    @property
    def differing(self) -> int:
        """Repeated requests that got more than one answer."""
        return sum(request.answers > 1 for request in self.repeated)

    def to_dict(self) -> dict[str, Any]:
        """The same as JSON-like data."""
        return {**asdict(self), "differing": self.differing}


def repeats_in(trials: Iterable[tuple[str, Iterable[Interaction]]], actor: str | None = None) -> Repeats:
    """Look for identical requests.

    Args:
        trials: ids with their interactions.
        actor: only calls on whose behalf, such as ``judge``; None takes all.
    """
    calls = unknown = 0
    found: dict[str, list[tuple[str, str, str]]] = {}
    for trial, interactions in trials:
        for interaction in interactions:
            call = interaction.call
            if call.kind != "model" or not interaction.origin.live or (actor is not None and call.actor != actor):
                continue
            temperature = _temperature(call.arguments)
            if temperature is None:
                unknown += 1
            if temperature != 0 or interaction.reply is None:
                continue
            calls += 1
            asked = {name: value for name, value in call.arguments.items() if name not in _HOW_IT_TRAVELS}
            reply = interaction.reply
            answer = _digest([reply.text, [[tool.name, tool.arguments] for tool in reply.tool_calls]])
            found.setdefault(_digest([call.name, asked]), []).append(
                (call.name, answer, f"{trial} step {interaction.step}")
            )
    repeated = [_request(made) for made in found.values() if len(made) > 1]
    repeated.sort(key=lambda request: (-request.answers, -request.calls))
    return Repeats(calls, unknown, len(found), tuple(repeated))


def _request(made: list[tuple[str, str, str]]) -> RepeatedRequest:
    by_answer: dict[str, list[str]] = {}
    for _, answer, where in made:
        by_answer.setdefault(answer, []).append(where)
    firsts = [places[0] for places in by_answer.values()]
    return RepeatedRequest(
        made[0][0], len(made), len(by_answer), tuple((firsts if len(firsts) > 1 else [w for *_, w in made])[:2])
    )


def _temperature(arguments: Mapping[str, Any]) -> float | None:
    for place in (arguments, *(arguments.get(name) for name in _NESTED)):
        value = place.get("temperature") if isinstance(place, Mapping) else None
        if isinstance(value, int | float) and not isinstance(value, bool):
            return float(value)
    return None


def _digest(value: Any) -> str:
    try:
        return digest(value)
    except UnkeepableValue:  # something that only its name is known of
        return digest(repr(value))
