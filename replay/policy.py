"""What happens to a call: a pure function of the call and the policy."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Literal

from attrs import frozen

from cassettes.errors import BadInput
from cassettes.model import Call

from .effects import AS_DECLARED, Effects
from .on_miss import BY_DEFAULT, Missed, on_miss_rules
from .selector import Selector

__all__ = ["RECORD", "REPLAY", "Action", "Policy", "Selector", "freeze", "freeze_or_record", "record"]

Action = Literal["live", "frozen", "emulate", "refuse"]


@frozen
class Policy:
    """How the calls of a trial are answered.

    Attributes:
        mode: ``record``, ``replay`` or ``freeze``: for display, and for what else a session does.
        rules: selectors with their action; the most specific wins, among equals the last.
        default: the action for what no rule selects.
        ignore: dotted paths of arguments that do not count in a match.
        on_miss: what happens where no recording answers (see `replay.on_miss`).
        effects: what is declared of tools besides what they say themselves.
        catch_up: the frozen writes that may be carried out before a call that would notice their absence goes live.
        ignore_fields: paths below their outcomes that do not count when these are compared.
    """

    mode: Literal["record", "replay", "freeze"]
    rules: tuple[tuple[Selector, Action], ...] = ()
    default: Action = "live"
    ignore: tuple[str, ...] = ()
    on_miss: Missed = BY_DEFAULT
    effects: Effects = AS_DECLARED
    catch_up: tuple[Selector, ...] = ()
    ignore_fields: tuple[str, ...] = ()

    def decide(self, call: Call) -> Action:
        """What is done with ``call``."""
        return self._closest(call)[0]

    def lets_through(self, call: Call) -> bool:
        """True if ``call`` is live because a rule names it, whatever the real thing lacks."""
        action, selector = self._closest(call)
        return action == "live" and selector is not None and selector.glob is not None

    def _closest(self, call: Call) -> tuple[Action, Selector | None]:
        """What is done with ``call``, and the selector that says so."""
        chosen: tuple[Action, Selector | None] = (self.default, None)
        best = -1
        for selector, action in self.rules:
            if selector.specificity >= best and selector.matches(call):
                chosen, best = (action, selector), selector.specificity
        return chosen

    @property
    def ambient(self) -> tuple[str, ...]:
        """Which of ``clock`` and ``random`` are frozen; these only when named, or where everything is."""
        named = {selector.kind for selector, action in self.rules if action == "frozen"}
        return tuple(kind for kind in ("clock", "random") if self.default == "frozen" or kind in named)

    @property
    def frozen(self) -> bool:
        """True if some call may be answered from recordings."""
        return self.default == "frozen" or any(action == "frozen" for _, action in self.rules)


RECORD = Policy("record")
REPLAY = Policy("replay", default="frozen")


def freeze(
    selectors: Iterable[str],
    *,
    live: Iterable[str] = (),
    emulate: Iterable[str] = (),
    refuse: Iterable[str] = (),
    on_miss: str | Iterable[str] | Missed | None = None,
    ignore: Iterable[str] = (),
    effects: Effects = AS_DECLARED,
) -> Policy:
    """A policy that freezes what ``selectors`` mean, and leaves the rest live, emulates it, or refuses it.

    Raises:
        BadInput: a selector has another form, or there is none to freeze.
    """
    frozen_ones = _rules(selectors, "frozen")
    if not frozen_ones:
        raise BadInput("nothing to freeze: name at least one selector, such as external, tool or model")
    return Policy(
        "freeze",
        frozen_ones + _rules(live, "live") + _rules(emulate, "emulate") + _rules(refuse, "refuse"),
        ignore=tuple(ignore),
        on_miss=on_miss_rules(on_miss),
        effects=effects,
    )


def record(
    *,
    live: Iterable[str] = (),
    emulate: Iterable[str] = (),
    refuse: Iterable[str] = (),
    effects: Effects = AS_DECLARED,
) -> Policy:
    """A policy that freezes nothing; the closest selector says whether a call is live, emulated or refused.

    Raises:
        BadInput: a selector has another form.
    """
    rules = _rules(live, "live") + _rules(emulate, "emulate") + _rules(refuse, "refuse")
    return Policy("record", rules, effects=effects)


def freeze_or_record(
    selectors: Collection[str],
    *,
    live: Iterable[str],
    emulate: Iterable[str],
    refuse: Iterable[str],
    on_miss: Missed,
    ignore: Iterable[str],
    effects: Effects,
) -> Policy:
    """`freeze` where ``selectors`` name something, and `record`, which neither misses nor matches, where they do not.

    Raises:
        BadInput: a selector has another form.
    """
    if not selectors:
        return record(live=live, emulate=emulate, refuse=refuse, effects=effects)
    return freeze(selectors, live=live, emulate=emulate, refuse=refuse, on_miss=on_miss, ignore=ignore, effects=effects)


def _rules(selectors: Iterable[str], action: Action) -> tuple[tuple[Selector, Action], ...]:
    return tuple((Selector.parse(text.strip()), action) for text in selectors)
