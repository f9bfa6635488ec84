"""Replay with everything frozen: the recorded answers in their causal order.

A recorded interaction is eligible once everything that its own strand had completed before it started has been
consumed: what other threads and tasks did meanwhile may come earlier or later. A call takes the first eligible one
with its key; else it diverges.
"""

from __future__ import annotations

import shlex
import sys
from collections import Counter, defaultdict, deque
from heapq import heapify, heappop
from typing import Any

from cassettes.errors import Divergence
from cassettes.model import Call, Patch

from .difference import Difference, first_difference, shortened
from .ignoring import counting_arguments, rule_for
from .readings import Readings
from .recording import Entry, Recording
from .strands import strand_of
from .unrecorded import Source, advice, source_of
from .volatile import looks_volatile

__all__ = ["Playback"]


class Playback:
    """The answers of one recorded trial, each served once.

    Args:
        recording: the trial.
        before: only the steps before this one; None for all.

    Attributes:
        shares_patches: none of its writes is asked for again, so that those that overlapped can share their changes.
    """

    shares_patches = True

    def __init__(self, recording: Recording, before: int | None = None) -> None:
        self.recording = recording
        self._end = end = sys.maxsize if before is None else before
        self._patched: set[int] = set()  # of each group of overlapping writes whose changes were made, its first step
        self._entries = [entry for entry in recording.entries if entry.interaction.step < end]
        self._taken = [False] * len(self._entries)
        self._waiting: dict[str, deque[int]] = defaultdict(deque)
        for place, entry in enumerate(self._entries):
            self._waiting[entry.key].append(place)
        self._ends: dict[int, list[tuple[int, int]]] = defaultdict(list)
        for place, entry in enumerate(self._entries):
            self._ends[strand_of(entry.interaction.call)].append((entry.interaction.ended, place))
        for ends in self._ends.values():
            heapify(ends)
        self._spans = Counter(key for step, key in recording.spans.items() if step < end)

    @property
    def name(self) -> str:
        """The trial that is replayed."""
        return str(self.recording.trial)

    @property
    def readings(self) -> Readings | None:
        """What the recorded trial read of the clock and of randomness."""
        return self.recording.readings

    def take_span(self, key: str) -> bool:
        """True if a recorded span has this key and has not been entered yet."""
        if not self._spans[key]:
            return False
        self._spans[key] -= 1
        return True

    def take(self, call: Call, key: str) -> Entry:
        """The recorded interaction that answers ``call``.

        Raises:
            Divergence: no eligible one has its key.
        """
        waiting = self._waiting.get(key, deque())
        place = next((place for place in waiting if self._is_eligible(place)), None)
        if place is not None:
            waiting.remove(place)  # as a rule the first
            self._taken[place] = True
            return self._entries[place]
        untaken = [place for place, taken in enumerate(self._taken) if not taken]
        raise self._divergence(call, key, [self._entries[place] for place in untaken if self._is_eligible(place)])

    def patches(self, entry: Entry) -> tuple[Patch, ...]:
        """The changes of the tracked state that come with ``entry``, in their order.

        Writes that overlapped share theirs: all of them come with the first that is asked for, whichever that is.
        """
        interaction = entry.interaction
        group = self.recording.overlapping.get(interaction.step, (interaction,))
        if not self.shares_patches or any(write.step >= self._end for write in group):
            group = (interaction,)
        if group[0].step in self._patched:
            return ()
        if len(group) > 1:
            self._patched.add(group[0].step)
        return tuple(write.patch for write in group if write.patch is not None)

    def asks_again(self, call: Call, entry: Entry, *, tracked: bool) -> bool:  # noqa: ARG002  # of no call, here
        """True if the real thing is asked what ``entry`` answers; ``tracked``: the trial tracks a state."""
        return False

    def left_over(self) -> Divergence | None:
        """What the replay did not ask for, as a divergence."""
        left = [entry for entry, taken in zip(self._entries, self._taken, strict=True) if not taken]
        if not left:
            return None
        first = left[0].interaction
        message = (
            f"{self.recording.trial}: the replay ended early: {len(left)} recorded "
            f"call{'s were' if len(left) > 1 else ' was'} not asked for, the first at step {first.step} "
            f"({first.call.kind} {first.call.name})"
        )
        steps = [entry.interaction.step for entry in left]
        return Divergence(message, {"kind": "left over", "trial": str(self.recording.trial), "steps": steps})

    def _is_eligible(self, place: int) -> bool:
        """True if it started before the first end among what its strand has not been asked for yet."""
        interaction = self._entries[place].interaction
        ends = self._ends[strand_of(interaction.call)]
        while ends and self._taken[ends[0][1]]:
            heappop(ends)
        return bool(ends) and interaction.started <= ends[0][0]

    def _divergence(self, call: Call, key: str, eligible: list[Entry]) -> Divergence:
        trial = self.recording.trial
        source: Source | None = None
        report: dict[str, Any] = {
            "kind": "other call",
            "trial": str(trial),
            "call": f"{call.actor}/{call.kind}:{call.name}",
            "key": key,
        }
        if not eligible:
            message = (
                f"{trial}: the recording has ended, but {_named(call)} was called with {shortened(call.arguments)}"
            )
            return Divergence(message, {**report, "kind": "more calls"})
        likely = min(eligible, key=lambda entry: _distance(entry.interaction.call, call))
        expected = likely.interaction
        lines = [f"{trial} diverges at step {expected.step}:"]
        if (expected.call.actor, expected.call.kind, expected.call.name) != (call.actor, call.kind, call.name):
            lines += [f"  recorded: {_named(expected.call)}", f"  now:      {_named(call)} {shortened(call.arguments)}"]
            report |= {"step": expected.step, "path": "name", "recorded": expected.call.name, "now": call.name}
        else:
            ignore = self.recording.ignore
            before, now = counting_arguments(expected.call, ignore), counting_arguments(call, ignore)
            found, source = first_difference(before, now), source_of(before, now)
            path = found.path if found else "endpoint"
            left, right = (found.left, found.right) if found else (expected.call.endpoint, call.endpoint)
            lines += [
                f"  {_named(call)}: the first difference is at {path}",
                f"  recorded: {shortened(left, right)}",
                f"  now:      {shortened(right, left)}",
            ]
            report |= {"step": expected.step, "path": path, "recorded": repr(left), "now": repr(right)}
            suggested = None if found is None else _suggested(call, found)
            if suggested is not None:
                what, rule = suggested
                report |= {"looks_like": what, "ignore": rule}
                lines.append(f"  Both look like {what}. If it may differ each time: --ignore {shlex.quote(rule)}")
        later = [e for e in self._entries if e.key == key]
        if later:
            places = ", ".join(str(e.interaction.step) for e in later[:3])
            lines.append(f"  the same call is recorded at step {places}: it came earlier or later here, or once more")
        lines.append("  If the agent's code or prompt was changed on purpose, record again; else something in it is")
        lines.append("  not deterministic: time, random numbers, the order of a set, or an id made anew in each run.")
        if source is not None:
            readings = self.recording.readings
            recorded = readings is not None and source in readings.kinds
            report |= {"source": source, "source_recorded": recorded}
            lines[-2:] = [f"  If nothing was changed on purpose: {advice(source, recorded=recorded)}."]
        return Divergence("\n".join(lines), report)


def _named(call: Call) -> str:
    actor = "" if call.actor == "agent" else f"{call.actor}'s "
    return f"{actor}{call.kind} {call.name}"


def _suggested(call: Call, found: Difference) -> tuple[str, str] | None:
    """What both values look like, and the rule that would ignore them; None if they do not look volatile."""
    what = looks_volatile(found.left)
    rule = rule_for(call, found.path)
    return None if what is None or what != looks_volatile(found.right) or rule is None else (what, rule)


def _distance(recorded: Call, call: Call) -> tuple[bool, bool, bool]:
    return recorded.kind != call.kind, recorded.actor != call.actor, recorded.name != call.name
