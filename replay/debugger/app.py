"""The debugger: what is asked, searched, labelled, edited and forked, on top of the viewer."""

from __future__ import annotations

from typing import ClassVar

from attrs import evolve
from rich.text import Text
from textual.app import SuspendNotSupported
from textual.binding import Binding, BindingType
from textual.widgets import Input, Static

from cassettes.errors import BadInput, TrialtapeError
from replay.view import View

from .beside import row_of
from .breakpoints import parse
from .cursor import place_asked, round_trip
from .desk import Desk
from .edits import editable, edited_by_hand, given_as_file
from .forked import Order, Running, free_name, options_from
from .inert import inert, on_one_line
from .labelling import Draft, keep_label
from .opened import surroundings
from .painting import step_line
from .screens import HelpScreen, LabelScreen
from .searching import holds
from .steps_list import StepsList
from .text_pane import TextPane
from .viewer import Viewer

__all__ = ["Debugger", "debug"]

_QUESTIONS = {"search": "search:", "goto": "go to step:", "break": "break on:", "fork": "go live"}
_HINTS = {
    "search": "a text; Enter finds it, Esc leaves",
    "goto": "a number, $ for the last; Esc leaves",
    "break": "tool:cancel_*, error, seconds > 2 and write; Esc leaves",
    "fork": "such as --suite suite.py --freeze external; Enter starts, Esc leaves",
}


def debug(view: View, *, against: View | None = None, at: int | None = None) -> None:
    """Open the debugger on a trial; returns when the user quits.

    Args:
        view: the trial.
        against: the trial to compare it with; None looks for passing trials of the same task.
        at: the number of the step to begin with.

    Raises:
        BadInput: there is no such step.
    """
    desk = Desk(view, against=against, at=at)
    if at is not None and desk.side.place_of(at) is None:
        raise BadInput(f"{view.id} has no step {at}; it has {len(desk.side)} steps, numbered from 0")
    Debugger(desk).run()


