"""The beginning of a recorded trial: what a fork is answered from, until it goes on by itself.

The steps before the fork are served by their place in the causal order, as a replay serves all of them. Each thread or
task of the trial (a strand) goes on by itself once it has been answered all that it asked before the fork; where
several run at the same time, one may get there before the others.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Sequence
from functools import cached_property

from attrs import evolve

from cassettes.errors import Divergence
from cassettes.model import Call, Interaction, Patch
from replay.playback import Playback
from replay.policy import Selector
from replay.readings import Readings
from replay.recording import Entry, Recording, tool_of
from replay.strands import strand_of

__all__ = ["Prefix", "readings_before"]


class Prefix:
    """The answers before step ``at`` of one recorded trial, each served once.

    Args:
        recording: the whole trial, with the edited outcome in its place, if there is one.
        at: the first step that is not served.
        edited: the step whose outcome is another than was recorded.
        allow_live: what may be called live although a write that it may notice was answered from the recording.

    Attributes:
        at: the first step that is not served.
        edited: the step whose outcome is another than was recorded.
    """

    def __init__(
        self, recording: Recording, at: int, edited: int | None = None, allow_live: Sequence[Selector] = ()
    ) -> None:
        self.recording = recording
        self.at = at
        self._playback = Playback(recording, before=at)
        self.edited = edited
        self._allowed = tuple(allow_live)
        early = [entry.interaction for entry in recording.entries if entry.interaction.step < at]
        self._left = Counter(strand_of(interaction.call) for interaction in early)
        later = {entry.key for entry in recording.entries if entry.interaction.step >= at}
        self._later = later | {key for step, key in recording.spans.items() if step >= at}
        self._answered_from: dict[int, set[int]] = defaultdict(set)
        self._gone_on: set[int] = set()
        self._has_ended = False

    @property
    def name(self) -> str:
        """The trial that is forked."""
        return str(self.recording.trial)

    @property
    def pending(self) -> bool:
        """True while some step before the fork has not been asked for."""
        return self._left.total() > 0

    @property
    def readings(self) -> Readings | None:
        """What the recorded trial read of the clock and of randomness before the fork."""
        return self.recording.readings

    def take_span(self, call: Call, key: str) -> bool:
        """True if a recorded span before the fork has this key and has not been entered yet."""
        return strand_of(call) not in self._gone_on and self._playback.take_span(key)

    def take(self, call: Call, key: str) -> Entry | None:
        """The recorded interaction that answers ``call``; None if it comes after the fork.

        Raises:
            Divergence: it is neither one before the fork nor one that may come after it already.
        """
        strand = strand_of(call)
        if not self.pending or strand in self._gone_on:
            return None
        try:
            entry = self._playback.take(call, key)
        except Divergence:
            if not self._may_go_on(strand, key):
                raise
            self._gone_on.add(strand)
            return None
        recorded = strand_of(entry.interaction.call)
        self._left[recorded] -= 1
        self._answered_from[strand].add(recorded)
        if entry.interaction.step == self.edited and not self._left[recorded]:
            self._gone_on.add(strand)  # told something new, it may ask what nobody recorded
        return entry

    def patches(self, entry: Entry) -> tuple[Patch, ...]:
        """The changes of the tracked state that come with ``entry`` (see `Playback.patches`)."""
        return self._playback.patches(entry)

    def ends_here(self) -> bool:
        """True once: at the first call after all that came before the fork."""
        first, self._has_ended = not self._has_ended, True
        return first

    def left_over(self) -> Divergence | None:
        """What the trial did not ask for before it ended, as a divergence."""
        return self._playback.left_over()

    def lets_through(self, call: Call) -> bool:
        """True if ``call`` may reach the real thing, whatever that lacks: it is allowed, or a span."""
        is_span = tool_of(call) in self.recording.span_names
        return is_span or any(selector.matches(call) for selector in self._allowed)

    @cached_property
    def raced(self) -> frozenset[int]:
        """The steps whose place among the writes is not known."""
        return frozenset(placed.entry.interaction.step for placed in self.recording.placed if placed.raced)

    def _may_go_on(self, strand: int, key: str) -> bool:
        """True if the strand has been answered all that it asked before the fork, and goes on as it did then."""
        return key in self._later and not any(self._left[recorded] for recorded in self._answered_from[strand])


def readings_before(
    readings: Readings | None, interactions: Iterable[Interaction], at: int, whole: Collection[str] = ()
) -> Readings | None:
    """What was read before step ``at`` of the trial with these interactions; all of the kinds in ``whole``."""
    if readings is None:
        return None
    # A strand's segment n is what it read before its n-th call, see `replay.ambient`.
    asked = Counter(strand_of(i.call) for i in interactions if i.parent is None and i.step < at)
    if "clock" not in whole:
        early = {place: read for place, read in readings.clock.items() if place[1] <= asked[place[0]]}
        readings = evolve(readings, clock=early)
    if "random" not in whole:
        drawn = {place: read for place, read in readings.entropy.items() if place[1] <= asked[place[0]]}
        states = {step: state for step, state in readings.states.items() if step < at}
        readings = evolve(readings, entropy=drawn, states=states)
    return readings
