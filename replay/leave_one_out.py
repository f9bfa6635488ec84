"""What recordings can answer: each trial of a task against the others, all tools frozen.

A call that no recording answers is answered by what the trial itself recorded, so that its later calls are asked as
well. Repeated reads count where their answer came from.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from attrs import field, frozen

from cassettes.model import Interaction, TrialId

from .recording import Entry, PastWrite, Recording, context_of
from .worlds import Found, Missing, World

__all__ = ["Coverage", "TrialCoverage", "leave_one_out"]

_COUNTED = ("own", "borrowed", "repeated", "emulated", "stale", "missed", "other")


@frozen
class TrialCoverage:
    """How the tool calls of one trial would have been answered by the others.

    Attributes:
        writes: it holds a call that is declared a write.
        own, borrowed: calls that got an answer, from the next recording of the task or from a later one; those that
            were ``repeated`` are among them.
        emulated: calls that got an answer which a model had made up: they are not exact.
        stale, missed: calls that got none.
        other: calls whose answer was another than the trial itself got.
        lacking: names of the tools that got no answer, with how often.
    """

    trial: TrialId
    writes: bool
    own: int = 0
    borrowed: int = 0
    repeated: int = 0
    emulated: int = 0
    stale: int = 0
    missed: int = 0
    other: int = 0
    lacking: Mapping[str, int] = field(factory=dict)

    @property
    def whole(self) -> bool:
        """True if every call got an answer."""
        return not self.stale and not self.missed


@frozen
class Coverage:
    """The same over many trials."""

    trials: tuple[TrialCoverage, ...]

    def total(self, name: str) -> int:
        """The sum of a field of `TrialCoverage`."""
        return sum(getattr(trial, name) for trial in self.trials)

    @property
    def exact(self) -> int:
        """Calls that got an answer which the real thing had given."""
        return self.total("own") + self.total("borrowed")

    @property
    def calls(self) -> int:
        """All calls that were asked."""
        return self.exact + sum(map(self.total, ("emulated", "stale", "missed")))

    @property
    def lacking(self) -> Counter[str]:
        """Names of the tools that got no answer, with how often."""
        found: Counter[str] = Counter()
        for trial in self.trials:
            found.update(trial.lacking)
        return found

    def of(self, *, writes: bool) -> Coverage:
        """Of the trials that write, or of those that do not."""
        return Coverage(tuple(trial for trial in self.trials if trial.writes is writes))

    def by_task(self) -> Iterator[tuple[str, Coverage]]:
        """For each task, in order of name."""
        for task in sorted({trial.trial.task for trial in self.trials}):
            yield task, Coverage(tuple(trial for trial in self.trials if trial.trial.task == task))

    def to_dict(self) -> dict[str, Any]:
        """The numbers as data."""
        writers = self.of(writes=True)
        return {
            "trials": len(self.trials),
            "calls": self.calls,
            "exact": self.exact,
            **{name: self.total(name) for name in _COUNTED},
            "whole": self.total("whole"),
            "with_write": len(writers.trials),
            "whole_with_write": writers.total("whole"),
            "lacking": dict(self.lacking.most_common()),
        }


def leave_one_out(recordings: Sequence[Recording]) -> Iterator[TrialCoverage]:
    """The coverage of each recording of one task by the others, starting at the next one.

    Args:
        recordings: of one task, in the order of their indexes.
    """
    for place, recording in enumerate(recordings):
        rotation = [*recordings[place + 1 :], *recordings[:place]]
        yield _covered(recording, rotation)


def _covered(recording: Recording, rotation: Sequence[Recording]) -> TrialCoverage:
    world = World(rotation)
    counts: Counter[str] = Counter()
    lacking: Counter[str] = Counter()
    writes: list[PastWrite] = []
    tools = [entry for entry in recording.entries if entry.interaction.call.kind in {"tool", "http"}]
    for entry in tools:
        interaction = entry.interaction
        found = world.answer(interaction.call, entry.key, context_of(interaction.call, interaction.started, writes))
        if isinstance(found, Missing):
            counts[found.verdict] += 1
            lacking[interaction.call.name] += 1
            answer = entry
        else:
            answer = found.entry
            counts[_source(found, rotation)] += 1
            counts["repeated"] += found.verdict == "repeated"
            counts["other"] += answer.outcome != entry.outcome
        if interaction.call.may_write:
            writes.append(_past(entry, answer))
    wrote = any(entry.interaction.call.effect == "write" for entry in tools)
    return TrialCoverage(recording.trial, wrote, **{name: counts[name] for name in _COUNTED}, lacking=dict(lacking))


def _source(found: Found, rotation: Sequence[Recording]) -> str:
    if found.verdict == "emulated":
        return "emulated"
    return "own" if found.recording is rotation[0] else "borrowed"


def _past(asked: Entry, answered: Entry) -> PastWrite:
    interaction: Interaction = asked.interaction
    return PastWrite(interaction.call, asked.key, answered.outcome, interaction.started, interaction.ended)
