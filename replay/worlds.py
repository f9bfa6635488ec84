"""A world: one fixed realisation of the outside, taken from recordings of the task.

World r is recordings r, r+1, ... (mod R). A call is answered from the first that holds its key and context. A later
recording lends an answer only while it agrees with every answer already served in this trial that it also holds, and
from then on no answer is served that a lender contradicts, so a world never mixes two states of a drifting tool.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Literal

from attrs import evolve, frozen

from cassettes.model import Call, Interaction, Verdict

from .counterparts import likely_counterpart
from .readings import Readings
from .recording import Context, Entry, Placed, Recording, tool_of

__all__ = ["Found", "Missing", "World"]


@frozen
class Found:
    """A recorded answer that may be served.

    Attributes:
        recording: that it comes from; None if it was called live in this very trial.
    """

    entry: Entry
    recording: Recording | None
    verdict: Verdict


@frozen
class Missing:
    """No recorded answer may be served.

    Attributes:
        verdict: ``stale`` if the call is known after another history of writes, else ``missed``.
        nearest: a recorded call with the same name, for the report.
        counterpart: without one, a recorded call that is the same but for its name.
        why: for people.
    """

    verdict: Verdict
    why: str
    nearest: Entry | None = None
    counterpart: Entry | None = None


Place = tuple[str, Context]


class World:
    """Answers the frozen calls of one trial; made anew for each trial.

    Args:
        recordings: in the order of the world's rotation; the first is its own.
        extensions: earlier trials of a frozen run in this very world: what they called live answers here, too.
    """

    def __init__(self, recordings: Sequence[Recording], extensions: Sequence[Recording] = ()) -> None:
        self._recorded = [
            _Source(recording, "own" if place == 0 else "borrowed") for place, recording in enumerate(recordings)
        ]
        self._sources = [*self._recorded, *(_Source(recording, "extended") for recording in extensions)]
        self._called_live: dict[Place, Entry] = {}
        self._served: dict[tuple[Place, int], str] = {}
        self._asked: dict[Place, int] = defaultdict(int)
        self._lenders: set[_Source] = set()

    @property
    def name(self) -> str:
        """The trial whose recording comes first."""
        return str(self._sources[0].recording.trial) if self._sources else "no recording"

    @property
    def readings(self) -> Readings | None:
        """What the trial whose recording comes first read of the clock and of randomness."""
        return self._sources[0].recording.readings if self._sources else None

    @property
    def ignore(self) -> Sequence[str]:
        """What does not count in a match (see `replay.ignoring`)."""
        return self._sources[0].recording.ignore if self._sources else ()

    def is_span(self, key: str) -> bool:
        """True if some recording holds this call as a span: it runs, and what is inside it is looked up."""
        return any(key in source.spans for source in self._sources)

    def runs_as_span(self, call: Call) -> bool:
        """True if some recording holds a call of this tool as a span: asked something else, it still is one."""
        return any(tool_of(call) in source.span_names for source in self._sources)

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
            placed, repeated = found
            if (not own and self._disagrees(source)) or (
                self._lenders and self._contradicted(place, turn, placed.entry.outcome)
            ):
                conflict = True
                continue
            self._asked[place] += 1
            self._served[place, turn] = placed.entry.outcome
            if not own:
                self._lenders.add(source)
            verdict: Verdict = "repeated" if repeated else source.verdict
            if placed.raced:
                verdict = "raced"
            return Found(placed.entry, source.recording, _marked(placed.entry, verdict) if source.made_up else verdict)
        if place in self._called_live:
            again = self._called_live[place]
            return Found(again, None, _marked(again, "repeated"))
        return self._missing(call, place, conflict=conflict)

    def examples(self, call: Call) -> list[Interaction]:
        """Recorded calls of the same tool, the world's own first, each once: less those that a model answered."""
        same = (
            entry
            for source in self._recorded
            for entry in source.recording.entries
            if tool_of(entry.interaction.call)[1:] == tool_of(call)[1:]  # on whose behalf does not matter
            and entry.interaction.origin.verdict != "emulated"
        )
        different = {(entry.key, entry.outcome): entry.interaction for entry in same}.values()
        return [evolve(each, outcome=each.returned, injected=None) for each in different]

    def extend(self, key: str, context: Context, entry: Entry) -> None:
        """A call that nothing answered was made live: asked again in this trial, it is answered the same."""
        place = (key, context)
        self._called_live[place] = entry
        self._served[place, self._asked[place]] = entry.outcome
        self._asked[place] += 1

    def _disagrees(self, source: _Source) -> bool:
        """True if ``source`` holds another answer than one that was served in this trial."""
        return any(source.holds_other(place, turn, outcome) for (place, turn), outcome in self._served.items())

    def _contradicted(self, place: Place, turn: int, outcome: str) -> bool:
        """True if a recording that has lent an answer in this trial holds another one than this."""
        return any(source.holds_other(place, turn, outcome) for source in self._lenders)

    def _missing(self, call: Call, place: Place, *, conflict: bool) -> Missing:
        key, context = place
        same_key = [p for s in self._recorded for p in s.by_key.get(key, ())]
        if conflict:
            why = "another recording holds an answer, but it disagrees with answers already served in this trial"
            return Missing("missed", why, same_key[0].entry)
        served = [p for p in same_key if p.withheld is None]
        if any(p.context == context for p in served):
            why = "the same call was answered here as often as it is recorded"
            return Missing("missed", why, served[0].entry)
        if served:
            why = f"the same call is recorded after {_history(served[0])}, here it comes after other writes"
            return Missing("stale", why, served[0].entry)
        if same_key and same_key[0].withheld == "shared patch":
            why = "the recorded call overlapped with another write, and they share the change of the tracked state"
            return Missing("stale", why, same_key[0].entry)
        if same_key:
            why = "the recorded call overlapped with a write that it may notice"
            return Missing("missed", why, same_key[0].entry)
        same_name = [
            e
            for s in self._recorded
            for e in s.recording.entries
            if e.interaction.call.name == call.name and e.interaction.call.kind == call.kind
        ]
        if same_name:
            of_same = [entry for entry in same_name if entry.interaction.call.endpoint == call.endpoint]
            if not of_same:
                other = same_name[0].interaction.call.endpoint or "no server"
                why = f"it is asked of {call.endpoint or 'no server'}, and is recorded as asked of {other}"
                return Missing("missed", why, same_name[0])
            return Missing("missed", "no recording holds this call with these arguments", of_same[0])
        entries = [entry for source in self._recorded for entry in source.recording.entries]
        why = f"no recording of this task holds a call of {call.name}"
        return Missing("missed", why, counterpart=likely_counterpart(call, entries, self.ignore))


