"""What happens where no recording answers a frozen call."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, Literal, get_args

from attrs import frozen

from cassettes.errors import BadInput
from cassettes.model import Call

from .selector import Selector

__all__ = ["BY_DEFAULT", "EVERYTHING_FAILS", "Missed", "OnMiss", "on_miss_rules"]

OnMiss = Literal["extend", "fail", "live", "error", "emulate"]

_ACTIONS: Final = get_args(OnMiss)


@frozen
class Missed:
    """What the user wants done about calls that no recording answers.

    ``extend``: a read is called live once, and its answer serves later trials of the same world. ``live``: it is called
    live, for this trial alone. ``fail``: the trial ends unanswered. ``error``: the agent gets a `LookupError`.
    ``emulate``: a model plays the tool (see `replay.emulation`).

    Attributes:
        rules: the most specific that means the call wins, among equals the last; None means every call.
    """

    rules: tuple[tuple[Selector | None, OnMiss], ...] = ()

    def action(self, call: Call) -> tuple[OnMiss, bool]:
        """What is done, and whether the call may go live, or be emulated, at all.

        Without a rule a read or a pure tool extends its world, and all else fails. What may write goes live, or is
        emulated, only if a rule names it, a model goes live only if a rule selects models. Only tools are emulated.
        """
        chosen: OnMiss = "fail" if call.may_write or call.kind == "model" else "extend"
        best, meant = -2, None
        for selector, action in self.rules:
            specificity = -1 if selector is None else selector.specificity
            if specificity >= best and (selector is None or selector.matches(call)):
                chosen, best, meant = action, specificity, selector
        if chosen == "emulate" and call.kind != "tool":
            chosen = "fail"
        if call.may_write:
            return chosen, meant is not None and meant.glob is not None
        return chosen, call.kind != "model" or meant is not None

    @property
    def emulates(self) -> bool:
        """True if a model is to play some tool."""
        return any(action == "emulate" for _, action in self.rules)

    def to_list(self) -> list[str]:
        """The rules as the user writes them."""
        return [action if selector is None else f"{selector.text}={action}" for selector, action in self.rules]


BY_DEFAULT: Final = Missed()
EVERYTHING_FAILS: Final = Missed(((None, "fail"),))


def on_miss_rules(given: str | Iterable[str] | Missed | None) -> Missed:
    """Read ``ACTION`` or ``SELECTOR=ACTION``, or several of them.

    Raises:
        BadInput: an action or a selector that there is not.
    """
    if isinstance(given, Missed):
        return given
    rules: list[tuple[Selector | None, OnMiss]] = []
    for text in [given] if isinstance(given, str) else given or ():
        selector, equals, action = text.rpartition("=")
        found: OnMiss | None = next((known for known in _ACTIONS if known == action.strip()), None)
        if found is None:
            raise BadInput(
                f"on-miss {text!r} is none of {', '.join(_ACTIONS)}; one of them, or SELECTOR=ACTION such as "
                "tool:get_*=live, is needed"
            )
        parsed = Selector.parse(selector.strip()) if equals else None
        if found == "emulate" and parsed is not None and parsed.kind not in {None, "tool"}:
            raise BadInput(f"on-miss {text!r}: only tools can be emulated, and this selector means none")
        rules.append((parsed, found))
    return Missed(tuple(rules))
