"""Results as tables: ``str`` gives text, a notebook gets HTML, ``repr`` stays exact."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from typing import Any, Final

from attrs import fields, frozen, has

__all__ = ["Told"]

_UNKNOWN: Final = "undefined"


class Told:
    """A result that prints well: its facts, then what it holds several of as tables."""

    __slots__ = ()

    def __str__(self) -> str:
        return "\n".join(line for block in _blocks(self) for line in block.text())

    def _repr_html_(self) -> str:
        """What a notebook shows."""
        return "".join(block.html() for block in _blocks(self))

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:  # noqa: FBT001  # IPython's way
        """What IPython shows in a terminal."""
        printer.text("..." if cycle else str(self))


@frozen
class _Block:
    """A table; the head is empty where the first column names the rows."""

    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]

    def text(self) -> Iterator[str]:
        lines = [self.head, *self.rows] if self.head else [*self.rows]
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        for line in lines:
            yield "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()

    def html(self) -> str:
        head = "".join(f"<th>{escape(name)}</th>" for name in self.head)
        body = "".join(
            f"<tr><th>{escape(first)}</th>{''.join(f'<td>{escape(cell)}</td>' for cell in rest)}</tr>"
            for first, *rest in self.rows
        )
        return f"<table>{f'<thead><tr>{head}</tr></thead>' if head else ''}<tbody>{body}</tbody></table>"


def _blocks(result: Any) -> Iterator[_Block]:
    values = {field.name: getattr(result, field.name) for field in fields(type(result))}
    several = {name: value for name, value in values.items() if _is_table(value)}
    facts = tuple(row for name, value in values.items() if name not in several for row in _fact(_named(name), value))
    if facts:
        yield _Block((), facts)
    for value in several.values():
        names = [field.name for field in fields(type(value[0]))]
        yield _Block(
            tuple(map(_named, names)), tuple(tuple(_cell(getattr(row, name)) for name in names) for row in value)
        )


def _fact(name: str, value: Any) -> Iterator[tuple[str, str]]:
    if isinstance(value, tuple) and value and all(isinstance(line, str) for line in value):
        yield from ((name if place == 0 else "", line) for place, line in enumerate(value))
    else:
        yield name, _cell(value)


def _is_table(value: Any) -> bool:
    return isinstance(value, tuple) and bool(value) and all(has(type(row)) for row in value)


def _named(name: str) -> str:
    return {"pass_hat_k": "pass^k", "pass_at_k": "pass@k"}.get(name, name.replace("_", " "))


def _cell(value: Any) -> str:
    match value:
        case None:
            return _UNKNOWN
        case bool():
            return "yes" if value else "no"
        case () | []:
            return "none"
        case float():
            return f"{value + 0.0:.4g}"  # never "-0"
        case (float() as low, float() as high):
            return f"[{_cell(low)}, {_cell(high)}]"
        case tuple() | list():
            return "; ".join(map(_cell, value))
        case _ if has(type(value)):
            return _within(value)
        case _:
            return str(value)


def _within(value: Any) -> str:
    """A result inside another one, in a cell."""
    names = [field.name for field in fields(type(value))]
    if not {"estimate", "low", "high"} <= {*names}:
        return "; ".join(f"{_named(name)} {_cell(getattr(value, name))}" for name in names)
    if value.estimate is None or value.low is None or value.high is None:
        return f"{_cell(value.estimate)} [{_UNKNOWN}]"
    return f"{_cell(float(value.estimate))} {_cell((float(value.low), float(value.high)))}"
