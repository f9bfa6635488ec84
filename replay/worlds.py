"""A world: one fixed realisation of the outside, taken from recordings of the task.

World r is recordings r, r+1, ... (mod R). A call is answered from the first that holds its key and context. A later
recording lends an answer only while it agrees with every answer already served in this trial that it also holds, so
a world never mixes two states of a drifting tool.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from attrs import frozen

from cassettes.model import Call, Verdict

from .recording import Context, Entry, Recording

__all__ = ["Found", "Missing", "World"]


@frozen
class Found:
    """A recorded answer that may be served."""

    entry: Entry
    recording: Recording
    verdict: Verdict


@frozen
class Missing:
    """No recorded answer may be served.

    Attributes:
        verdict: ``stale`` if the call is known after another history of writes, else ``missed``.
        nearest: a recorded call with the same name, for the report.
        why: for people.
    """

    verdict: Verdict
    why: str
    nearest: Entry | None = None


Place = tuple[str, Context]


class World:
    """Answers the frozen calls of one trial; made anew for each trial.

    Args:
        recordings: in the order of the world's rotation; the first is its own.
    """

    def __init__(self, recordings: Sequence[Recording]) -> None:
        self._sources = [_Source(recording) for recording in recordings]
        self._served: dict[tuple[Place, int], str] = {}
        self._asked: dict[Place, int] = defaultdict(int)

    @property
    def name(self) -> str:
        """The trial whose recording comes first."""
        return str(self._sources[0].recording.trial) if self._sources else "no recording"

    def is_span(self, key: str) -> bool:
        """True if some recording holds this call as a span: it runs, and what is inside it is looked up."""
        return any(key in source.spans for source in self._sources)

    def answer(self, call: Call, key: str, context: Context) -> Found | Missing:
        """The recorded answer to a call after these writes."""
        place = (key, context)
        turn = self._asked[place]
        conflict = False
        for source in self._sources:
            own = source is self._sources[0]
            found = source.find(place, turn, call)
            if found is None:
                continue
            entry, repeated = found
            if not own and self._disagrees(source):
                conflict = True
                continue
            self._asked[place] += 1
            self._served[place, turn] = entry.outcome
            verdict: Verdict = "repeated" if repeated else "own" if own else "borrowed"
            return Found(entry, source.recording, verdict)
        return self._missing(call, key, conflict=conflict)

    def _disagrees(self, source: _Source) -> bool:
        """True if ``source`` holds another answer than one that was served in this trial."""
        return any(
            entry is not None and entry.outcome != outcome
            for (place, turn), outcome in self._served.items()
            for entry in [source.held(place, turn)]
        )

    def _missing(self, call: Call, key: str, *, conflict: bool) -> Missing:
        same_key = [e for s in self._sources for e in s.by_key.get(key, ())]
        if conflict:
            why = "another recording holds an answer, but it disagrees with answers already served in this trial"
            return Missing("missed", why, same_key[0])
        if same_key and any(not entry.raced for entry in same_key):
            why = f"the same call is recorded after {_history(same_key[0])}, here it comes after other writes"
            return Missing("stale", why, same_key[0])
        if same_key:
            return Missing("missed", "the recorded call overlapped with a write that it may notice", same_key[0])
        same_name = [
            e
            for s in self._sources
            for e in s.recording.entries
            if e.interaction.call.name == call.name and e.interaction.call.kind == call.kind
        ]
        if same_name:
            return Missing("missed", "no recording holds this call with these arguments", same_name[0])
        return Missing("missed", f"no recording of this task holds a call of {call.name}")


class _Source:
    def __init__(self, recording: Recording) -> None:
        self.recording = recording
        self.by_place: dict[Place, list[Entry]] = defaultdict(list)
        self.by_key: dict[str, list[Entry]] = defaultdict(list)
        self.spans = frozenset(recording.spans.values())
        for entry in recording.entries:
            self.by_key[entry.key].append(entry)
            if not entry.raced:
                self.by_place[entry.key, entry.context].append(entry)

    def held(self, place: Place, turn: int) -> Entry | None:
        """The answer that this recording gives at the ``turn``-th asking, as recorded."""
        entries = self.by_place.get(place, [])
        return entries[turn] if turn < len(entries) else None

    def find(self, place: Place, turn: int, call: Call) -> tuple[Entry, bool] | None:
        """The answer to the ``turn``-th asking; a read asked more often than recorded gets the last one again."""
        entries = self.by_place.get(place)
        if not entries:
            return None
        if turn < len(entries):
            return entries[turn], False
        if call.kind != "model" and call.effect in {"read", "pure"}:
            return entries[-1], True
        return None


def _history(entry: Entry) -> str:
    count = len(entry.context)
    return "no write" if not count else f"{count} write{'s' if count > 1 else ''}"
