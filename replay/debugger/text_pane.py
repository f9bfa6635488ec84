"""A scrolled text that is drawn line by line, however long it is."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from rich.text import Text
from textual import events
from textual.geometry import Size
from textual.scroll_view import ScrollView
from textual.strip import Strip

__all__ = ["TextPane", "wrapped"]

_PIECE = re.compile(r"\S+|\s+")


def wrapped(line: Text, width: int) -> Iterator[Text]:
    """The line broken between words, and inside of those that are too long, into lines of at most ``width`` cells."""
    plain = line.plain
    if len(plain) <= width and (plain.isascii() or cell_len(plain) <= width):
        yield line
        return
    yield from line.divide(list(_breaks(plain, max(1, width))))


def _breaks(plain: str, width: int) -> Iterator[int]:
    """Where to break: before a word that no longer fits, and inside of one that never does. Spaces hang at the end."""
    taken = 0
    for piece in _PIECE.finditer(plain):
        cells = cell_len(piece[0])
        if piece[0].isspace():
            taken += cells
            continue
        if taken and taken + cells > width:
            yield piece.start()
            taken = 0
        if cells <= width:
            taken += cells
            continue
        for at, letter in enumerate(piece[0], piece.start()):
            size = cell_len(letter)
            if taken + size > width and taken:
                yield at
                taken = 0
            taken += size


class TextPane(ScrollView, can_focus=True):
    """Shows lines; wraps them to its width."""

    def __init__(self, id: str) -> None:  # noqa: A002  # textual's name
        super().__init__(id=id)
        self._lines: Sequence[Text] = ()
        self._rows: list[Text] = []
        self._needle = ""
        self._start: int | None = 0  # the line to begin with, as long as there is no width to wrap to

    def show(self, lines: Sequence[Text], *, start: int = 0, needle: str = "") -> None:
        """Show these lines from line ``start`` on; ``needle`` is marked wherever it stands."""
        self._lines, self._needle, self._start = lines, needle, start
        self._lay_out()

    @property
    def text(self) -> str:
        """All of it, as it was given."""
        return "\n".join(line.plain for line in self._lines)

    def render_line(self, y: int) -> Strip:
        """One line of the screen."""
        width, row = self.size.width, y + self.scroll_offset.y
        style = self.rich_style
        if row >= len(self._rows):
            return Strip.blank(width, style)
        return strip_of(self._rows[row], width, style, self._needle)

    def on_resize(self, _: events.Resize) -> None:
        """Wrap anew."""
        self._lay_out()

    def _lay_out(self) -> None:
        """Wrap the lines, and scroll to the one with which to begin if that was not done."""
        width = self.scrollable_content_region.width
        if width <= 0:
            return
        self._rows, first = [], 0
        for number, line in enumerate(self._lines):
            if number == self._start:
                first = len(self._rows)
            self._rows.extend(wrapped(line, width))
        self.virtual_size = Size(width, len(self._rows))
        if self._start is not None:
            self._start = None
            self.scroll_to(y=first, animate=False, force=True, immediate=True)
        self.refresh()


def strip_of(text: Text, width: int, style: Style, needle: str = "") -> Strip:
    """A line of text as textual draws it, cut or filled to the width."""
    line = text.copy()
    if needle:
        line.highlight_regex(re.compile(re.escape(needle), re.IGNORECASE), "reverse")
    return Strip(list(_segments(line))).apply_style(style).adjust_cell_length(width, style)


def _segments(line: Text) -> Iterator[Segment]:
    """The text with its styles, by the places where they begin and end; no markup is read."""
    plain = line.plain
    cuts = sorted({0, len(plain), *(cut for span in line.spans for cut in (span.start, span.end))})
    base = Style.parse(line.style) if isinstance(line.style, str) else line.style
    for start, stop in pairwise(cuts):
        style = base
        for span in line.spans:
            if span.start <= start and stop <= span.end:
                style += Style.parse(span.style) if isinstance(span.style, str) else span.style
        if plain[start:stop]:
            yield Segment(plain[start:stop], style)
