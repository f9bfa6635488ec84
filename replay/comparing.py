"""Two trials compared: calls side by side, and what differs in arguments, results and final states."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from attrs import frozen

from cassettes.model import Cancelled, Error, Outcome, Stream, Value

from .aligning import aligned
from .ignoring import counting_arguments
from .leaves import LeafChange, leaf_changes
from .plain import plain
from .view import Step, View
from .writes import (
    DivergentWrite,
    acts_of,
    expected_acts,
    first_divergent,
    ignored_by,
    matched_steps,
    possible_writes,
)

__all__ = ["ComparedRow", "Comparison", "Part", "compared", "compared_with_expected", "state_changes"]

Part = Literal["acts", "writes", "all"]
"""What is laid side by side: tools and HTTP, only those that may write, or model calls too."""


@frozen
class ComparedRow:
    """One row of the alignment, with what differs in it.

    Attributes:
        kind: ``same`` call, same tool with other ``arguments``, ``extra``, or ``missing``.
        left: the trial's step; None if it is missing.
        right: the reference's step; None if it is extra.
        arguments: leaves of the arguments that differ.
        results: leaves of what came back that differ.
    """

    kind: Literal["same", "arguments", "extra", "missing"]
    left: Step | None
    right: Step | None
    arguments: tuple[LeafChange, ...] = ()
    results: tuple[LeafChange, ...] = ()

    @property
    def equal(self) -> bool:
        """The same call, which got the same result."""
        return self.kind == "same" and not self.results

    def to_dict(self) -> dict[str, Any]:
        """As data."""
        return {
            "kind": self.kind,
            "left": None if self.left is None else _step(self.left),
            "right": None if self.right is None else _step(self.right),
            "arguments": _plain_changes(self.arguments),
            "results": _plain_changes(self.results),
        }


@frozen
class Comparison:
    """What came of comparing a trial with a reference.

    Attributes:
        first_write: the first divergent write; None if the writes are identical.
        rows: all that was compared, side by side.
        state: the leaves of the final states that differ; None if they were not compared.
    """

    first_write: DivergentWrite | None
    rows: tuple[ComparedRow, ...]
    state: tuple[LeafChange, ...] | None = None

    @property
    def equal(self) -> bool:
        """Nothing that was compared differs."""
        return self.first_write is None and all(row.equal for row in self.rows) and not self.state

    @property
    def first_other(self) -> ComparedRow | None:
        """The first row that differs in any way."""
        return next((row for row in self.rows if not row.equal), None)

    def to_dict(self) -> dict[str, Any]:
        """As data."""
        return {
            "equal": self.equal,
            "first_divergent_write": None if self.first_write is None else plain(self.first_write.to_dict()),
            "rows": [row.to_dict() for row in self.rows],
            "state": None if self.state is None else _plain_changes(self.state),
        }


def compared(trial: View, reference: View, part: Part = "acts") -> Comparison:
    """Compare ``trial`` with ``reference``, another trial of any run.

    Raises:
        CassetteError: a step cannot be read.
    """
    ignore = (*ignored_by(trial), *ignored_by(reference))
    left, right = matched_steps(trial), matched_steps(reference)
    first = first_divergent(acts_of(left), acts_of(right), ignore)
    rows = _rows(_chosen(left, part), _chosen(right, part), ignore)
    return Comparison(first, rows)


def compared_with_expected(trial: View, actions: Sequence[Any], part: Part = "acts") -> Comparison:
    """Compare ``trial`` with the actions that its task expects; of these no result is known.

    Raises:
        BadInput: an action has another form than ``{"name": ..., "kwargs": {...}}``.
        CassetteError: a step cannot be read.
    """
    ignore = ignored_by(trial)
    left = matched_steps(trial)
    right = expected_acts(actions, acts_of(left))
    first = first_divergent(acts_of(left), right, ignore)
    rows = _rows(_chosen(left, part), _chosen(right, part), ignore, with_results=False)
    return Comparison(first, rows)


def state_changes(trial: View, reference: View) -> tuple[LeafChange, ...]:
    """The leaves in which the final states differ.

    Raises:
        BadInput: one of the trials tracked no state.
        CorruptCassette: an initial state is missing or damaged.
    """
    return leaf_changes(_tree(trial.state()), _tree(reference.state()))


def _chosen(steps: Sequence[Step], part: Part) -> list[Step]:
    match part:
        case "acts":
            return acts_of(steps)
        case "writes":
            return possible_writes(steps)
        case "all":
            return [step for step in steps if step.call.kind in {"model", "tool", "http"}]


def _rows(
    left: Sequence[Step], right: Sequence[Step], ignore: Sequence[str], *, with_results: bool = True
) -> tuple[ComparedRow, ...]:
    rows = []
    for row in aligned([step.call for step in left], [step.call for step in right], ignore):
        mine = None if row.left is None else left[row.left]
        theirs = None if row.right is None else right[row.right]
        arguments: tuple[LeafChange, ...] = ()
        results: tuple[LeafChange, ...] = ()
        if mine is not None and theirs is not None:
            if row.kind == "arguments":
                sides = (counting_arguments(step.call, ignore) for step in (mine, theirs))
                arguments = leaf_changes(*sides)
            if with_results:
                results = leaf_changes(_came(mine), _came(theirs))
        rows.append(ComparedRow(row.kind, mine, theirs, arguments, results))
    return tuple(rows)


def _came(step: Step) -> Any:
    """What came back, in a form whose leaves say something: texts that hold JSON are read."""
    if step.reply is not None:
        asked = [{"name": tool.name, "arguments": _read(tool.arguments)} for tool in step.reply.tool_calls]
        told = {"text": step.reply.text, "tool_calls": asked, "refusal": step.reply.refusal, "error": step.reply.error}
        return {name: item for name, item in told.items() if item}
    return _result(step.outcome)


def _result(outcome: Outcome) -> Any:
    match outcome:
        case Value() as returned:
            return _read(returned.result)
        case Error(error):
            return {"raised": f"{type(error).__name__}: {error}"}
        case Cancelled():
            return {"cancelled": True}
        case Stream(_, chunks, complete, _):
            pieces = [chunk.data for chunk in chunks]
            whole: Any = pieces
            if pieces and {*map(type, pieces)} in ({str}, {bytes}):
                whole = type(pieces[0])().join(pieces)
            return {"stream": whole, "complete": complete}


def _read(value: Any) -> Any:
    """A text that holds a JSON object or list as that."""
    if not isinstance(value, str) or not value.lstrip().startswith(("{", "[")):
        return value
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        return value


def _tree(state: Any) -> Any:
    """A state whose own parts can be told apart: an object as its attributes."""
    return state if isinstance(state, dict | list) else dict(vars(state))


def _step(step: Step) -> dict[str, Any]:
    call = step.call
    return {
        "step": step.number,
        "kind": call.kind,
        "actor": call.actor,
        "name": call.name,
        "effect": call.effect,
        "arguments": plain(_short_of_history(call.arguments, call.history)),
    }


def _short_of_history(arguments: Mapping[str, Any], history: str | None) -> dict[str, Any]:
    """The arguments; of a model call less its messages, which ``show --step`` prints."""
    return {name: value for name, value in arguments.items() if name != history}


def _plain_changes(changes: Sequence[LeafChange]) -> list[dict[str, Any]]:
    return [{name: plain(side) for name, side in change.to_dict().items()} for change in changes]
