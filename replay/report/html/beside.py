"""A trial beside the one, or the actions, that it is compared with."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from attrs import frozen

from cassettes.errors import BadInput
from replay.comparing import ComparedRow, compared, compared_with_expected
from replay.leaves import ABSENT, LeafChange
from replay.references import expected_actions
from replay.view import Step, View
from replay.writes import DivergentWrite

from .shown import laid_out, one_line, shown
from .steps import call_line

__all__ = ["Beside", "beside", "beside_data"]

_MOST_CHANGES: Final = 8


@frozen
class Beside:
    """What came of the comparison.

    Attributes:
        against: the other trial's id; None if it is compared with the actions that the task expects.
        passing: how many passing trials there were to choose from.
        first: where the writes part first; None if they are the same.
        rows: calls of tools and HTTP, side by side.
    """

    against: str | None
    passing: int
    first: DivergentWrite | None
    rows: tuple[ComparedRow, ...]

    def line(self) -> str:
        """One line for a person."""
        other = f"{self.against}, which passed" if self.against else "the actions that the task expects"
        if self.first is None:
            return f"its writes are those of {shown(other)}"
        return one_line(f"{self.first.line()}, compared with {other}", 400)


def beside(view: View, passing: Sequence[View]) -> Beside | None:
    """The trial beside the nearest of those that passed, else beside the actions that its task expects.

    Args:
        view: the trial.
        passing: passing trials of the same task, the nearest first.

    Returns:
        None if there is nothing to compare with.

    Raises:
        CassetteError: a step cannot be read.
    """
    if passing:
        found = compared(view, passing[0])
        return Beside(str(passing[0].id), len(passing), found.first_write, found.rows)
    actions = expected_actions(view)
    if actions is None:
        return None
    try:
        found = compared_with_expected(view, actions)
    except BadInput:  # actions of another form, which nobody can compare
        return None
    return Beside(None, 0, found.first_write, found.rows)


def beside_data(found: Beside, numbers: Mapping[str, int]) -> dict[str, Any]:
    """The comparison as the page's script reads it; what it has not, is left out.

    Args:
        found: the comparison.
        numbers: of the trials that are in the page, by id.
    """
    first = found.first
    told = {
        "against": None if found.against is None else shown(found.against),
        "number": numbers.get(found.against or ""),
        "passing": found.passing,
        "line": found.line(),
        "step": None if first is None or first.left is None else first.left.number,
        "other": None if first is None or first.right is None else first.right.number,
        "rows": [_row(row) for row in found.rows],
    }
    return {name: value for name, value in told.items() if value is not None}


def _row(row: ComparedRow) -> list[Any]:
    """Kind, own step, other step, both as text, what differs in the arguments, and in what came back."""
    if row.equal:
        return ["same", _number(row.left), _number(row.right)]
    kind = "result" if row.kind == "same" else row.kind
    texts = ["" if step is None else call_line(step) for step in (row.left, row.right)]
    return [kind, _number(row.left), _number(row.right), *texts, _changes(row.arguments), _changes(row.results)]


def _number(step: Step | None) -> int | None:
    return None if step is None else step.number


def _changes(changes: Iterable[LeafChange]) -> list[list[str]]:
    told = [[one_line(c.path or "all of it", 120), _side(c.left), _side(c.right)] for c in changes]
    more = len(told) - _MOST_CHANGES
    return told[:_MOST_CHANGES] + ([[f"and {more} more", "", ""]] if more > 0 else [])


def _side(value: Any) -> str:
    return "nothing" if value is ABSENT else one_line(laid_out(value), 160)
