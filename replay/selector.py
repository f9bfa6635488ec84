"""Selectors: which calls a rule means."""

from __future__ import annotations

from difflib import get_close_matches
from fnmatch import fnmatchcase

from attrs import frozen

from cassettes.errors import BadInput
from cassettes.model import KINDS, Call

__all__ = ["Selector"]

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
                f"{text!r} is no selector{f', did you mean {close[0]!r}?' if close else '.'} It has the form "
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
