"""Has the environment drifted? What came of asking for recorded answers again: per trial, and summed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from attrs import field, frozen

from replay.leaves import LeafChange
from replay.plain import plain

from .answer_changes import fields_of_changes
from .rerun import Parting

__all__ = ["AskedAgain", "Drift", "TrialDrift"]


@frozen
class AskedAgain:
    """One recorded answer, and the one that came now.

    Attributes:
        step: of the recorded call.
        age: of the recorded answer, in seconds.
        changes: the leaves that differ, the recorded ones on the left.
    """

    step: int
    name: str
    age: float
    changes: tuple[LeafChange, ...]

    @property
    def fields(self) -> list[str]:
        """What happened to which fields, such as ``province renamed to state``."""
        return fields_of_changes(self.changes)


@frozen
class TrialDrift:
    """What came of one trial.

    Attributes:
        asked: the answers that were asked for again, in the order of their steps.
        kept: how often, by tool and reason, the recording answered for a call that might have been asked again.
        parting: where the trial is no more what was recorded; None if it nowhere is.
        left_out: why it was not carried out again.
    """

    trial: str
    asked: tuple[AskedAgain, ...] = ()
    kept: Mapping[tuple[str, str], int] = field(factory=dict)
    parting: Parting | None = None
    left_out: str | None = None

    @property
    def differing(self) -> tuple[AskedAgain, ...]:
        """The answers that are others now."""
        return tuple(one for one in self.asked if one.changes)

    @property
    def parts_by_itself(self) -> bool:
        """It is another although no answer before was: the agent, its prompt or its task is."""
        if self.parting is None:
            return False
        step = self.parting.step
        return not any(step is None or one.step < step for one in self.differing)

    def to_dict(self) -> dict[str, Any]:
        """As data."""
        parting = self.parting
        return {
            "trial": self.trial,
            "asked": len(self.asked),
            "differ": len(self.differing),
            "changes": [
                {
                    "step": one.step,
                    "tool": one.name,
                    "age": one.age,
                    "fields": one.fields,
                    "leaves": [plain(change.to_dict()) for change in one.changes],
                }
                for one in self.differing
            ],
            "kept": [{"tool": name, "why": why, "calls": n} for (name, why), n in sorted(self.kept.items())],
            "parts": parting
            and {
                "step": parting.step,
                "path": parting.path,
                "why": parting.why,
                "goes_on": parting.goes_on,
                "by_itself": self.parts_by_itself,
            },
            "left_out": self.left_out,
        }


@frozen
class Drift:
    """The same over many trials."""

    trials: tuple[TrialDrift, ...]

    @property
    def asked(self) -> list[AskedAgain]:
        """All answers that were asked for again."""
        return [one for trial in self.trials for one in trial.asked]

    @property
    def differing(self) -> list[AskedAgain]:
        """Those that are others now."""
        return [one for one in self.asked if one.changes]

    @property
    def parted(self) -> list[TrialDrift]:
        """The trials that are no more what was recorded."""
        return [trial for trial in self.trials if trial.parting is not None]

    @property
    def kept(self) -> Counter[tuple[str, str]]:
        """How often the recording answered, by tool and reason."""
        total: Counter[tuple[str, str]] = Counter()
        for trial in self.trials:
            total.update(trial.kept)
        return total

    @property
    def changed(self) -> bool:
        """True if an answer is another, or a trial parts."""
        return bool(self.differing or self.parted)

    def by_tool(self) -> dict[str, tuple[int, int, Counter[str]]]:
        """Of each tool: how many answers were asked for, how many differ, and in which of them which field does."""
        found: dict[str, tuple[int, int, Counter[str]]] = {}
        for name in sorted({one.name for one in self.asked}):
            of_tool = [one for one in self.asked if one.name == name]
            fields = Counter(told for one in of_tool for told in one.fields)
            found[name] = (len(of_tool), sum(bool(one.changes) for one in of_tool), fields)
        return found

    @property
    def ages(self) -> tuple[float, float] | None:
        """The ages of the youngest and of the oldest answer that was asked for again, in seconds."""
        ages = [one.age for one in self.asked]
        return (min(ages), max(ages)) if ages else None

    def to_dict(self) -> dict[str, Any]:
        """As data; ages are in seconds."""
        ages = self.ages
        return {
            "asked": len(self.asked),
            "differ": len(self.differing),
            "tools": {
                name: {"asked": asked, "differ": differ, "fields": dict(fields.most_common())}
                for name, (asked, differ, fields) in self.by_tool().items()
            },
            "kept": [{"tool": name, "why": why, "calls": n} for (name, why), n in self.kept.most_common()],
            "parted": len(self.parted),
            "age": None if ages is None else {"youngest": ages[0], "oldest": ages[1]},
            "trials": [trial.to_dict() for trial in self.trials],
        }