class _Source:
    """A recording that answers, and as what: of an extension only the calls that it made live itself."""

    def __init__(self, recording: Recording, verdict: Literal["own", "borrowed", "extended"]) -> None:
        self.recording = recording
        self.verdict: Literal["own", "borrowed", "extended"] = verdict
        self.by_place: dict[Place, list[Placed]] = defaultdict(list)
        self.by_key: dict[str, list[Placed]] = defaultdict(list)
        self.spans = frozenset(recording.spans.values())
        self.span_names = recording.span_names
        self.made_up = any(placed.entry.interaction.origin.verdict == "emulated" for placed in recording.placed)
        for placed in recording.placed:
            self.by_key[placed.entry.key].append(placed)
            if placed.withheld is None:
                self.by_place[placed.entry.key, placed.context].append(placed)

    def holds_other(self, place: Place, turn: int, outcome: str) -> bool:
        """True if this recording gives another answer at the ``turn``-th asking."""
        held = self.by_place.get(place, [])
        return turn < len(held) and held[turn].entry.outcome != outcome

    def find(self, place: Place, turn: int, call: Call) -> tuple[Placed, bool] | None:
        """The answer to the ``turn``-th asking; a read asked more often than recorded gets the last one again."""
        held = self.by_place.get(place)
        if self.verdict == "extended" and held:
            held = [placed for placed in held if placed.entry.interaction.origin.verdict == "extended"]
        if not held:
            return None
        if turn < len(held):
            return held[turn], False
        if call.kind != "model" and call.effect in {"read", "pure"}:
            return held[-1], True
        return None


def _marked(entry: Entry, verdict: Verdict) -> Verdict:
    """What a model made up stays marked as that, however often it is served."""
    return "emulated" if entry.interaction.origin.verdict == "emulated" else verdict


def _history(placed: Placed) -> str:
    count = len(placed.context)
    return "no write" if not count else f"{count} write{'s' if count > 1 else ''}"
