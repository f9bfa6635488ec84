"""At which steps a trial is forked to find the one that lost it, and what lies between them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from attrs import frozen

from cassettes.errors import BadInput
from replay.view import Step, View
from replay.writes import acts_of, call_text, declared_writes, matched_steps, possible_writes

from .forking import length_of

__all__ = ["Stretch", "points_of", "stretches"]

EACH_WRITE: Final = "each-write"
EACH_STEP: Final = "each-step"


@frozen
class Stretch:
    """The steps from one point of a list to the next.

    Attributes:
        start: the first; the point to fork at.
        label: what counts in it: its writes, or the step itself.
        steps: of what counts.
    """

    start: int
    label: str
    steps: tuple[int, ...] = ()


def points_of(spec: str, view: View) -> list[int]:
    """The steps to fork at.

    ``each-write`` forks where the agent's model decided on each write, and after the last write: just before the write
    itself the decision is made, and only the write would be left to do. ``each-step`` forks before every step that is
    answered by itself, and after the last. Else numbers are given, with commas between them.

    Raises:
        BadInput: the text has another form, or the trial has no write.
    """
    if spec in {EACH_STEP, EACH_WRITE}:
        steps = matched_steps(view)
        if spec == EACH_STEP:
            return [*(step.number for step in steps), length_of(view)]
        writes = _writes(steps)
        if not writes:
            raise BadInput(f"{view.id} has no write; fork it at each-step, or at numbers of steps")
        return sorted({*(_decision(steps, write) for write in writes), writes[-1].number + 1})
    try:
        numbers = [int(part) for part in spec.split(",")]
    except ValueError:
        raise BadInput(
            f"{spec!r} is no place to fork at: a step's number, numbers with commas between them, {EACH_WRITE} or "
            f"{EACH_STEP} is needed"
        ) from None
    return sorted(set(numbers))


def stretches(points: Sequence[int], view: View) -> list[Stretch]:
    """What lies between each point and the next; after the last one, the rest of the trial.

    Args:
        points: in order, each once.
        view: the trial.
    """
    steps = matched_steps(view)
    writes = _writes(steps)
    ends = [*points[1:], length_of(view) + 1]
    return [
        _stretch(start, *([step for step in part if start <= step.number < end] for part in (steps, writes)))
        for start, end in zip(points, ends, strict=True)
    ]


def _stretch(start: int, steps: list[Step], writes: list[Step]) -> Stretch:
    if writes:
        return Stretch(start, ", ".join(map(call_text, writes)), tuple(write.number for write in writes))
    if not steps:
        return Stretch(start, "the end")
    more = f" and {len(steps) - 1} more" if len(steps) > 1 else ""
    return Stretch(start, _told(steps[0]) + more, tuple(step.number for step in steps))


def _writes(steps: list[Step]) -> list[Step]:
    """Those whose effect is declared; in a trial that declares none, all that may write."""
    acts = acts_of(steps)
    return declared_writes(acts) or possible_writes(acts)


def _decision(steps: list[Step], write: Step) -> int:
    """The step of the model's reply that asked for the write; the write's own if no model was asked before it."""
    before = [
        step.number
        for step in steps
        if step.call.kind == "model"
        and step.call.actor == "agent"
        and step.interaction.ended < write.interaction.started
    ]
    return max(before, default=write.number)


def _told(step: Step) -> str:
    if step.call.kind != "model":
        return call_text(step)
    actor = "the model" if step.call.actor == "agent" else f"the {step.call.actor}'s model"
    reply = step.reply
    asked = ", ".join(request.name for request in reply.tool_calls) if reply is not None else ""
    return f"{actor} asks for {asked}" if asked else f"{actor} answers"
