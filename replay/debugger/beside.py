"""Rows of the list: the steps of a trial, and those of another trial beside them."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from typing import Final, overload

from attrs import frozen

from replay.aligning import Row as AlignedRow
from replay.aligning import aligned

from .glances import Glance

__all__ = ["AloneRows", "Row", "folded", "row_of", "rows_beside"]

_SHORTEST_FOLD: Final = 4


@frozen
class Row:
    """One row.

    Attributes:
        sign: ``=`` the same; ``≈`` the same call with another result, or a model that said something else; ``~`` the
            same tool with other arguments; ``+`` only in this trial; ``-`` only in the other; nothing if there is none.
        left: the step's place in this trial; None if it is missing there.
        right: its place in the other trial.
        differs: the trials part here, by more than a model's words.
        hidden: how many rows a folded stretch stands for, the first of which is told by ``left`` and ``right``.
    """

    sign: str
    left: int | None
    right: int | None = None
    differs: bool = False
    hidden: int = 0


class AloneRows(Sequence[Row]):
    """The rows of a trial with no other beside it, made when asked for.

    Args:
        count: how many steps it has.
    """

    def __init__(self, count: int) -> None:
        self._places = range(count)

    def __len__(self) -> int:
        return len(self._places)

    @overload
    def __getitem__(self, at: int) -> Row: ...
    @overload
    def __getitem__(self, at: slice) -> Sequence[Row]: ...
    def __getitem__(self, at: int | slice) -> Row | Sequence[Row]:
        if isinstance(at, slice):
            return [Row("", place) for place in self._places[at]]
        return Row("", self._places[at])


def rows_beside(left: Sequence[Glance], right: Sequence[Glance], ignore: Sequence[str] = ()) -> list[Row]:
    """Lay the steps of two trials beside each other.

    Args:
        left: all steps of the trial that is looked at.
        right: all steps of the other.
        ignore: rules for arguments that do not count.
    """
    found = aligned([glance.call for glance in left], [glance.call for glance in right], ignore)
    return [_row(row, left, right) for row in found]


def _row(row: AlignedRow, left: Sequence[Glance], right: Sequence[Glance]) -> Row:
    if row.left is None or row.right is None:
        return Row("+" if row.right is None else "-", row.left, row.right, differs=True)
    mine, theirs = left[row.left], right[row.right]
    if mine.kind == "model":
        return Row("=" if row.kind == "same" else "≈", row.left, row.right)
    if row.kind == "arguments":
        return Row("~", row.left, row.right, differs=True)
    other = mine.result != theirs.result
    return Row("≈" if other else "=", row.left, row.right, differs=other)


def folded(rows: Sequence[Row]) -> list[Row]:
    """The rows with stretches of four and more equal ones as one row each; words of a model count as equal."""
    out: list[Row] = []
    stretch: list[Row] = []
    for row in [*rows, Row("+", None, differs=True)]:
        if not row.differs:
            stretch.append(row)
            continue
        if len(stretch) >= _SHORTEST_FOLD:
            out.append(Row("=", stretch[0].left, stretch[0].right, hidden=len(stretch)))
        else:
            out += stretch
        stretch = []
        out.append(row)
    return out[:-1]


def row_of(rows: Sequence[Row], left: int) -> int:
    """The row that shows the step at place ``left``, or the folded one that hides it."""
    if isinstance(rows, AloneRows):
        return left
    places = [place for place, row in enumerate(rows) if row.left is not None]
    at = bisect_left(places, left + 1, key=lambda place: _left(rows[place])) - 1
    return places[max(0, at)] if places else 0


def _left(row: Row) -> int:
    assert row.left is not None
    return row.left
