"""A recorded trial carried out again, in which some answers are asked for anew: to see whether they are still the same.

Model calls are answered by their place: a model that was told something else still gives its recorded answer, so that
the calls after it are asked as they were. Where the agent itself asks something else, nobody knows what comes next.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from typing import Final

from attrs import frozen

from cassettes.errors import Divergence
from cassettes.model import Call
from replay.difference import first_difference
from replay.ignoring import counting_arguments
from replay.playback import Playback
from replay.recording import Entry, Recording
from replay.resources import touches
from replay.selector import Selector
from replay.strands import strand_of

__all__ = ["AFTER_WRITE", "MAY_WRITE", "Parting", "Rerun"]

MAY_WRITE: Final = "may write"
AFTER_WRITE: Final = "after a write that was not repeated"


@frozen
class Parting:
    """The first place where the trial is no more what was recorded.

    Attributes:
        step: of the recording.
        path: where the request of a model differs; None if it is another call, or none.
        why: in words; of a model that was told something else empty.
        goes_on: the recorded answers were given all the same.
    """

    step: int | None
    path: str | None = None
    why: str = ""
    goes_on: bool = False


class Rerun(Playback):
    """The recorded answers by their places, and which of them are asked for again.

    A read or a pure tool is asked again; what may write only if ``allow_live`` names it, or if it acts on a state that
    the trial tracks by itself. A read of what never saw a write that was answered from the recording is not.

    Args:
        recording: the trial.
        allow_live: which of the calls that may write are made for real.
        only: the steps that are asked again, if not all that may be.

    Attributes:
        parting: where a model was first told something else than was recorded.
        kept: how often, by tool and reason, the recording answered for a call that might have been asked again.
    """

    shares_patches = False

    def __init__(
        self, recording: Recording, allow_live: Sequence[Selector] = (), only: Collection[int] | None = None
    ) -> None:
        super().__init__(recording)
        self.parting: Parting | None = None
        self.kept: Counter[tuple[str, str]] = Counter()
        self._allowed = tuple(allow_live)
        self._only = only
        self._writes: list[Call] = []

    def take(self, call: Call, key: str) -> Entry:
        """The recorded interaction in whose place ``call`` is made; of a model call whatever it asks.

        Raises:
            Divergence: there is none.
        """
        try:
            return super().take(call, key)
        except Divergence:
            place = self._next_of_model(call) if call.kind == "model" else None
            if place is None:
                raise
        entry = self._entries[place]
        self._waiting[entry.key].remove(place)
        self._taken[place] = True
        if self.parting is None:
            ignore = self.recording.ignore
            recorded = counting_arguments(entry.interaction.call, ignore)
            found = first_difference(recorded, counting_arguments(call, ignore))
            self.parting = Parting(entry.interaction.step, found.path if found else "endpoint", goes_on=True)
        return entry

    def asks_again(self, call: Call, entry: Entry, *, tracked: bool) -> bool:
        """True if the real thing is asked what ``entry`` answers; ``tracked``: the trial tracks a state."""
        if call.kind not in {"tool", "http"}:
            return False
        reason = self._reason_against(call, tracked=tracked)
        wanted = self._only is None or entry.interaction.step in self._only
        if reason is None and wanted:
            return True
        if reason is not None and wanted:
            self.kept[call.name, reason] += 1
        if call.may_write:
            self._writes.append(call)
        return False

    def _reason_against(self, call: Call, *, tracked: bool) -> str | None:
        if (tracked and not call.external) or call.effect == "pure":
            return None
        if call.may_write and not any(selector.matches(call) for selector in self._allowed):
            return MAY_WRITE
        return AFTER_WRITE if any(touches(write, call) for write in self._writes) else None

    def _next_of_model(self, call: Call) -> int | None:
        """The next recorded answer of a model to this actor, of the same strand if there is one."""
        places = [
            place
            for place, entry in enumerate(self._entries)
            if not self._taken[place]
            and entry.interaction.call.kind == "model"
            and entry.interaction.call.actor == call.actor
            and self._is_eligible(place)
        ]
        own = [place for place in places if strand_of(self._entries[place].interaction.call) == strand_of(call)]
        return next(iter([*own, *places]), None)
