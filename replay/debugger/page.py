"""Lines of text with headings: what the right-hand side shows."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from rich.text import Text

from replay.leaves import ABSENT, LeafChange

from .inert import inert, laid_out, on_one_line

__all__ = ["Page"]

_HEADING: Final = "bold underline"
_NAME: Final = re.compile(r'^\s*("(?:[^"\\]|\\.)*")(?=: )')
_CONSTANT: Final = re.compile(r"(?<=[:\[ ] )?\b(?:true|false|null|-?\d+(?:\.\d+)?(?:e[+-]?\d+)?)(?=,?$)")
_JSON_LINE: Final = re.compile(r"^\s*[\"\]\[{}\d\-tfn]")


class Page:
    """A page while it is written. All that it is given is made inert.

    Attributes:
        lines: so far.
        start: the line with which to begin to read.
    """

    def __init__(self) -> None:
        self.lines: list[Text] = []
        self.start = 0

    def heading(self, text: str, style: str = "") -> None:
        """A heading, with an empty line before it."""
        if self.lines:
            self.lines.append(Text())
        self.lines.append(Text(on_one_line(text), f"{_HEADING} {style}".strip()))

    def fact(self, name: str, value: str | None, style: str = "") -> None:
        """One line: a name and a value; nothing if the value is None."""
        if value is not None:
            first, *rest = inert(value).split("\n")
            self.lines.append(Text().append(f"{name:<12} ", "dim").append(first, style))
            self.lines += [Text(f"{'':<13}{line}", style) for line in rest]

    def text(self, text: str, style: str = "") -> None:
        """A text of any length."""
        self.lines += [Text(line, style) for line in inert(text).split("\n")]

    def value(self, value: object, most: int | None = None) -> None:
        """A recorded value, laid out as JSON.

        Args:
            value: what was recorded.
            most: how many lines are shown; None shows all.
        """
        lines = inert(laid_out(value)).split("\n")
        coloured = not isinstance(value, str)
        self.lines += [_coloured(line) if coloured else Text(line) for line in lines[:most]]
        if most is not None and len(lines) > most:
            self.text(f"... and {len(lines) - most:,} more lines", "yellow")

    def json(self, text: str) -> None:
        """A text that holds JSON, as it is, in colours."""
        self.lines += [_coloured(line) if _JSON_LINE.match(line) else Text(line) for line in inert(text).split("\n")]

    def changes(self, changes: Iterable[LeafChange], left: str, right: str) -> None:
        """Leaves that differ; each side's sign and name stand before its value."""
        width = max(len(left), len(right))
        for change in changes:
            self.lines.append(Text(inert(change.path) or "the whole", "bold"))
            for sign, name, value, style in (
                ("-", left, change.left, "red"),
                ("+", right, change.right, "green"),
            ):
                told = "nothing" if value is ABSENT else laid_out(value)
                first, *rest = inert(told).split("\n")
                self.lines.append(Text(f"  {sign} {name:<{width}} {first}", style))
                self.lines += [Text(f"  {sign} {'':<{width}} {line}", style) for line in rest]


def _coloured(line: str) -> Text:
    text = Text(line)
    if name := _NAME.match(line):
        text.stylize("cyan", *name.span(1))
    if constant := _CONSTANT.search(line):
        text.stylize("magenta", *constant.span())
    return text
