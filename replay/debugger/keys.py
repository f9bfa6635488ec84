"""Every key of the debugger, once: the app binds them, the help lists them, the documentation is checked for them."""

from __future__ import annotations

from typing import Final

from attrs import frozen
from textual.binding import Binding, BindingType

__all__ = ["GROUPS", "KEYS", "TABS", "Key", "bindings"]

TABS: Final = ("Step", "Messages", "Raw HTTP", "State", "Scores")


@frozen
class Key:
    """One key.

    Attributes:
        key: textual's name of it.
        shown: what stands on the keyboard.
        action: textual's name of what it does.
        group: the heading under which the help lists it.
        told: what it does.
        short: the word in the bottom line; nothing if it does not stand there.
    """

    key: str
    shown: str
    action: str
    group: str
    told: str
    short: str = ""


_MOVE, _COMPARE, _FIND, _LOOK, _ACT = "Move", "Compare", "Find and break", "Look", "Act"
GROUPS: Final = (_MOVE, _COMPARE, _FIND, _LOOK, _ACT)

KEYS: Final = (
    Key("n", "n", "step(1)", _MOVE, "next step", "Next"),
    Key("N", "N", "step(-1)", _MOVE, "previous step"),
    Key("down", "down", "step(1)", _MOVE, "next step"),
    Key("up", "up", "step(-1)", _MOVE, "previous step"),
    Key("s", "s", "kind('model', True)", _MOVE, "next model call"),
    Key("S", "S", "kind('model', False)", _MOVE, "previous model call"),
    Key("t", "t", "kind('tool', True)", _MOVE, "next tool call", "Tool"),
    Key("T", "T", "kind('tool', False)", _MOVE, "previous tool call"),
    Key("w", "w", "kind('write', True)", _MOVE, "next write", "Write"),
    Key("W", "W", "kind('write', False)", _MOVE, "previous write"),
    Key("g", "g", "ask('goto')", _MOVE, "go to a step by its number; $ is the last"),
    Key("home", "Home", "edge(False)", _MOVE, "first step"),
    Key("end", "End", "edge(True)", _MOVE, "last step"),
    Key("pagedown", "PgDn", "page(1)", _MOVE, "a page of steps further"),
    Key("pageup", "PgUp", "page(-1)", _MOVE, "a page of steps back"),
    Key("d", "d", "divergence(True)", _COMPARE, "first divergent write", "Diverge"),
    Key("D", "D", "divergence(False)", _COMPARE, "first divergent step"),
    Key("right_square_bracket", "]", "reference(1)", _COMPARE, "next reference trial"),
    Key("left_square_bracket", "[", "reference(-1)", _COMPARE, "previous reference trial"),
    Key("z", "z", "fold", _COMPARE, "fold stretches of equal steps, or unfold them"),
    Key("slash", "/", "ask('search')", _FIND, "search the trial", "Search"),
    Key("comma", ",", "match(True)", _FIND, "next match"),
    Key("less_than_sign", "<", "match(False)", _FIND, "previous match"),
    Key("b", "b", "ask('break')", _FIND, "break on a tool, an error or a condition; again takes it away"),
    Key("c", "c", "go_on(True)", _FIND, "continue to the next step that meets a breakpoint"),
    Key("C", "C", "go_on(False)", _FIND, "continue back to the one before"),
    Key("1", "1", "tab(0)", _LOOK, "the step"),
    Key("2", "2", "tab(1)", _LOOK, "what the model saw, exactly"),
    Key("3", "3", "tab(2)", _LOOK, "raw HTTP"),
    Key("4", "4", "tab(3)", _LOOK, "the state after the step, and what changed"),
    Key("5", "5", "tab(4)", _LOOK, "scores, evidence and labels"),
    Key("o", "o", "tab(2)", _LOOK, "raw HTTP, too"),
    Key("x", "x", "tab(3)", _LOOK, "state, too"),
    Key("j", "j", "scroll(1)", _LOOK, "scroll the page down"),
    Key("k", "k", "scroll(-1)", _LOOK, "scroll the page up"),
    Key("space", "Space", "scroll_page(1)", _LOOK, "scroll the page down by its height"),
    Key("l", "l", "label", _ACT, "label: whose fault was it?"),
    Key("e", "e", "edit", _ACT, "edit the step's outcome, for a fork"),
    Key("f", "f", "fork", _ACT, "fork: go on live from this step, or behind the edited one", "Fork"),
    Key("F", "F", "follow", _ACT, "open the fork with this trial beside it, or go back"),
    Key("question_mark", "?", "help", _ACT, "this help", "Help"),
    Key("q", "q", "quit", _ACT, "quit", "Quit"),
)


def bindings() -> list[BindingType]:
    """The keys as textual binds them."""
    return [
        Binding(key.key, key.action, key.short or key.told, show=bool(key.short), key_display=key.shown) for key in KEYS
    ]
