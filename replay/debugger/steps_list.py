"""The list of steps: only the rows on the screen are read and drawn."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from rich.text import Text
from textual import events
from textual.geometry import Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip

from .beside import AloneRows, Row
from .text_pane import strip_of

__all__ = ["Draw", "StepsList"]

Draw = Callable[[Row, int], Text]
"""Draws a row in a width of so many cells."""


class StepsList(ScrollView, can_focus=True, inherit_bindings=False):
    """Rows, one of which has the cursor.

    Args:
        draw: makes the line of a row; called for those on the screen alone.
    """

    COMPONENT_CLASSES = {"steps-list--cursor"}  # noqa: RUF012  # textual's way

    class Chosen(Message):
        """A row was clicked."""

        def __init__(self, row: int) -> None:
            super().__init__()
            self.row = row

    def __init__(self, draw: Draw, id: str) -> None:  # noqa: A002  # textual's name
        super().__init__(id=id)
        self._draw = draw
        self.rows: Sequence[Row] = AloneRows(0)
        self.cursor = 0

    def show(self, rows: Sequence[Row], cursor: int) -> None:
        """Show these rows."""
        self.rows = rows
        self.virtual_size = Size(1, len(rows))
        self.move(cursor)

    def move(self, cursor: int) -> None:
        """Put the cursor on a row, and make it visible."""
        self.cursor = cursor
        self._reveal()
        self.refresh()

    def _reveal(self) -> None:
        height, top = self.scrollable_content_region.height, self.scroll_offset.y
        if height <= 0:
            return
        margin = min(2, (height - 1) // 2)
        if self.cursor < top + margin:
            top = self.cursor - margin
        elif self.cursor >= top + height - margin:
            top = self.cursor - height + 1 + margin
        self.scroll_to(y=max(0, min(top, len(self.rows) - height)), animate=False, force=True, immediate=True)

    def on_resize(self, _: events.Resize) -> None:
        """The cursor stays visible."""
        self._reveal()

    def on_click(self, event: events.Click) -> None:
        """A click chooses a row."""
        row = event.y + self.scroll_offset.y
        if row < len(self.rows):
            self.post_message(self.Chosen(row))

    def render_line(self, y: int) -> Strip:
        """One line of the screen."""
        width, row = self.scrollable_content_region.width, y + self.scroll_offset.y
        if row >= len(self.rows):
            return Strip.blank(width, self.rich_style)
        cursor = row == self.cursor
        style = self.get_component_rich_style("steps-list--cursor") if cursor else self.rich_style
        line = self._draw(self.rows[row], width)
        line.truncate(width)
        return strip_of(line, width, style)
