"""Two trials side by side, drawn for a terminal."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any, Final

from rich.cells import cell_len, set_cell_size
from rich.text import Text

from replay.comparing import ComparedRow, Comparison
from replay.difference import shortened
from replay.leaves import ABSENT, LeafChange
from replay.view import Step
from replay.writes import DivergentWrite

from .trial_text import outcome_text

__all__ = ["beside", "expected_line", "state_lines", "verdict_line"]

_SIGNS: Final = {"same": "=", "arguments": "~", "extra": "+", "missing": "-"}
_STYLES: Final = {"same": "dim", "arguments": "yellow", "extra": "red", "missing": "cyan"}
_MOST_LEAVES: Final = 12
_MOST_RESULTS: Final = 3  # of a call that was asked something else: so its result is, too
_INDENT: Final = "       "


def verdict_line(comparison: Comparison) -> Text:
    """What decides: the first divergent write; of identical writes, what else is the first to differ."""
    if comparison.first_write is not None:
        return Text("first divergent write: ", "bold") + Text(comparison.first_write.line(), "bold red")
    other = comparison.first_other
    told = "and so is all else that was compared" if other is None else f"the first other call is {_where(other)}"
    return Text(f"the writes are identical; {told}", "bold green")


def expected_line(first: DivergentWrite | None, other: DivergentWrite | None) -> Text:
    """The same against the actions that the task expects; ``other`` is what was told already."""
    if first is None:
        told = "the writes are identical"
    elif other is not None and first.line() == other.line():
        told = "the same"
    else:
        told = first.line()
    return Text(f"against the expected actions: {told}")


def beside(comparison: Comparison, names: tuple[str, str], width: int, *, fold: bool) -> Iterator[Text]:
    """Both trajectories in two columns, what differs in a row below it.

    Args:
        comparison: what to draw.
        names: of the left and the right side.
        width: of the whole, in cells.
        fold: tell stretches of equal rows by their number.
    """
    cell = max(20, (width - 5) // 2)
    yield Text(f"  {_cell(names[0], cell)} │ {_cell(names[1], cell)}".rstrip(), "bold")
    known: set[str] = set()
    for equal, group in groupby(comparison.rows, key=lambda row: row.equal):
        rows = list(group)
        if equal and fold and len(rows) > 1:
            yield Text(f"  … {len(rows)} equal steps", "dim")
            continue
        for row in rows:
            yield _row(row, cell, is_first_write=_is_first_write(row, comparison))
            yield from _change_lines(_new(row, known), cell, "", _MOST_LEAVES)
            yield from _change_lines(row.results, cell, "→ ", _MOST_LEAVES if row.kind == "same" else _MOST_RESULTS)


def state_lines(changes: Sequence[LeafChange], width: int) -> Iterator[Text]:
    """The difference of the final states."""
    if not changes:
        yield Text("the final states are equal", "green")
        return
    yield Text(f"the final states differ in {len(changes)} place{'s' if len(changes) > 1 else ''}:", "bold")
    cell = max(20, (width - 5) // 2)
    yield from _change_lines(changes, cell, "", _MOST_LEAVES)


def _change_lines(changes: Sequence[LeafChange], cell: int, what: str, most: int) -> Iterator[Text]:
    """A line for each leaf that differs, both sides in their columns."""
    for change in changes[:most]:
        where = f"{what}{change.path}: " if change.path else what
        left, right = (_leaf(where, side, other, cell) for side, other in _sides(change))
        yield Text(f"  {left} │ {right}".rstrip())
    if len(changes) > most:
        yield Text(f"  {_INDENT}… and {len(changes) - most} more (--json has all)", "dim")


def _sides(change: LeafChange) -> tuple[tuple[Any, Any], tuple[Any, Any]]:
    return (change.left, change.right), (change.right, change.left)


def _leaf(where: str, value: Any, other: Any, cell: int) -> str:
    if value is ABSENT:
        return _cell("", cell)
    label = _INDENT + where
    room = max(12, cell - cell_len(label) - 4)  # quotes and two signs of omission
    text = shortened(value, other, room) if isinstance(value, str) else _json(value)
    return _cell(label + text, cell)


def _new(row: ComparedRow, known: set[str]) -> Sequence[LeafChange]:
    """The arguments not told yet: a history of messages that differs once does so in every later request."""
    if row.left is None or row.left.call.kind != "model":
        return row.arguments
    new = [change for change in row.arguments if repr(change) not in known]
    known.update(repr(change) for change in new)
    return new


def _row(row: ComparedRow, cell: int, *, is_first_write: bool) -> Text:
    left, right = (_cell("" if step is None else _step(step, cell), cell) for step in (row.left, row.right))
    sign = "≈" if row.kind == "same" and not row.equal else _SIGNS[row.kind]
    return Text(f"{sign} {left} │ {right}".rstrip(), "bold red" if is_first_write else _STYLES[row.kind])


def _step(step: Step, cell: int) -> str:
    call = step.call
    if call.kind == "model":
        told = step.text or ", ".join(f"{t.name}({t.arguments})" for t in (step.reply.tool_calls if step.reply else ()))
        return f"{step.number:>4} ● {call.actor} {' '.join((told or outcome_text(step.outcome)).split())}"[: 4 * cell]
    sign = "✎" if call.effect == "write" else "?" if call.may_write else "▸"
    arguments = ", ".join(f"{name}={_json(value)}" for name, value in call.arguments.items())
    return f"{step.number:>4} {sign} {call.name}({arguments})"


def _is_first_write(row: ComparedRow, comparison: Comparison) -> bool:
    first = comparison.first_write
    if first is None:
        return False
    wanted, found = (first.left, row.left) if first.left is not None else (first.right, row.right)
    return wanted is not None and found is not None and wanted.number == found.number


def _where(row: ComparedRow) -> str:
    step = row.left or row.right
    assert step is not None
    whose = "step" if row.left is not None else "the other's step"
    how = {"same": "same call, other result", "arguments": "other arguments"}.get(row.kind, row.kind)
    return f"{whose} {step.number}, {step.call.name} ({how})"


def _cell(text: str, width: int) -> str:
    """Exactly ``width`` cells."""
    joined = text.replace("\n", " ")
    return set_cell_size(joined, width) if cell_len(joined) <= width else set_cell_size(joined, width - 1) + "…"


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, default=repr)
