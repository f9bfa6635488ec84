"""The first divergent write: where a trial changed the world in another way than the one it is compared with.

Agents word things anew in every trial, so the first different call says little; what they wrote decides.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final, Literal

from attrs import evolve, frozen

from cassettes.errors import BadInput
from cassettes.model import Call, Cancelled, Effect, Error, Interaction, Value

from .difference import shortened
from .ignoring import counting_arguments, matching_key
from .importers.taubench_tools import effect_of
from .leaves import ABSENT, LeafChange, leaf_changes
from .recording import Recording
from .view import Step, View

__all__ = [
    "DivergentWrite",
    "acts_of",
    "call_text",
    "declared_writes",
    "expected_acts",
    "first_divergent",
    "first_divergent_write",
    "first_divergent_write_from_expected",
    "ignored_by",
    "matched_steps",
    "possible_writes",
    "write_prefix",
]

_MOST_CHANGES: Final = 3
_CALL_WIDTH: Final = 110
_VALUE_WIDTH: Final = 60


@frozen
class DivergentWrite:
    """Where the writes of a trial part from those of its reference.

    Attributes:
        kind: an ``extra`` write, a ``missing`` one, the same tool with other ``arguments``, or ``other tool``.
        left: the trial's write; None if it is missing.
        right: the reference's; None if the write is extra.
        changes: of other arguments, what differs.
    """

    kind: Literal["extra", "missing", "arguments", "other tool"]
    left: Step | None
    right: Step | None
    changes: tuple[LeafChange, ...] = ()

    @property
    def declared(self) -> bool:
        """False if a tool that takes part declares no effect, so that nobody knows whether it writes."""
        return all(step.call.effect != "unknown" for step in (self.left, self.right) if step is not None)

    def line(self) -> str:
        """One line for a person."""
        return self._told() + ("" if self.declared else " (no effect is declared: it may be a read)")

    def _told(self) -> str:
        match self.left, self.right:
            case Step() as left, None:
                return f"extra write: step {left.number} {call_text(left)}"
            case None, Step() as right:
                return f"missing write: {call_text(right)}"
            case Step() as left, Step() as right if self.kind == "other tool":
                return f"other tool: step {left.number} {call_text(left)} instead of {call_text(right)}"
            case Step() as left, _:
                return f"other arguments: step {left.number} {left.call.name}: {_changed(self.changes)}"
        raise AssertionError("a divergent write has at least one side")

    def to_dict(self) -> dict[str, Any]:
        """As data."""
        return {
            "kind": self.kind,
            "line": self.line(),
            "declared": self.declared,
            "left": _side(self.left),
            "right": _side(self.right),
            "changes": [change.to_dict() for change in self.changes],
        }


def call_text(step: Step) -> str:
    """A call on part of a line, and whether it went wrong."""
    arguments = ", ".join(f"{name}={_json(value)}" for name, value in step.call.arguments.items())
    cut = arguments if len(arguments) <= _CALL_WIDTH else arguments[: _CALL_WIDTH - 1] + "…"
    failed = {Error: " (it failed)", Cancelled: " (it was cancelled)"}.get(type(step.outcome), "")
    return f"{step.call.name}({cut}){failed}"


def _changed(changes: Sequence[LeafChange]) -> str:
    shown = [f"{c.path} is {_shown(c.left, c.right)}, not {_shown(c.right, c.left)}" for c in changes[:_MOST_CHANGES]]
    more = len(changes) - _MOST_CHANGES
    return "; ".join(shown) + (f"; and {more} more" if more > 0 else "")


def _shown(value: Any, other: Any) -> str:
    if value is ABSENT:
        return "absent"
    if isinstance(value, str):
        return shortened(value, other, _VALUE_WIDTH)
    text = _json(value)
    return text if len(text) <= _VALUE_WIDTH else text[: _VALUE_WIDTH - 1] + "…"


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, default=repr)


def _side(step: Step | None) -> dict[str, Any] | None:
    if step is None:
        return None
    call = step.call
    return {"step": step.number, "name": call.name, "effect": call.effect, "arguments": dict(call.arguments)}


def ignored_by(view: View) -> tuple[str, ...]:
    """The rules under which the trial was made: arguments that do not count."""
    return tuple(view.cassette.header.config.get("ignore", ()))


def matched_steps(view: View) -> list[Step]:
    """The steps that replay would look for, in start order: no HTTP inside a tool, no repeated try."""
    return [Step(i) for i in Recording(view.id, (step.interaction for step in view.steps)).matched]


def acts_of(steps: Iterable[Step]) -> list[Step]:
    """Those that act on a world, or ask one: tools and HTTP."""
    return [step for step in steps if step.call.kind in {"tool", "http"}]


def first_divergent_write(trial: View, reference: View) -> DivergentWrite | None:
    """Where the writes of ``trial`` first part from those of ``reference``; None if they are identical.

    The writes are compared in their order, by tool and canonical arguments, less what either trial ignores. Declared
    writes decide. Only where these are identical, calls without a declared effect are looked at: they may write.

    Args:
        trial: the trial that is looked at.
        reference: the one it is compared with, mostly one that passed.

    Raises:
        CassetteError: a step cannot be read.
    """
    ignore = (*ignored_by(trial), *ignored_by(reference))
    return first_divergent(acts_of(matched_steps(trial)), acts_of(matched_steps(reference)), ignore)


def first_divergent_write_from_expected(trial: View, actions: Sequence[Any]) -> DivergentWrite | None:
    """Where the writes of ``trial`` first part from the actions that its task expects; None if they are identical.

    Args:
        trial: the trial that is looked at.
        actions: as the task holds them: ``{"name": ..., "kwargs": {...}}`` each.

    Raises:
        BadInput: an action has another form.
        CassetteError: a step cannot be read.
    """
    acts = acts_of(matched_steps(trial))
    return first_divergent(acts, expected_acts(actions, acts), ignored_by(trial))


def first_divergent(left: Sequence[Step], right: Sequence[Step], ignore: Sequence[str] = ()) -> DivergentWrite | None:
    """The same of acts that were read already."""
    declared = _parting(declared_writes(left), declared_writes(right), ignore)
    return declared or _parting(possible_writes(left), possible_writes(right), ignore)


def write_prefix(left: Sequence[Step], right: Sequence[Step], ignore: Sequence[str] = ()) -> int:
    """How many declared writes are the same before the first that is not."""
    return _prefix(declared_writes(left), declared_writes(right), ignore)


def declared_writes(acts: Iterable[Step]) -> list[Step]:
    """Those whose effect is declared to be ``write``."""
    return [step for step in acts if step.call.effect == "write"]


def possible_writes(acts: Iterable[Step]) -> list[Step]:
    """Those that may write: declared, or of unknown effect."""
    return [step for step in acts if step.call.may_write]


def expected_acts(
    actions: Sequence[Any], acts: Iterable[Step] = (), effect_otherwise: Callable[[str], Effect] = effect_of
) -> list[Step]:
    """Expected actions as steps: numbered by their places, and with nothing that came back.

    Args:
        actions: ``{"name": ..., "kwargs": {...}}`` each.
        acts: of the trial; what is called there under an action's name tells what kind of call it is.
        effect_otherwise: the effect of a tool that is not among them; by default the benchmark's.

    Raises:
        BadInput: an action is no map with a name.
    """
    known = {step.call.name: step.call for step in acts}
    steps = []
    for place, action in enumerate(actions):
        kept = action if isinstance(action, dict) else {}
        name, arguments = kept.get("name"), kept.get("kwargs", kept.get("arguments", {}))
        if not isinstance(name, str) or not isinstance(arguments, dict):
            raise BadInput(f"expected action {place} of the task is {action!r}; a map of name and kwargs is needed")
        call = known.get(name) or Call("tool", name, {}, effect=effect_otherwise(name))
        asked = evolve(call, arguments=arguments)
        steps.append(Step(Interaction(place, asked, Value(None), started=2 * place, ended=2 * place + 1)))
    return steps


def _parting(left: Sequence[Step], right: Sequence[Step], ignore: Sequence[str]) -> DivergentWrite | None:
    same = _prefix(left, right, ignore)
    mine, theirs = left[same : same + 1], right[same : same + 1]
    if not mine and not theirs:
        return None
    if not theirs:
        return DivergentWrite("extra", mine[0], None)
    if not mine:
        return DivergentWrite("missing", None, theirs[0])
    here, there = mine[0].call, theirs[0].call
    if (here.kind, here.name, here.actor) != (there.kind, there.name, there.actor):
        return DivergentWrite("other tool", mine[0], theirs[0])
    changes = leaf_changes(counting_arguments(here, ignore), counting_arguments(there, ignore))
    return DivergentWrite("arguments", mine[0], theirs[0], changes)


def _prefix(left: Sequence[Step], right: Sequence[Step], ignore: Sequence[str]) -> int:
    pairs = zip(left, right, strict=False)
    same = (matching_key(a.call, ignore) == matching_key(b.call, ignore) for a, b in pairs)
    return next((place for place, equal in enumerate(same) if not equal), min(len(left), len(right)))
