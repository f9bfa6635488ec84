"""A recorded trial made ready for look-ups: keys, contexts, spans.

Keys and contexts are computed when a recording is loaded, so effects and ignore rules may change after it was made.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property

from attrs import frozen

from cassettes.canonical import canonical, digest_bytes, key_of
from cassettes.codec import outcome_plain
from cassettes.model import Call, Interaction, Outcome, TrialId
from cassettes.redact import Redactor

from .resources import touches

__all__ = ["Context", "Entry", "Recording", "context_of", "digest_of"]

Context = tuple[tuple[str, str], ...]
"""The writes before a call that it may notice, in start order: the key and the outcome's digest of each."""


@frozen
class Entry:
    """One recorded interaction with what a look-up needs.

    Attributes:
        context: empty for model calls and pure tools, which the key alone decides.
        raced: a write that touches this call overlapped with it, or writes in its context overlapped each other.
    """

    interaction: Interaction
    key: str
    outcome: str
    context: Context
    raced: bool


@frozen
class PastWrite:
    """A write that has been answered; ``ended`` orders it against the start of later calls."""

    call: Call
    key: str
    outcome: str
    started: int
    ended: int


def digest_of(outcome: Outcome, redactor: Redactor | None = None) -> str:
    """What tells two outcomes apart; with a redactor, of the outcome less its secrets, as a recording holds it."""
    packed = canonical(outcome_plain(outcome))
    return digest_bytes(packed if redactor is None else redactor.packed(packed)[0])


def context_of(call: Call, started: int, writes: Iterable[PastWrite]) -> Context:
    """The context of a call that starts now, given the writes so far in start order."""
    if call.kind == "model" or call.effect == "pure":
        return ()
    return tuple((w.key, w.outcome) for w in writes if w.ended < started and touches(w.call, call))


class Recording:
    """A recorded trial.

    Args:
        trial: whose recording it is.
        interactions: all of them, children too.
        ignore: dotted paths of arguments that do not count in a match.
    """

    def __init__(self, trial: TrialId, interactions: Iterable[Interaction], ignore: Sequence[str] = ()) -> None:
        self.trial = trial
        self._all = sorted(interactions, key=lambda i: i.started)
        self._ignore = ignore

    @cached_property
    def spans(self) -> dict[int, str]:
        """Tools inside which model calls or declared tools happened, by step, with their keys: never matched."""
        inside = {i.parent for i in self._all if i.parent is not None and i.call.kind in {"model", "tool"}}
        return {i.step: key_of(i.call, self._ignore) for i in self._all if i.step in inside}

    @cached_property
    def matched(self) -> list[Interaction]:
        """The interactions that a look-up may find, in start order: no spans, no HTTP inside a tool."""
        return [
            i for i in self._all if i.step not in self.spans and (i.parent is None or i.call.kind in {"model", "tool"})
        ]

    @cached_property
    def entries(self) -> list[Entry]:
        """The matched interactions with their keys and contexts, in start order."""
        keys = {i.step: key_of(i.call, self._ignore) for i in self.matched}
        outcomes = {i.step: digest_of(i.outcome) for i in self.matched}
        writes = [
            PastWrite(i.call, keys[i.step], outcomes[i.step], i.started, i.ended)
            for i in self.matched
            if i.call.may_write
        ]
        return [
            Entry(
                interaction,
                keys[interaction.step],
                outcomes[interaction.step],
                context_of(interaction.call, interaction.started, writes),
                _is_raced(interaction, writes),
            )
            for interaction in self.matched
        ]


def _is_raced(interaction: Interaction, writes: Sequence[PastWrite]) -> bool:
    if interaction.call.kind == "model":
        return False
    noticed = [w for w in writes if w.started != interaction.started and touches(w.call, interaction.call)]
    in_flight = (w.started < interaction.ended and w.ended > interaction.started for w in noticed)
    return any(in_flight) or any(_overlapping(w for w in noticed if w.ended < interaction.started))


def _overlapping(writes: Iterator[PastWrite]) -> Iterator[bool]:
    last = -1
    for write in writes:
        yield write.started < last
        last = max(last, write.ended)