class Debugger(Viewer):
    """Everything that the keys do.

    Args:
        desk: the trial, with what to compare it with.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "dismiss", "leave a question, or hide the fork", show=False)
    ]

    def __init__(self, desk: Desk) -> None:
        super().__init__(desk)
        self._asking = ""
        self._fork: Running | None = None
        self._left: Desk | None = None
        self._warned = False

    # -- questions ----------------------------------------------------------------------------------------------------

    def action_ask(self, what: str) -> None:
        """Ask for a text in the bottom line."""
        self._asking = what
        known = ", ".join(point.text for point in self.desk.breaks) if what == "break" else ""
        hint = f" (now: {known})" if known else f" from step {self._fork_at()}; options:" if what == "fork" else ""
        self.query_one("#question", Static).update(Text(on_one_line(_QUESTIONS[what] + hint)))
        prompt = self.query_one("#prompt", Input)
        prompt.value, prompt.placeholder = "", _HINTS[what]
        self.screen.add_class("-asking")
        prompt.focus()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """The text was given."""
        event.stop()
        what, text = self._asking, event.value
        self.action_dismiss()
        if what == "fork":
            self._start_fork(text)
        elif what == "search":
            self._search(text)
        elif text.strip():
            (self._goto if what == "goto" else self._break)(text)

    def action_dismiss(self) -> None:
        """Close the question; if none is open, hide the fork."""
        if not self._asking:
            self.query_one("#fork").remove_class("-shown")
        self._asking = ""
        self.screen.remove_class("-asking")
        self.query_one(StepsList).focus()

    def _goto(self, text: str) -> None:
        numbers = self.desk.side.numbers
        place = place_asked(text, numbers)
        if place is None:
            last = f"; the last is {numbers[-1]}" if numbers else ""
            self.say(f"there is no step {text.strip()}{last}")
        else:
            self.go(row_of(self.desk.rows, place))

    # -- search -------------------------------------------------------------------------------------------------------

    def _search(self, text: str) -> None:
        self.needle = text if text.strip() else ""
        if self.needle:
            self.action_match(forward=True)
        else:
            self.show_page()

    def action_match(self, forward: bool) -> None:  # noqa: FBT001  # textual's way
        """Go to the next or previous step that holds the text."""
        if not self.needle:
            self.say("nothing is searched for; / asks for a text")
            return
        rows = round_trip(self.desk.place, len(self.desk.rows), forward=forward)
        needle = self.needle
        self.seek(rows, lambda at: holds(self.desk, at, needle), f"no step holds {needle!r}")

    # -- breakpoints --------------------------------------------------------------------------------------------------

    def _break(self, text: str) -> None:
        desk = self.desk
        if any(point.text == text.strip() for point in desk.breaks):
            desk.breaks = [point for point in desk.breaks if point.text != text.strip()]
            told = f"no longer breaks on {text.strip()}"
        else:
            try:
                desk.breaks = [*desk.breaks, parse(text)]
            except BadInput as error:
                self.say(str(error))
                return
            told = f"breaks on {text.strip()}; c continues to it"
        self.query_one(StepsList).refresh()
        self.show_page()
        self.say(told)

    def action_go_on(self, forward: bool) -> None:  # noqa: FBT001  # textual's way
        """Go to the next or previous step that meets a breakpoint."""
        if not self.desk.breaks:
            self.say("there is no breakpoint; b sets one")
            return
        told = ", ".join(point.text for point in self.desk.breaks)
        wanted = lambda at: bool(self.desk.met(self.desk.rows[at]))
        self.seek(self.ahead(forward=forward), wanted, f"no step {'behind' if forward else 'before'} meets {told}")

    # -- acting -------------------------------------------------------------------------------------------------------

    def action_label(self) -> None:
        """Say whose fault it was."""
        number = self.desk.step_number
        where = "the whole trial" if number is None else f"step {number}"
        self.push_screen(LabelScreen(where), lambda draft: self._label(number, draft))

    def _label(self, step: int | None, draft: Draft | None) -> None:
        if draft is None:
            return
        desk = self.desk
        try:
            label = keep_label(desk.around.home, desk.side.view, None if draft.fault is None else step, draft)
        except TrialtapeError as error:
            self.say(str(error))
            return
        desk.around = surroundings(desk.side.view)
        self.refresh_all()
        self.say("your label is taken back" if label.fault is None else f"labelled by {label.author}: {label.fault}")

    def action_edit(self) -> None:
        """Edit the outcome of the step, for a fork."""
        row, desk = self.desk.row, self.desk
        if row is None or row.left is None:
            self.say("there is no step of this trial to edit")
            return
        try:
            step = desk.side.step(row.left)
            before = desk.edits.get(row.left) or editable(step)
            with self.suspend():
                after = edited_by_hand(before)
        except SuspendNotSupported:
            self.say("no editor can be opened from here; use trialtape fork --edit FILE")
            return
        except TrialtapeError as error:
            self.say(str(error))
            return
        if after == before and row.left not in desk.edits:
            self.say("nothing was changed")
            return
        desk.edits = {row.left: after} if after != editable(step) else {}
        self.refresh_all()
        self.say(f"f forks behind step {step.step} with this outcome" if desk.edits else "the edit is taken back")

    # -- forks --------------------------------------------------------------------------------------------------------

    def _fork_at(self) -> int | None:
        """The first step that would go live: the one behind an edited outcome, else the one with the cursor."""
        number, row = self.desk.step_number, self.desk.row
        if number is None or row is None or row.left is None:
            return None
        return number + 1 if row.left in self.desk.edits else number

    def action_fork(self) -> None:
        """Ask for options, then go on live from here."""
        view, home = self.desk.side.view, self.desk.around.home
        if self._fork is not None and self._fork.code is None:
            self.say("a fork is running; wait for its end")
        elif home is None or home.cassette(view.id).resolve() != view.path.resolve():
            self.say("only a trial of a home folder can be forked")
        elif self._fork_at() is None:
            self.say("there is no step of this trial to fork at")
        else:
            self.action_ask("fork")

    def _start_fork(self, text: str) -> None:
        desk, at = self.desk, self._fork_at()
        assert desk.around.home is not None
        assert desk.row is not None
        assert at is not None
        parent = desk.side.view.id
        edited = None if desk.row.left is None else desk.edits.get(desk.row.left)
        try:
            run = free_name(desk.around.home, parent, at)
            order = Order(desk.around.home, parent, at, run, None, options_from(text))
        except BadInput as error:
            self.say(str(error))
            return
        self._fork = Running(order)
        self.query_one("#fork").add_class("-shown")
        self._show_fork()
        self.run_worker(self._carry_out(self._fork, edited), group="fork")

    async def _carry_out(self, fork: Running, edited: str | None) -> None:
        with given_as_file(edited) as file:
            fork.order = evolve(fork.order, edit=file)
            await fork.go(self._show_fork)

    def _show_fork(self) -> None:
        fork = self._fork
        assert fork is not None
        pane = self.query_one("#fork-steps", TextPane)
        width = pane.scrollable_content_region.width
        head = f"fork of {fork.order.parent} at step {fork.order.at}: {fork.state()}  {fork.order.trial}  (F opens it)"
        self.query_one("#fork-title", Static).update(Text(on_one_line(head), "bold yellow"))
        lines = [step_line(glance, width) for glance in fork.steps]
        lines += [Text(inert(line), "yellow") for line in fork.said]
        pane.show(lines, start=max(0, len(lines) - 1))

    def action_follow(self) -> None:
        """Open the fork with its parent beside it; from there, go back."""
        if self._left is not None:
            self.desk, self._left = self._left, None
        elif self._fork is None:
            self.say("there is no fork; f makes one")
            return
        else:
            try:
                view = View(self._fork.order.cassette, self._fork.order.home)
            except TrialtapeError as error:
                self.say(str(error))
                return
            self._left, self.desk = self.desk, Desk(view, against=self.desk.side.view, at=self._fork.order.at)
        self.open_desk()

    async def action_quit(self) -> None:
        """Quit; a fork that runs is ended, after a warning."""
        if self._fork is not None and self._fork.code is None:
            if not self._warned:
                self._warned = True
                self.say("a fork is running: q again ends it and quits")
                return
            self._fork.stop()
        self.exit()

    def action_help(self) -> None:
        """List the keys."""
        self.push_screen(HelpScreen())
