"""What came of carrying recorded tool calls out again in a real environment: per call, per trial, and summed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, Literal

from attrs import asdict, field, frozen

from replay.leaves import LeafChange
from replay.plain import plain

from .answer_changes import fields_of_changes
from .environments import Facts

__all__ = ["MODES", "CallAgain", "CallVerdict", "Mode", "Reexecution", "StateAgain", "TrialAgain", "VerdictAgain"]

Mode = Literal["report", "lenient", "strict"]
MODES: Final[tuple[Mode, ...]] = ("report", "lenient", "strict")

CallVerdict = Literal["identical", "canonical", "hidden", "differs", "unknown tool", "not carried out"]
CALL_VERDICTS: Final[tuple[CallVerdict, ...]] = (
    "identical",
    "canonical",
    "hidden",
    "differs",
    "unknown tool",
    "not carried out",
)
_MOST_PLACES: Final = 20  # of a state: another data set differs in every leaf


@frozen
class CallAgain:
    """One recorded tool call, and what came of it now.

    Attributes:
        verdict: a tier of `replay.reruns.same_answer`; or ``unknown tool``: the environment has none of that name; or
            ``not carried out``.
        why: of the last two.
        changes: the leaves that differ, the recorded ones on the left.
        refused: the recorded call went wrong, as that of a tool that does not exist does.
    """

    step: int
    tool: str
    actor: str
    verdict: CallVerdict
    why: str = ""
    changes: tuple[LeafChange, ...] = ()
    refused: bool = False

    @property
    def differs(self) -> bool:
        """The answer is another; also where there is no such tool any more, and there was one."""
        return self.verdict == "differs" or (self.verdict == "unknown tool" and not self.refused)

    @property
    def is_open(self) -> bool:
        """It could not be compared, or not wholly."""
        return self.verdict in {"hidden", "not carried out"}

    @property
    def fields(self) -> list[str]:
        """What happened to which fields, such as ``province renamed to state``."""
        return fields_of_changes(self.changes)

    def to_dict(self) -> dict[str, Any]:
        """As data."""
        told = {"step": self.step, "tool": self.tool, "actor": self.actor, "verdict": self.verdict}
        if self.why:
            told["why"] = self.why
        if self.verdict == "unknown tool":
            told["refused_when_recorded"] = self.refused
        if self.changes:
            told |= {"fields": self.fields, "leaves": [plain(change.to_dict()) for change in self.changes]}
        return told


@frozen
class StateAgain:
    """A state, held against the recorded one.

    Attributes:
        verdict: ``unknown`` if one of the two is not there, or cannot be compared.
        by: what was compared: the ``whole`` state, or its ``hash`` as a benchmark makes it.
        changes: the leaves that differ, the recorded ones on the left; at most some, of ``places``.
    """

    verdict: Literal["same", "differs", "unknown"]
    by: Literal["whole", "hash"] | None = None
    why: str = ""
    changes: tuple[LeafChange, ...] = ()
    places: int = 0

    @classmethod
    def of(cls, changes: Sequence[LeafChange], why: str = "") -> StateAgain:
        """A whole state that differs in these leaves."""
        return cls("differs", "whole", why, changes=tuple(changes[:_MOST_PLACES]), places=len(changes))

    def to_dict(self) -> dict[str, Any]:
        """As data."""
        leaves = [plain(change.to_dict()) for change in self.changes]
        return {"verdict": self.verdict, "by": self.by, "why": self.why, "places": self.places, "leaves": leaves}


@frozen
class VerdictAgain:
    """What a check says of the trial with the state of now, beside the recorded score.

    Attributes:
        score: ``name@version`` of the recorded score; None if there is none.
        by: what judged now: a scorer, or the environment.
        recorded, now: passed; None if unscored.
        recorded_value, now_value: the numbers.
        why: it is not scored now.
    """

    score: str | None
    by: str
    recorded: bool | None
    now: bool | None
    recorded_value: float | None = None
    now_value: float | None = None
    why: str = ""

    @property
    def kind(self) -> Literal["same", "flips", "unknown"]:
        """Whether the two agree."""
        if self.recorded is None or self.now is None:
            return "unknown"
        return "same" if self.recorded == self.now else "flips"

    def to_dict(self) -> dict[str, Any]:
        """As data."""
        return {**asdict(self), "kind": self.kind}


@frozen
class TrialAgain:
    """One recorded trial.

    Attributes:
        facts: which environment it was.
        calls: its tool calls, in start order.
        start: the initial state; None if the trial tracked none, or the environment shows none.
        state: the final one.
        stopped: the step behind which a strict comparison stopped, with ``unmade`` calls after it.
        left_out: why nothing was carried out.
        damaged: it cannot be read.
    """

    trial: str
    facts: Facts = field(factory=Facts)
    calls: tuple[CallAgain, ...] = ()
    start: StateAgain | None = None
    state: StateAgain = field(factory=lambda: StateAgain("unknown"))
    verdicts: tuple[VerdictAgain, ...] = ()
    stopped: int | None = None
    unmade: int = 0
    left_out: str | None = None
    damaged: bool = False

    @property
    def carried_out(self) -> int:
        """Calls that were made again."""
        return sum(call.verdict != "not carried out" for call in self.calls)

    @property
    def differs(self) -> bool:
        """An answer, a state or a verdict is another."""
        states = [self.state, *([] if self.start is None else [self.start])]
        return (
            any(call.differs for call in self.calls)
            or any(state.verdict == "differs" for state in states)
            or any(verdict.kind == "flips" for verdict in self.verdicts)
        )

    @property
    def is_open(self) -> bool:
        """Something of it could not be compared."""
        return self.left_out is not None or any(call.is_open for call in self.calls)

    @property
    def is_identical(self) -> bool:
        """All of it is the same, its answers byte for byte."""
        refused = (call.verdict == "unknown tool" and call.refused for call in self.calls)
        alike = all(call.verdict == "identical" or r for call, r in zip(self.calls, refused, strict=True))
        return alike and not self.differs and not self.is_open

    def to_dict(self) -> dict[str, Any]:
        """As data; of calls that are identical only the number."""
        return {
            "trial": self.trial,
            "calls": len(self.calls),
            "verdicts": _counted(self.calls),
            "others": [call.to_dict() for call in self.calls if call.verdict != "identical"],
            "start": None if self.start is None else self.start.to_dict(),
            "state": self.state.to_dict(),
            "scores": [verdict.to_dict() for verdict in self.verdicts],
            "stopped": self.stopped,
            "unmade": self.unmade,
            "left_out": self.left_out,
            "damaged": self.damaged,
        }


@frozen
class Reexecution:
    """The same over many trials.

    Attributes:
        run: whose trials they are.
        of: what was asked for: the run, or one trial.
        environment: as it was named.
        mode: how it was compared.
        at: when, in UTC.
        ignored: fields of answers that did not count.
    """

    run: str
    of: str
    environment: str
    mode: Mode
    at: str
    trials: tuple[TrialAgain, ...]
    ignored: tuple[str, ...] = ()

    @property
    def calls(self) -> Iterator[CallAgain]:
        """All calls."""
        return (call for trial in self.trials for call in trial.calls)

    @property
    def exit_code(self) -> int:
        """0; 1 if something differs that the mode does not let pass; 4 for damage; 6 if something stays open."""
        if any(trial.damaged for trial in self.trials):
            return 4
        if self.mode == "report":
            return 0
        if self.mode == "strict":
            return int(not all(trial.is_identical for trial in self.trials))
        if any(trial.differs for trial in self.trials):
            return 1
        return 6 if any(trial.is_open for trial in self.trials) else 0

    def to_dict(self) -> dict[str, Any]:
        """As data: the sums first."""
        calls = list(self.calls)
        return {
            "run": self.run,
            "of": self.of,
            "at": self.at,
            "environment": {"factory": self.environment, "seen": _facts(self.trials)},
            "mode": self.mode,
            "ignored": list(self.ignored),
            "calls": len(calls),
            "verdicts": _counted(calls),
            "differ": sum(call.differs for call in calls),
            "tools": {name: _of_tool([c for c in calls if c.tool == name]) for name in sorted({c.tool for c in calls})},
            "states": dict(Counter(trial.state.verdict for trial in self.trials if trial.left_out is None)),
            "exit_code": self.exit_code,
            "trials": [trial.to_dict() for trial in self.trials],
        }


def _counted(calls: Iterable[CallAgain]) -> dict[str, int]:
    found = Counter(call.verdict for call in calls)
    return {verdict: found[verdict] for verdict in CALL_VERDICTS if found[verdict]}


def _of_tool(calls: Sequence[CallAgain]) -> dict[str, Any]:
    fields = Counter(told for call in calls if call.verdict == "differs" for told in call.fields)
    return {
        "calls": len(calls),
        "differ": sum(call.differs for call in calls),
        "verdicts": _counted(calls),
        "fields": dict(fields.most_common()),
    }


def _facts(trials: Iterable[TrialAgain]) -> list[Mapping[str, Any]]:
    seen = Counter(trial.facts for trial in trials if trial.left_out is None)
    return [{**asdict(facts), "trials": number} for facts, number in seen.most_common()]
