"""The lines of the debugger's screen. Each colour has a sign or a word beside it, for those who see none."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from attrs import frozen
from rich.cells import cell_len, set_cell_size
from rich.style import Style
from rich.text import Text

from cassettes.model import Ending

from .beside import Row
from .glances import Glance, verdict_word
from .inert import on_one_line
from .keys import TABS
from .side import Side

__all__ = ["Painter", "columns_line", "step_line", "tabs_line", "title_line"]

_SIGNS: Final[Mapping[str, str]] = {"model": "●", "tool": "▸", "http": "◦", "unreadable": "✗"}
_WRITES: Final = "✎"
_WORD_STYLES: Final[Mapping[str, str]] = {
    "agent": "bright_blue",
    "user": "green",
    "write": "bold magenta",
    "tool?": "yellow",
    "?????": "red",
}
_ROW_STYLES: Final[Mapping[str, str]] = {
    "=": "dim",
    "≈": "yellow",
    "~": "bold yellow",
    "+": "bold green",
    "-": "bold red",
}
_ROOM_FOR_BOTH: Final = 40  # cells for what was asked and what came back
_FRONT: Final = 16  # flag, number, sign, word, and the spaces between


@frozen
class Painter:
    """Draws rows of the list.

    Attributes:
        side: the trial.
        other: the trial beside it.
        write_row: where the writes part: that row gets ``◆``.
        flags: of places of the trial: ``e`` edited, ``L`` labelled, ``*`` meets a breakpoint.
    """

    side: Side
    other: Side | None = None
    write: Row | None = None
    flags: Mapping[int, str] = {}

    def row(self, row: Row, width: int) -> Text:
        """One row in a width of so many cells."""
        if row.hidden:
            return self._hidden(row, width)
        left_width, right_width = _widths(width, compared=self.other is not None)
        line = self._left(row, left_width)
        if self.other is not None:
            line.append(" ")
            line.append_text(self._right(row, right_width))
        return line

    def _left(self, row: Row, width: int) -> Text:
        flag = "◆" if row == self.write else self.flags.get(-1 if row.left is None else row.left, " ")
        line = Text().append(flag, "bold red" if flag == "◆" else "bold yellow")
        if row.left is None:
            return line.append(_fit(f"{'':<14} · not in this trial", width - 1), "dim")
        glance = self.side.glance(row.left)
        inner = 0 if glance.parent is None else 1
        line.append(f"{glance.number:>5} ", "dim")
        line.append(f"{_sign(glance)} ")
        line.append(f"{glance.word:<5} ", _WORD_STYLES.get(glance.word, "cyan"))
        line.append(" " * inner)
        line.append_text(_told(glance, width - _FRONT + 1 - inner))
        return line

    def _right(self, row: Row, width: int) -> Text:
        assert self.other is not None
        style = _ROW_STYLES.get(row.sign, "")
        line = Text().append(f"{row.sign or ' '} ", style)
        if row.right is None:
            return line.append(_fit("only here", width - 2), style)
        glance = self.other.glance(row.right)
        if row.sign == "=":
            return line.append(_fit(f"step {glance.number}", width - 2), "dim")
        told = _told(glance, width - 2)
        return line.append(told.plain, "dim") if not row.differs else line.append_text(told)

    def _hidden(self, row: Row, width: int) -> Text:
        first = self.side.glance(row.left).number if row.left is not None else 0
        last = first + row.hidden - 1
        return Text(_fit(f"  {first:>4} = {row.hidden} equal steps, to {last}  (z unfolds)", width), "dim italic")


def _sign(glance: Glance) -> str:
    """What kind of step it is; a pencil for what is declared to write."""
    return _WRITES if glance.word == "write" else _SIGNS.get(glance.kind, "·")


def _widths(width: int, *, compared: bool) -> tuple[int, int]:
    if not compared:
        return width, 0
    right = max(14, (width - _FRONT) * 9 // 20)
    return width - right - 1, right


def _told(glance: Glance, width: int) -> Text:
    """What a step is, in exactly ``width`` cells."""
    word = verdict_word(glance.verdict)
    end = f" [{word}]" if word else ""
    room = max(0, width - cell_len(end))
    if glance.kind == "model":
        told = Text(_fit(f"✗ {glance.asked} {glance.came}" if glance.failed else glance.asked, room))
        if glance.failed:
            told.stylize("red")
    elif room < _ROOM_FOR_BOTH and not glance.failed:
        told = Text(_fit(f"{on_one_line(glance.name)} {glance.asked}", room))
    else:
        came = f" → {'✗ ' if glance.failed else ''}{glance.came}"
        asked = f"{on_one_line(glance.name)} {glance.asked}"
        half = max(room - cell_len(came), room * 3 // 5)
        shown = _cut(asked, half)
        told = Text(shown)
        told.append(_fit(came, max(0, room - cell_len(shown))), "red" if glance.failed else "dim")
    if word:
        told.append(end, "green" if word == "exact" else "yellow")
    return told


def _cut(text: str, width: int) -> str:
    return text if cell_len(text) <= width else set_cell_size(text, max(0, width - 1)).rstrip() + "…"


def _fit(text: str, width: int) -> str:
    return set_cell_size(_cut(text, width), max(0, width))


def step_line(glance: Glance, width: int) -> Text:
    """One step with no other beside it."""
    line = Text().append(f"{glance.number:>6} ", "dim")
    line.append(f"{_sign(glance)} ")
    line.append(f"{glance.word:<5} ", _WORD_STYLES.get(glance.word, "cyan"))
    return line.append_text(_told(glance, max(20, width - _FRONT)))


def columns_line(width: int, other: str) -> Text:
    """The heading of the list; ``other`` is the name of the trial beside, empty if there is none."""
    left, right = _widths(width, compared=bool(other))
    told = _fit(f"{'#':>6}   who   this trial", left)
    return Text(f"{told}   {_fit(f'beside {other}', right - 2)}" if other else told, "bold")


def title_line(name: str, passed: bool | None, ending: Ending) -> Text:  # noqa: FBT001  # a verdict
    """A trial's name, verdict and ending."""
    line = Text().append(on_one_line(name), "bold")
    word, style = {True: ("✓ passed", "green"), False: ("✗ failed", "red"), None: ("? unscored", "yellow")}[passed]
    line.append(f"  {word}", f"bold {style}")
    told = on_one_line((ending.reason or "").partition("\n")[0], 80)
    reason = f": {told}" if told and ending.status != "completed" else ""
    if passed is None or ending.status != "completed":
        line.append(f"  {ending.status}{reason}", "" if ending.status == "completed" else "bold red")
    return line


def tabs_line(chosen: int) -> Text:
    """The tabs; a click on one chooses it."""
    line = Text()
    for number, name in enumerate(TABS):
        click = Style(meta={"@click": f"app.tab({number})"})
        text = f"[{number + 1} {name}]" if number == chosen else f" {number + 1} {name} "
        line.append(text, (Style.parse("bold reverse") if number == chosen else Style()) + click)
    return line
