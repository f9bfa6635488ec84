"""Whose fault a failed trial was, by rules: from its ending, and from the first write that is not as it should be.

Rules read what was done, not what was meant: what a simulated user got wrong, and most of what is wrong with a task,
needs a person (`replay.labelling.labels`).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Final, Literal

from attrs import asdict, evolve, frozen

from cassettes.errors import BadInput
from cassettes.model import Error
from replay.ignoring import matching_key
from replay.references import expected_actions, references_in
from replay.scoring import tau_outputs
from replay.scoring.tools import went_wrong
from replay.store import Store
from replay.view import Step, View
from replay.writes import (
    DivergentWrite,
    acts_of,
    declared_writes,
    expected_acts,
    first_divergent,
    ignored_by,
    matched_steps,
)

from .labels import Fault

__all__ = ["EXPECTED", "FAULT_TYPES", "RULES", "Attribution", "FaultType", "attributed"]

RULES: Final = "rules"  # in the place of an author
EXPECTED: Final = "expected actions"  # in the place of a trial that a failed one is held against

FaultType = Literal["wrong tool", "wrong argument", "wrong decision", "partial", "other"]
FAULT_TYPES: tuple[FaultType, ...] = ("wrong tool", "wrong argument", "wrong decision", "partial", "other")

_ASKS: Final = re.compile(r"\b(confirm|proceed|go ahead|shall i|would you like me)\b", re.IGNORECASE)
_MORE: Final = re.compile(r"\b(anything else|further assist|any other)", re.IGNORECASE)


@frozen
class Attribution:
    """What the rules say of one failed trial.

    Attributes:
        fault: None if no rule fits.
        type: of an agent's fault.
        step: where it went wrong, if at a step.
        because: in a few words.
        against: what it was held against: the task's ``expected actions``, or the id of a trial that passed.
    """

    trial: str
    fault: Fault | None
    type: FaultType | None
    step: int | None
    because: str
    against: str | None

    def to_dict(self) -> dict[str, Any]:
        """The same as JSON-like data."""
        return asdict(self)


def attributed(store: Store, view: View) -> Attribution:
    """Whose fault a failed trial was.

    Args:
        store: an index that is up to date: if the task tells no expected actions, its passing trials are the measure.
        view: of the trial.

    Raises:
        CassetteError: a recording cannot be read.
    """
    said = _by_ending(view)
    if said is not None and view.ending.status != "capped":
        return said
    mine = acts_of(matched_steps(view))
    theirs, against = _reference(store, view, mine)
    if said is not None:
        return said if theirs is None or _first_divergent(view, mine, theirs) else _capped_right(said, against)
    if theirs is None or against is None:
        return _told(view, None, None, "the task tells no expected actions, and no trial of it passed")
    broken = _raised(view, mine, theirs)
    if broken is not None:
        because = f"{broken.call.name}, which the task expects, raised"
        return _told(view, "tool", None, because, broken.number, against)
    found = _first_divergent(view, mine, theirs)
    return _same_writes(view, against) if found is None else _divergent(view, found, mine, theirs, against)


def _first_divergent(view: View, mine: Sequence[Step], theirs: Sequence[Step]) -> DivergentWrite | None:
    """The first write that is not as it should be; refused ones changed nothing, and only explain what is missing."""
    ignore, writes, wanted = ignored_by(view), declared_writes(mine), declared_writes(theirs)
    found = first_divergent([step for step in writes if not went_wrong(step)], wanted, ignore)
    if found is None:  # what no effect is declared of may write
        return first_divergent([step for step in mine if not went_wrong(step)], theirs, ignore)
    if found.kind != "missing":
        return found
    return first_divergent(writes, wanted, ignore) or found


def _capped_right(said: Attribution, against: str | None) -> Attribution:
    return evolve(said, because=f"{said.because}, and its writes were right by then", against=against)


def _by_ending(view: View) -> Attribution | None:
    ending = view.ending
    if ending.status == "capped":
        return _told(view, "agent", "other", f"it ran into a cap ({ending.reason})")
    if ending.status == "error" and ending.cause == "agent":
        return _told(view, "agent", "other", f"the agent raised ({ending.reason})")
    if ending.status == "error":
        return _told(view, "infrastructure", None, f"it ended in an error ({ending.reason})")
    if ending.status != "completed":
        return _told(view, None, None, f"it ended {ending.status}")
    return None


def _reference(store: Store, view: View, mine: Sequence[Step]) -> tuple[list[Step] | None, str | None]:
    """The calls that it should have made, as far as the task or a passing trial tells them."""
    actions = expected_actions(view)
    if actions is not None:
        try:
            return expected_acts(actions, mine), EXPECTED
        except BadInput:  # another benchmark's form
            pass
    passing = references_in(store, view)
    return (acts_of(matched_steps(passing[0])), str(passing[0].id)) if passing else (None, None)


def _raised(view: View, mine: Sequence[Step], theirs: Sequence[Step]) -> Step | None:
    """A write that was to be made, was made as it should be, raised, and was never made again without raising."""
    ignore = ignored_by(view)
    wanted = {matching_key(step.call, ignore) for step in declared_writes(theirs)}
    fitting = [step for step in declared_writes(mine) if matching_key(step.call, ignore) in wanted]
    done = {matching_key(step.call, ignore) for step in fitting if not isinstance(step.outcome, Error)}
    return next((step for step in fitting if matching_key(step.call, ignore) not in done), None)


def _divergent(
    view: View, found: DivergentWrite, mine: Sequence[Step], theirs: Sequence[Step], against: str
) -> Attribution:
    step = None if found.left is None else found.left.number
    if not found.declared:
        return _told(view, None, None, found.line(), step, against)
    if found.kind == "missing" and (turn := _left_waiting(view)) is not None:
        return _told(view, "user", None, "the user ended the conversation instead of answering", turn, against)
    kind = _type(found, mine, theirs)
    return _told(view, "agent", kind, found.line(), step, against)


def _type(found: DivergentWrite, mine: Sequence[Step], theirs: Sequence[Step]) -> FaultType:
    match found.kind:
        case "other tool":
            return "wrong tool"
        case "arguments":
            return "wrong argument"
        case "extra":
            return "wrong decision"
    # A write is missing: part of the work was done, or none.
    return "partial" if declared_writes(mine) and len(declared_writes(theirs)) > 1 else "wrong decision"


def _same_writes(view: View, against: str) -> Attribution:
    said = tau_outputs(view)
    if said.passed is False:
        missing = ", ".join(map(repr, said.evidence["missing"]))
        return _told(
            view, "agent", "partial", f"its writes are right, but it did not tell the user {missing}", against=against
        )
    if against == EXPECTED:
        because = "its writes are those that the task expects, and all was told: its check contradicts its actions"
        return _told(view, "task", None, because, against=against)
    return _told(view, None, None, "its writes are those of a trial that passed", against=against)


def _left_waiting(view: View) -> int | None:
    """Where the user stopped, if the agent had just asked whether to go on."""
    turns = view.conversation
    if len(turns) < 2 or turns[-1].who != "user" or turns[-2].who != "agent" or view.ending.reason != "user_stop":
        return None
    asked = turns[-2].text.rstrip()[-300:]
    answered = len(turns[-1].text.replace("###STOP###", "").strip()) > 0
    waits = _ASKS.search(asked) and "?" in asked and not _MORE.search(asked)
    return turns[-1].before - 1 if waits and not answered else None


def _told(
    view: View,
    fault: Fault | None,
    kind: FaultType | None,
    because: str,
    step: int | None = None,
    against: str | None = None,
) -> Attribution:
    return Attribution(str(view.id), fault, kind, step, because, against)
