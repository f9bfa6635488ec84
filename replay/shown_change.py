"""Whether writes changed something, as the answers of a trial show it: a thing before them, and the same thing after.

Many tools answer with the record that they read or changed. Two answers are of the same thing if both were asked for by
the same value, and both hold it under the same name, such as ``reservation_id``.
"""

from __future__ import annotations

import json
from collections.abc import Container, Iterator, Mapping
from typing import Any

from attrs import frozen

from cassettes.canonical import canonical
from cassettes.errors import UnkeepableValue
from cassettes.model import Value

from .scoring.tools import went_wrong
from .view import Step, View

__all__ = ["ShownChange", "shown_change"]

Thing = tuple[str, str]  # the name and the value by which it was asked for


@frozen
class ShownChange:
    """A thing that looked otherwise before the writes than after them.

    Attributes:
        before: the step that showed it before.
        after: the write that showed it after.
    """

    thing: Thing
    before: int
    after: int

    def __str__(self) -> str:
        name, value = self.thing
        return f"step {self.after} shows {name} {value} otherwise than step {self.before} did"


def shown_change(view: View, writes: Container[int]) -> ShownChange | None:
    """A thing that these writes changed; None if the answers show none, which does not mean that there is none.

    Args:
        view: of the trial.
        writes: steps; the writes that are not among them are taken as done.
    """
    done = [step for step in view.steps if step.call.kind == "tool" and not went_wrong(step)]
    after: dict[Thing, Step] = {}
    first: dict[Thing, Step] = {}
    for step in done:
        if step.number in writes and step.call.effect == "write":
            for thing in _things(step):
                after[thing] = step
                first.setdefault(thing, step)
    for thing, last in after.items():
        before = _before(done, thing, first[thing])
        if before is not None and _form(before) != _form(last) and not _later(done, thing, last, writes):
            return ShownChange(thing, before.number, last.number)
    return None


def _before(done: list[Step], thing: Thing, first: Step) -> Step | None:
    """The last answer that showed the thing before, unless a write between may have changed it unseen."""
    for step in reversed([step for step in done if step.interaction.ended < first.interaction.started]):
        if thing in set(_things(step)):
            return step
        if step.call.may_write and (step.call.effect != "write" or thing[1] in _texts(step.call.arguments)):
            return None
    return None


def _later(done: list[Step], thing: Thing, last: Step, writes: Container[int]) -> bool:
    """True if a write that stays comes after, and names the thing."""
    return any(
        step.number > last.number
        and step.number not in writes
        and step.call.may_write
        and thing[1] in _texts(step.call.arguments)
        for step in done
    )


def _things(step: Step) -> Iterator[Thing]:
    record = _record(step)
    for name, value in step.call.arguments.items():
        if isinstance(value, str) and value and record.get(name) == value:
            yield name, value


def _record(step: Step) -> Mapping[str, Any]:
    """The answer as a map; empty if it is none."""
    result = step.outcome.result if isinstance(step.outcome, Value) else None
    if isinstance(result, str) and result.startswith("{"):
        try:
            result = json.loads(result)
        except (ValueError, RecursionError):
            return {}
    return result if isinstance(result, Mapping) else {}


def _form(step: Step) -> bytes:
    try:
        return canonical(dict(_record(step)))
    except UnkeepableValue:
        return repr(_record(step)).encode("utf-8", "surrogatepass")


def _texts(value: Any) -> set[str]:
    if isinstance(value, str):
        return {value}
    if isinstance(value, Mapping):
        return {text for item in value.values() for text in _texts(item)}
    if isinstance(value, list | tuple):
        return {text for item in value for text in _texts(item)}
    return set()
