"""What is on the debugger's desk: a trial, the one beside it, the cursor, what was set. No terminal in it."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate

from rich.text import Text

from cassettes.errors import TrialtapeError
from cassettes.model import Interaction
from replay.view import View

from .beside import AloneRows, Row, folded, row_of
from .breakpoints import Breakpoint
from .cursor import clamped, first
from .documents import Notes, messages_page, state_page, step_page
from .glances import Glance
from .inert import on_one_line
from .opened import Comparison, surroundings
from .page import Page
from .painting import Painter, title_line
from .raw_pages import raw_page, scores_page
from .side import Side

__all__ = ["LONG", "MESSAGES", "RAW", "SCORES", "STATE", "STEP", "Desk", "Seen"]

LONG = 2000
"""Steps from which on a trial is compared only when asked."""

STEP, MESSAGES, RAW, STATE, SCORES = range(5)


class Seen:
    """A row as conditions see it; implements `breakpoints.Moment`."""

    def __init__(self, row: Row, side: Side, place: int) -> None:
        self._side, self._place = side, place
        self.differs = row.differs

    @property
    def glance(self) -> Glance:
        """The step at a glance."""
        return self._side.glance(self._place)

    @property
    def whole(self) -> Interaction:
        """The step with all that it holds."""
        return self._side.step(self._place)


class Desk:
    """A trial and everything that the debugger knows and was told of it.

    Args:
        view: the trial.
        against: the trial to compare it with; None looks for passing ones.
        at: the number of the step to begin with.

    Attributes:
        others: the trials that it can be compared with; None as long as nobody looked.
        rows: all rows; ``place`` is the one with the cursor.
        shown: the same as the list shows them, maybe folded; ``starts`` gives the row of each.
        trouble: why they could not be compared.
        breaks: conditions; ``edits`` are outcomes as JSON text, by place.
    """

    def __init__(self, view: View, *, against: View | None = None, at: int | None = None) -> None:
        self.side = Side(view)
        self.around = surroundings(view)
        self.others: list[View] | None = None if against is None else [against]
        self.other_at = 0
        self.comparison: Comparison | None = None
        self.comparing = False
        self.trouble = ""
        self.rows: Sequence[Row] = AloneRows(len(self.side))
        self.shown: Sequence[Row] = self.rows
        self.starts: Sequence[int] = range(len(self.rows))
        self.folding = False
        self.place = clamped((self.side.place_of(at) if at is not None else None) or 0, len(self.rows))
        self.breaks: list[Breakpoint] = []
        self.edits: dict[int, str] = {}

    @property
    def other(self) -> Side | None:
        """The trial beside this one."""
        return None if self.comparison is None else self.comparison.other

    @property
    def other_name(self) -> str:
        """The name of the trial beside this one, as far as it is another one; empty if there is none."""
        if self.other is None:
            return ""
        mine, theirs = self.side.view.id, self.other.view.id
        return on_one_line(f"#{theirs.index}" if (mine.run, mine.task) == (theirs.run, theirs.task) else str(theirs))

    @property
    def row(self) -> Row | None:
        """The row with the cursor; None if the trial has no steps."""
        return self.rows[self.place] if self.rows else None

    @property
    def shown_place(self) -> int:
        """The shown row with the cursor."""
        return max(0, bisect_right(self.starts, self.place) - 1)

    @property
    def step_number(self) -> int | None:
        """The number of the trial's step with the cursor; None where it has none."""
        row = self.row
        return None if row is None or row.left is None else self.side.numbers[row.left]

    def located(self, row: Row) -> tuple[Side, int]:
        """The trial and the place of a row's step: the trial's own, or, if it is missing there, the other's."""
        if row.left is not None:
            return self.side, row.left
        assert self.other is not None
        assert row.right is not None
        return self.other, row.right

    def seen(self, row: Row) -> Seen:
        """A row as conditions see it."""
        return Seen(row, *self.located(row))

    def put(self, place: int) -> None:
        """Put the cursor on a row; one that a fold hides is unfolded."""
        self.place = clamped(place, len(self.rows))
        if self.folding and self.starts[self.shown_place] != self.place:
            self.fold(folding=False)

    def fold(self, *, folding: bool) -> None:
        """Fold equal stretches, or show all rows."""
        self.folding = folding
        self.shown = folded(self.rows) if folding else self.rows
        hidden = (max(1, row.hidden) for row in self.shown[:-1])
        self.starts = list(accumulate(hidden, initial=0)) if folding else range(len(self.rows))

    def compared(self, comparison: Comparison | None, trouble: str = "") -> None:
        """Lay another trial beside this one, or none, for a reason; the cursor stays at its step."""
        self.trouble = trouble
        before = (self.rows[at].left for at in range(self.place, -1, -1) if self.rows)
        step = next((left for left in before if left is not None), 0)
        self.comparing, self.comparison = False, comparison
        self.rows = AloneRows(len(self.side)) if comparison is None else comparison.rows
        self.place = row_of(self.rows, step) if self.rows else 0
        self.fold(folding=self.folding)

    # -- lines --------------------------------------------------------------------------------------------------------

    def title(self) -> Text:
        """Which trials are seen."""
        line = title_line(self.side.name, self.around.passed, self.side.view.ending)
        if self.other is not None and self.others is not None:
            line.append("  beside ", "dim")
            line.append(self.other_name, "bold")
            line.append(f"  {self.other_at + 1} of {len(self.others)} [ ]", "dim")
        return line

    def verdict(self) -> Text:
        """What the comparison says."""
        if self.comparison is not None:
            told = on_one_line(self.comparison.verdict())
            if self.comparison.write is None:
                return Text(f"= {told}", "green")
            return Text().append("◆ first divergent write: ", "bold red").append(f"{told}  (d)")
        if self.trouble:
            return Text(on_one_line(f"cannot be compared: {self.trouble}"), "red")
        if self.comparing:
            return Text("looking for a passing trial to compare with ...", "dim")
        if self.others is None and len(self.side) > LONG:
            return Text(f"not compared yet: {len(self.side):,} steps; d compares", "dim")
        return Text("no passing trial of this task to compare with; --against TRIAL names one", "dim")

    def draw(self, row: Row, width: int) -> Text:
        """One row of the list."""
        flags = {} if row.left is None else self._flags(row, row.left)
        return Painter(self.side, self.other, self._write_row(), flags).row(row, width)

    def _write_row(self) -> Row | None:
        if self.comparison is None or self.comparison.write_row is None:
            return None
        return self.rows[self.comparison.write_row]

    def _flags(self, row: Row, place: int) -> dict[int, str]:
        if place in self.edits:
            return {place: "e"}
        number = self.side.numbers[place]
        if any(label.step == number for label in self.around.labels):
            return {place: "L"}
        return {place: "*"} if self.met(row) else {}

    def met(self, row: Row) -> list[str]:
        """The conditions that a row meets."""
        seen = self.seen(row)
        return [point.text for point in self.breaks if _meets(point, seen)]

    # -- pages --------------------------------------------------------------------------------------------------------

    def page(self, tab: int) -> Page:
        """The page ``tab`` about the row with the cursor; what cannot be read is told on it."""
        try:
            return self._page(tab)
        except TrialtapeError as error:
            return _page_of(str(error), "red")

    def _page(self, tab: int) -> Page:
        around, view = self.around, self.side.view
        if tab == SCORES:
            return scores_page(view, around.scores, around.labels, around.cost_of_all(view), around.troubles)
        row = self.row
        if row is None:
            return _page_of("the trial has no steps")
        side, place = self.located(row)
        if tab == MESSAGES:
            return _messages(side, place)
        if tab == RAW:
            return raw_page(side, place)
        if tab == STATE:
            return state_page(side.view, side.step(place))
        return step_page(row, self.side, self.other, self._notes(row, side, place))

    def _notes(self, row: Row, side: Side, place: int) -> Notes:
        step, mine = side.step(place), side is self.side
        diverges = self.comparison is not None and row == self._write_row()
        return Notes(
            labels=[label for label in self.around.labels if mine and label.step == step.step],
            cost=self.around.cost_of(step),
            breaks=self.met(row),
            edited=self.edits.get(place) if mine else None,
            write=self.comparison.verdict() if diverges and self.comparison is not None else None,
        )


def _meets(point: Breakpoint, seen: Seen) -> bool:
    try:
        return point.meets(seen)
    except TrialtapeError:  # what cannot be read meets nothing
        return False


def _messages(side: Side, place: int) -> Page:
    model = first(range(place, -1, -1), lambda at: side.glance(at).kind == "model")
    if model is None:
        return _page_of("no model was asked before this step")
    word = side.glance(model).word
    before = first(
        range(model - 1, -1, -1), lambda at: side.glance(at).kind == "model" and side.glance(at).word == word
    )
    page = messages_page(side, model, before)
    if model != place:
        told = f"step {side.numbers[place]} is no model call; the one before it is step {side.numbers[model]}:"
        page.lines.insert(page.start, Text(told, "yellow"))
    return page


def _page_of(text: str, style: str = "") -> Page:
    page = Page()
    page.text(text, style)
    return page
