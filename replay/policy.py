"""What happens to a call: a pure function of the call and the policy."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from fnmatch import fnmatchcase
from typing import Literal, get_args

from attrs import field, frozen

from cassettes.errors import BadInput
from cassettes.model import KINDS, Call

__all__ = ["RECORD", "REPLAY", "Action", "OnMiss", "Policy", "Selector", "freeze"]

Action = Literal["live", "frozen", "refuse"]
OnMiss = Literal["fail", "live", "error"]

_ACTORS = ("agent", "user", "judge", "emulator")


@frozen
class Selector:
    """``[actor/]kind[:glob]``, ``external``, or a bare actor; a bare kind means the agent's.

    Attributes:
        actor: None for any.
        kind: None for all kinds.
        glob: of the call's name; None for all.
        external: tools and HTTP that act on the outside world, of any actor.
    """

    text: str
    actor: str | None = None
    kind: str | None = None
    glob: str | None = None
    external: bool = False

    @classmethod
    def parse(cls, text: str) -> Selector:
        """Read a selector.

        Raises:
            BadInput: it has another form.
        """
        rest, colon, glob = text.partition(":")
        actor, slash, kind = rest.rpartition("/")
        if text == "external":
            return cls(text, external=True)
        if rest in _ACTORS and not colon:
            return cls(text, actor=rest)
        if (slash and actor not in _ACTORS) or kind not in KINDS or (colon and not glob):
            close = get_close_matches(text, ["external", *KINDS, *_ACTORS], n=1)
            raise BadInput(
                f"{text!r} is no selector{f'; did you mean {close[0]!r}?' if close else ''} It has the form "
                f"[actor/]kind[:glob] with kind one of {', '.join(KINDS)} and actor one of {', '.join(_ACTORS)}, "
                "or is 'external' or a bare actor"
            )
        return cls(text, actor=actor or "agent", kind=kind, glob=glob or None)

    def matches(self, call: Call) -> bool:
        """True if the selector means this call."""
        if self.external:
            return call.external and call.kind in {"tool", "http"}
        if self.kind is None and call.kind in {"clock", "random"}:
            return False  # these only when named
        return (
            (self.actor is None or self.actor == call.actor)
            and (self.kind is None or self.kind == call.kind)
            and (self.glob is None or fnmatchcase(call.name, self.glob))
        )

    @property
    def specificity(self) -> int:
        """The larger wins: a name, a pattern, a kind, then an actor or ``external``."""
        if self.glob is not None:
            return 2 if any(sign in self.glob for sign in "*?[") else 3
        return 1 if self.kind is not None else 0


@frozen
class Policy:
    """How the calls of a trial are answered.

    Attributes:
        mode: ``record``, ``replay`` or ``freeze``: for display, and for what else a session does.
        rules: selectors with their action; the most specific wins, among equals the last.
        default: the action for what no rule selects.
        ignore: dotted paths of arguments that do not count in a match.
        on_miss: what happens where no recording answers: the trial ends (``fail``), a read is called live, or the
            agent gets an error.
    """

    mode: Literal["record", "replay", "freeze"]
    rules: tuple[tuple[Selector, Action], ...] = ()
    default: Action = "live"
    ignore: tuple[str, ...] = ()
    on_miss: OnMiss = field(default="fail")

    @on_miss.validator
    def _check_on_miss(self, _attribute: object, value: str) -> None:
        if value not in get_args(OnMiss):
            raise BadInput(f"on_miss is one of {', '.join(get_args(OnMiss))}, not {value!r}")

    def decide(self, call: Call) -> Action:
        """What is done with ``call``."""
        chosen, best = self.default, -1
        for selector, action in self.rules:
            if selector.specificity >= best and selector.matches(call):
                chosen, best = action, selector.specificity
        return chosen

    @property
    def frozen(self) -> bool:
        """True if some call may be answered from recordings."""
        return self.default == "frozen" or any(action == "frozen" for _, action in self.rules)


RECORD = Policy("record")
REPLAY = Policy("replay", default="frozen")


def freeze(selectors: Iterable[str], *, on_miss: OnMiss = "fail", ignore: Iterable[str] = ()) -> Policy:
    """A policy that freezes what ``selectors`` mean and leaves the rest live.

    Raises:
        BadInput: a selector has another form, or there is none.
    """
    rules = tuple((Selector.parse(text.strip()), "frozen") for text in selectors)
    ambient = [s.text for s, _ in rules if s.kind in {"clock", "random"}]
    if ambient:
        raise BadInput(f"{ambient[0]!r} cannot be frozen: neither the clock nor random numbers are recorded")
    if not rules:
        raise BadInput("nothing to freeze: name at least one selector, such as external, tool or model")
    return Policy("freeze", tuple((s, "frozen") for s, _ in rules), "live", tuple(ignore), on_miss)
