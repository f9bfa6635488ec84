"""The debugger's screen: the list of steps, a page about one of them, and moving between them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import islice
from typing import Any, ClassVar, Final

from rich.text import Text
from textual.app import App, ComposeResult
from textual.binding import BindingType
from textual.widgets import Static
from textual.worker import Worker, get_current_worker

from cassettes.errors import TrialtapeError

from .beside import Row
from .cursor import ahead, clamped, first
from .desk import LONG, SCORES, STATE, STEP, Desk
from .inert import on_one_line
from .keys import bindings
from .layout import parts
from .opened import Comparison, compare, passing
from .page import Page
from .painting import columns_line, tabs_line
from .side import Side
from .steps_list import StepsList
from .text_pane import TextPane

__all__ = ["Viewer"]

_AT_ONCE: Final = 500  # rows that are looked at before a search goes on in the background


class Viewer(App[None]):
    """Shows what is on a desk, and moves the cursor.

    Args:
        desk: the trial, with what to compare it with.
    """

    CSS_PATH = "debugger.tcss"
    ENABLE_COMMAND_PALETTE = False
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (110, "-wide")]  # noqa: RUF012  # textual's way
    BINDINGS: ClassVar[list[BindingType]] = bindings()

    def __init__(self, desk: Desk) -> None:
        super().__init__()
        self.desk = desk
        self.tab = STEP
        self.needle = ""
        self._when_compared: Callable[[], None] | None = None

    def compose(self) -> ComposeResult:
        """The parts of the screen."""
        yield from parts(self._draw)

    def on_mount(self) -> None:
        """Show the trial at once; look for one to compare it with in the background."""
        self.query_one(StepsList).focus()
        self.open_desk()

    def open_desk(self) -> None:
        """Show what is on the desk."""
        view = self.desk.side.view
        self.title = f"trialtape debug {on_one_line(self.desk.side.name)}"
        problem = view.cassette.problem or ("incomplete" if view.ending.status == "incomplete" else None)
        self.query_one("#alert", Static).update(Text(f"! the file is {problem}; what stands before it is shown"))
        self.query_one("#alert").set_class(problem is not None, "-shown")
        self.refresh_all()
        if self.desk.others is not None or len(self.desk.side) <= LONG:
            self.start_comparing()

    def on_resize(self) -> None:
        """The heading of the list has its width."""
        self.call_after_refresh(self._show_columns)

    # -- showing ------------------------------------------------------------------------------------------------------

    def refresh_all(self) -> None:
        """Draw everything anew."""
        self.query_one("#title", Static).update(self.desk.title())
        self.query_one("#verdict", Static).update(self.desk.verdict())
        self._show_columns()
        self.query_one(StepsList).show(self.desk.shown, self.desk.shown_place)
        self.show_page()

    def _show_columns(self) -> None:
        width = self.query_one(StepsList).scrollable_content_region.width
        self.query_one("#columns", Static).update(columns_line(width, self.desk.other_name))

    def _draw(self, row: Row, width: int) -> Text:
        return self.desk.draw(row, width)

    def say(self, message: str) -> None:
        """Tell something in the status line, until the next key."""
        desk = self.desk
        where = f"row {desk.place + 1:,} of {len(desk.rows):,}" if desk.rows else "no steps"
        breaks = f"  {len(desk.breaks)} breakpoints" if desk.breaks else ""
        line = Text(where + breaks, "dim")
        line.append(f"  {on_one_line(message)}", "bold yellow")
        self.query_one("#status", Static).update(line)

    def show_page(self) -> None:
        """Show the chosen page about the row with the cursor; one that takes long, when it is made."""
        self.query_one("#tabs", Static).update(tabs_line(self.tab))
        self.say("")
        self.workers.cancel_group(self, "page")
        if self.tab in {STATE, SCORES}:
            self.run_worker(partial(self._make, self.tab), thread=True, group="page", exclusive=True)
        else:
            self._fill(self.desk.page(self.tab))

    def _make(self, tab: int) -> None:
        worker, page = get_current_worker(), self.desk.page(tab)
        if not worker.is_cancelled:
            self.call_from_thread(self._made, worker, page)

    def _made(self, worker: Worker[Any], page: Page) -> None:
        if not worker.is_cancelled:  # the cursor moved on meanwhile
            self._fill(page)

    def _fill(self, page: Page) -> None:
        self.query_one("#page", TextPane).show(page.lines, start=page.start, needle=self.needle)

    # -- moving -------------------------------------------------------------------------------------------------------

    def go(self, place: int) -> None:
        """Put the cursor on a row."""
        self.workers.cancel_group(self, "seek")
        self._put(place)

    def _put(self, place: int) -> None:
        folding = self.desk.folding
        self.desk.put(place)
        steps = self.query_one(StepsList)
        if folding and not self.desk.folding:
            steps.show(self.desk.shown, self.desk.shown_place)
        steps.move(self.desk.shown_place)
        self.show_page()

    def seek(self, rows: Iterable[int], wanted: Callable[[int], bool], missing: str) -> None:
        """Go to the first of ``rows`` that is wanted; a long search goes on in the background until the next move."""
        self.workers.cancel_group(self, "seek")
        going: Iterator[int] = iter(rows)
        near = list(islice(going, _AT_ONCE))
        found = first(near, wanted)
        if found is not None:
            self.go(found)
        elif len(near) < _AT_ONCE:
            self.say(missing)
        else:
            self.say("looking ...")
            self.run_worker(partial(self._look, going, wanted, missing), thread=True, group="seek", exclusive=True)

    def _look(self, rows: Iterator[int], wanted: Callable[[int], bool], missing: str) -> None:
        worker = get_current_worker()
        found = first(rows, lambda at: worker.is_cancelled or wanted(at))
        if not worker.is_cancelled:
            self.call_from_thread(self._looked, worker, found, missing)

    def _looked(self, worker: Worker[Any], found: int | None, missing: str) -> None:
        if worker.is_cancelled:  # the user moved on meanwhile
            return
        if found is None:
            self.say(missing)
        else:
            self._put(found)

    def ahead(self, *, forward: bool) -> range:
        """The rows behind the cursor's."""
        return ahead(self.desk.place, len(self.desk.rows), forward=forward)

    def action_step(self, rows: int) -> None:
        """Move over rows as they are shown."""
        at = self.desk.shown_place + rows
        target = clamped(at, len(self.desk.shown))
        if self.desk.rows:
            self.go(self.desk.starts[target])
        if at != target:
            self.say("this is the last step" if rows > 0 else "this is the first step")

    def action_page(self, pages: int) -> None:
        """Move by what the list shows at once."""
        self.action_step(pages * max(1, self.query_one(StepsList).scrollable_content_region.height - 1))

    def action_edge(self, last: bool) -> None:  # noqa: FBT001  # textual's way
        """Go to the first or the last row."""
        self.go(len(self.desk.rows) - 1 if last else 0)

    def action_kind(self, kind: str, forward: bool) -> None:  # noqa: FBT001  # textual's way
        """Go to the next or previous model call, tool call or write."""

        def wanted(at: int) -> bool:
            glance = self.desk.seen(self.desk.rows[at]).glance
            return glance.writes if kind == "write" else glance.kind == kind

        what = kind if kind == "write" else f"{kind} call"
        self.seek(self.ahead(forward=forward), wanted, f"no {what} {'behind' if forward else 'before'} this step")

    def action_tab(self, tab: int) -> None:
        """Choose a page."""
        self.tab = tab
        self.show_page()

    def action_scroll(self, lines: int) -> None:
        """Scroll the page."""
        self.query_one("#page", TextPane).scroll_relative(y=lines, animate=False)

    def action_scroll_page(self, pages: int) -> None:
        """Scroll the page by its height."""
        pane = self.query_one("#page", TextPane)
        pane.scroll_relative(y=pages * max(1, pane.size.height - 1), animate=False)

    def action_fold(self) -> None:
        """Fold equal stretches, or unfold them."""
        self.desk.fold(folding=not self.desk.folding)
        self.query_one(StepsList).show(self.desk.shown, self.desk.shown_place)
        if self.desk.folding:
            self.go(self.desk.starts[self.desk.shown_place] if self.desk.rows else 0)
        hidden = len(self.desk.rows) - len(self.desk.shown)
        self.say(f"{hidden} rows are folded" if self.desk.folding else "all rows are shown")

    def on_steps_list_chosen(self, event: StepsList.Chosen) -> None:
        """A row was clicked."""
        self.go(self.desk.starts[event.row])

    # -- comparing ----------------------------------------------------------------------------------------------------

    def action_divergence(self, write: bool) -> None:  # noqa: FBT001  # textual's way
        """Go to where the trials part; compare them first if that was not done."""
        comparison = self.desk.comparison
        if comparison is None:
            if self.desk.comparing or (self.desk.others is None and not self.desk.trouble):
                self.start_comparing(partial(self.action_divergence, write))
            else:
                self.say(self.desk.trouble or "there is no trial to compare with")
            return
        place = comparison.write_row if write else comparison.first_row
        if place is None:
            self.say("the writes are the same" if write else "the trials do not differ, but for a model's words")
        else:
            self.go(place)

    def action_reference(self, by: int) -> None:
        """Compare with another trial."""
        others = self.desk.others
        if others is None:
            self.start_comparing()
        elif len(others) < 2:
            self.say("there is no other trial to compare with")
        elif not self.desk.comparing:
            self.desk.other_at = (self.desk.other_at + by) % len(others)
            self.start_comparing()

    def start_comparing(self, then: Callable[[], None] | None = None) -> None:
        """Compare in the background, then call ``then``."""
        self._when_compared = then
        if not self.desk.comparing:
            self.desk.comparing = True
            self.query_one("#verdict", Static).update(self.desk.verdict())
            self.run_worker(self._compare, thread=True, group="compare", exclusive=True)

    def _compare(self) -> None:
        desk, worker = self.desk, get_current_worker()
        comparison, trouble = None, ""
        try:
            if desk.others is None:
                desk.others = [] if desk.around.home is None else passing(desk.side.view, desk.around.home)
            if desk.others:
                comparison = compare(desk.side, Side(desk.others[desk.other_at]))
        except TrialtapeError as error:
            trouble = str(error)
        if not worker.is_cancelled:
            self.call_from_thread(self._compared, desk, comparison, trouble)

    def _compared(self, desk: Desk, comparison: Comparison | None, trouble: str) -> None:
        if desk is not self.desk or not self.is_running:
            return
        desk.compared(comparison, trouble)
        self.refresh_all()
        then, self._when_compared = self._when_compared, None
        if then is not None:
            then()
