"""What opens above the debugger: the list of keys, and the form for a label."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Final

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from replay.labelling.labels import FAULTS, Fault

from .keys import GROUPS, KEYS
from .labelling import Draft
from .text_pane import TextPane

__all__ = ["HelpScreen", "LabelScreen"]

_FAULTS: Final[Mapping[Fault | None, tuple[str, str]]] = {
    "agent": ("a", "agent           it decided wrongly"),
    "user": ("u", "user            the simulated user did not play its part"),
    "tool": ("t", "tool            a tool answered wrongly"),
    "task": ("g", "task            the task or its grader is wrong"),
    "infrastructure": ("i", "infrastructure  a limit, a timeout, the network"),
    None: ("0", "take my label back"),
}
_LEGEND = (
    ("◆", "the first divergent write"),
    ("e L *", "edited, labelled, meets a breakpoint"),
    ("● ▸ ✎ ◦", "model call, tool call, one that writes, HTTP"),
    ("=", "the same in both trials"),
    ("≈", "the same call with another result, or other words of a model"),
    ("~", "the same tool with other arguments"),
    ("+ -", "only in this trial, only in the other"),
    ("✗", "it failed"),
    ("[exact]", "answered from a recording; live calls have no such mark"),
)
_CONDITIONS = (
    "tool:cancel_*   error   write   missed   differs",
    "seconds > 2 and not tool   arg.order_id == W1   result ~ refused",
)


class HelpScreen(ModalScreen[None]):
    """Every key, and what the signs mean."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,question_mark,q,enter", "close", "close"),
        Binding("down,j", "scroll(1)", "down"),
        Binding("up,k", "scroll(-1)", "up"),
    ]

    def compose(self) -> ComposeResult:
        """The text."""
        yield TextPane(id="help")

    def on_mount(self) -> None:
        """Fill it."""
        self.query_one(TextPane).border_title = "keys (? closes)"
        self.query_one(TextPane).show(help_lines())

    def action_close(self) -> None:
        """Back to the debugger."""
        self.dismiss()

    def action_scroll(self, lines: int) -> None:
        """Scroll."""
        self.query_one(TextPane).scroll_relative(y=lines, animate=False)


def help_lines() -> list[Text]:
    """The help, line by line."""
    lines: list[Text] = []
    for group in GROUPS:
        lines.append(Text(group, "bold underline"))
        told: dict[str, list[str]] = {}
        for key in KEYS:
            if key.group == group:
                told.setdefault(key.told, []).append(key.shown)
        lines += [Text().append(f"{' '.join(keys):<10} ", "bold yellow").append(what) for what, keys in told.items()]
        lines.append(Text())
    lines.append(Text("Signs", "bold underline"))
    lines += [Text().append(f"{sign:<10} ", "bold yellow").append(what) for sign, what in _LEGEND]
    lines.append(Text())
    lines.append(Text("Conditions for b", "bold underline"))
    lines += [Text(condition) for condition in _CONDITIONS]
    return lines


class LabelScreen(ModalScreen[Draft | None]):
    """Asks whose fault it was, of what type, and for a note; gives None if the user thinks better of it.

    Args:
        where: what is labelled, for the heading.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "close", "close"),
        *(Binding(key, f"choose({place})", told) for place, (key, told) in enumerate(_FAULTS.values())),
    ]

    def __init__(self, where: str) -> None:
        super().__init__()
        self._where = where

    def compose(self) -> ComposeResult:
        """The form."""
        with Vertical(id="label"):
            yield Static(Text(f"whose fault was it? ({self._where})", "bold"))
            yield OptionList(*(Option(Text(f"{key}  {told}")) for key, told in _FAULTS.values()), id="faults")
            yield Input(placeholder="type: a word of your own, such as refund-policy", id="type", compact=True)
            yield Input(placeholder="note: what you saw", id="note", compact=True)
            yield Static(Text("Enter goes on, and keeps the label after the note; Esc leaves", "dim"))

    def action_close(self) -> None:
        """Leave without a label."""
        self.dismiss(None)

    def action_choose(self, place: int) -> None:
        """Choose a fault."""
        self.query_one(OptionList).highlighted = place
        self._chosen()

    def on_option_list_option_selected(self) -> None:
        """Enter on a fault."""
        self._chosen()

    def _chosen(self) -> None:
        if self._fault() is None:
            self.dismiss(Draft(None))
        else:
            self.query_one("#type", Input).focus()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Enter goes on to the note, and then ends."""
        event.stop()
        if event.input.id == "type":
            self.query_one("#note", Input).focus()
        else:
            told = [self.query_one(name, Input).value for name in ("#type", "#note")]
            self.dismiss(Draft(self._fault(), *told))

    def _fault(self) -> Fault | None:
        place = self.query_one(OptionList).highlighted or 0
        return (*FAULTS, None)[place]
