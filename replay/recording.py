"""A recorded trial made ready for look-ups: keys, contexts, spans.

Keys and contexts are computed when a recording is loaded, so effects and ignore rules may change after it was made.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Any, Literal

from attrs import evolve, frozen

from cassettes.canonical import canonical, digest_bytes
from cassettes.codec import outcome_plain
from cassettes.model import Call, Interaction, Outcome, Stream, TrialId
from cassettes.redact import Redactor
from cassettes.values import pack, unpack

from .effects import AS_DECLARED, Effects
from .ignoring import matching_key
from .readings import Readings
from .resources import clash, touches
from .retries import folded

__all__ = ["Context", "Entry", "PastWrite", "Placed", "Recording", "context_of", "digest_of", "tool_of"]

Context = tuple[tuple[str, str], ...]
"""The writes that decide a call's answer, in start order: the key and the outcome's digest of each."""


@frozen
class Entry:
    """One recorded interaction with what tells it from others."""

    interaction: Interaction
    key: str
    outcome: str


@frozen
class Placed:
    """An entry with what a look-up in a world needs.

    Attributes:
        context: empty for model calls and pure tools, which the key alone decides.
        raced: writes that overlapped may have decided its answer, or it overlapped with one itself.
        withheld: why no world may serve it, if so; a replay still does.
    """

    entry: Entry
    context: Context
    raced: bool
    withheld: Literal["in flight", "shared patch"] | None


@frozen
class PastWrite:
    """A write that has been answered; ``ended`` orders it against the start of later calls."""

    call: Call
    key: str
    outcome: str
    started: int
    ended: int


def tool_of(call: Call) -> tuple[str, str, str, str]:
    """Which tool is called, and on whose behalf: a name may be there on two servers."""
    return call.actor, call.kind, call.name, call.endpoint


def digest_of(outcome: Outcome, redactor: Redactor | None = None) -> str:
    """What tells two outcomes apart; with a redactor, of the outcome less its secrets, as a recording holds it.

    When the pieces of a stream came, and where it was cut into pieces, does not count.
    """
    if redactor is not None:
        outcome = redactor.outcome(outcome, Counter())
        cleaned, _ = redactor.packed(pack(_timeless(outcome)))
        return digest_bytes(canonical(unpack(cleaned)))
    return digest_bytes(canonical(_timeless(outcome)))


def _timeless(outcome: Outcome) -> list[Any]:
    if not isinstance(outcome, Stream):
        return outcome_plain(outcome)
    pieces = [chunk.data for chunk in outcome.chunks]
    whole: Any = pieces
    if pieces and {*map(type, pieces)} in ({str}, {bytes}):
        whole = type(pieces[0])().join(pieces)
    return ["stream", outcome.head, whole, outcome.complete, outcome.error]


def context_of(call: Call, started: int, writes: Sequence[PastWrite]) -> Context:
    """The context of a call that starts now, given the writes so far in start order.

    It holds the writes that the call may notice, and those that one of these may have noticed: a write that copies
    hands on what an earlier one wrote.
    """
    if not writes or call.kind == "model" or call.effect == "pure":
        return ()
    return tuple((write.key, write.outcome) for write in _deciding(call, started, writes))


def _deciding(call: Call, started: int, writes: Iterable[PastWrite]) -> list[PastWrite]:
    earlier = [write for write in writes if write.started < started]
    found = {write.started: write for write in earlier if touches(write.call, call)}
    open_ends = list(found.values()) if len(found) < len(earlier) else []
    while open_ends:
        later = open_ends.pop()
        for write in earlier:
            if write.started < later.ended and write.started not in found and touches(write.call, later.call):
                found[write.started] = write
                open_ends.append(write)
    return [write for write in earlier if write.started in found]


class Recording:
    """A recorded trial.

    Args:
        trial: whose recording it is.
        interactions: all of them, children too.
        ignore: arguments that do not count in a match (see `replay.ignoring`).
        readings: what it read of the clock and of randomness, if that was recorded.
        effects: what is declared of its calls besides what it holds.
    """

    def __init__(
        self,
        trial: TrialId,
        interactions: Iterable[Interaction],
        ignore: Sequence[str] = (),
        readings: Readings | None = None,
        effects: Effects = AS_DECLARED,
    ) -> None:
        self.readings = readings
        self.trial = trial
        in_order = folded(sorted(interactions, key=lambda i: i.started))
        self._all = in_order if effects is AS_DECLARED else [evolve(i, call=effects.applied(i.call)) for i in in_order]
        self.ignore = ignore

    @cached_property
    def spans(self) -> dict[int, str]:
        """Tools inside which model calls or declared tools happened, by step, with their keys: never matched."""
        inside = {i.parent for i in self._all if i.parent is not None and _is_matched_inside(i.call)}
        return {i.step: matching_key(i.call, self.ignore) for i in self._all if i.step in inside}

    @cached_property
    def span_names(self) -> frozenset[tuple[str, ...]]:
        """Which tools the spans are of (see `tool_of`)."""
        return frozenset(tool_of(i.call) for i in self._all if i.step in self.spans)

    @cached_property
    def matched(self) -> list[Interaction]:
        """The interactions that a look-up may find, in start order.

        Not spans, and not the HTTP inside any other tool: that one is answered whole.
        """
        return [
            i
            for i in self._all
            if i.step not in self.spans and (i.parent is None or i.parent in self.spans or _is_matched_inside(i.call))
        ]

    @cached_property
    def entries(self) -> list[Entry]:
        """The matched interactions with their keys, in start order."""
        return [Entry(i, matching_key(i.call, self.ignore), digest_of(i.returned)) for i in self.matched]

    @cached_property
    def overlapping(self) -> dict[int, tuple[Interaction, ...]]:
        """Tools that may write and overlapped with others, by step, with all of these, in the order of their ends.

        Whose change of the tracked state was whose nobody can tell: each has what changed since the one before ended.
        """
        writes = [i for i in self.matched if i.call.kind == "tool" and i.call.may_write]
        groups: list[list[Interaction]] = []
        latest = -1
        for write in writes:  # in start order
            if write.started < latest:
                groups[-1].append(write)
            else:
                groups.append([write])
            latest = max(latest, write.ended)
        shared = [tuple(sorted(group, key=lambda i: i.ended)) for group in groups if len(group) > 1]
        return {write.step: group for group in shared for write in group}

    @cached_property
    def placed(self) -> list[Placed]:
        """The entries with their contexts, in start order."""
        written = [entry for entry in self.entries if entry.interaction.call.may_write]
        writes = [
            PastWrite(e.interaction.call, e.key, e.outcome, e.interaction.started, e.interaction.ended) for e in written
        ]
        patched = {e.interaction.started for e in written if e.interaction.patch is not None}
        return [_placed(entry, writes, patched) for entry in self.entries]


def _is_matched_inside(call: Call) -> bool:
    """True for a call that makes the tool in which it happens a span; how a model played the tool is a part of it."""
    return call.kind in {"model", "tool"} and call.actor != "emulator"


def _placed(entry: Entry, writes: Sequence[PastWrite], patched: set[int]) -> Placed:
    call, started, ended = entry.interaction.call, entry.interaction.started, entry.interaction.ended
    if call.kind == "model":
        return Placed(entry, (), raced=False, withheld=None)
    meanwhile = [w for w in writes if w.started < ended and w.ended > started and w.started != started]
    in_flight = any(touches(write.call, call) for write in meanwhile)
    deciding = [] if call.effect == "pure" else _deciding(call, started, writes)
    withheld: Literal["in flight", "shared patch"] | None = None
    if call.may_write:
        if any(start in patched for start in (started, *(w.started for w in meanwhile))) and meanwhile:
            withheld = "shared patch"
    elif in_flight:
        withheld = "in flight"
    context = tuple((write.key, write.outcome) for write in deciding)
    return Placed(entry, context, in_flight or _overlap(deciding), withheld)


def _overlap(writes: Sequence[PastWrite]) -> bool:
    """True if some of the writes, given in start order, overlapped so that their order may matter."""
    for place, one in enumerate(writes):
        for later in range(place + 1, len(writes)):
            other = writes[later]
            if other.started >= one.ended:
                break  # so do all that start after it
            if clash(one.call, other.call):
                return True
    return False
