"""Whose fault trials were, by people, judges and rules side by side; people go before judges, judges before rules."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any, Literal

from attrs import asdict, frozen

from replay.analysis.failed import verdicts
from replay.analysis.outcomes import outcomes_of
from replay.analysis.run_stats import RunStats
from replay.runs import load_run
from replay.store import Store

from .agreement import Agreement, agreement
from .attribution import RULES, Attribution
from .faults import heard_of, named_by
from .labels import FAULTS, UNLABELLED, Label, UserError, current, last_lines, read_labels
from .rule_faults import ruled
from .user_errors import UserErrors, user_errors

__all__ = ["UNANSWERED", "By", "FaultReview", "SideBySide", "Told", "counted_trials", "fault_review"]

By = Literal["people", "judge", "rules"]
UNANSWERED = "unanswered"  # of a judge without a verdict


@frozen
class Told:
    """What one author says of a trial.

    Attributes:
        author: ``rules`` for the rules.
        fault: None where none is named, as of a trial that passed; ``unanswered``: then ``note`` is what was said.
    """

    by: By
    author: str
    fault: str | None
    type: str | None
    user_error: UserError | None
    step: int | None
    note: str | None


@frozen
class SideBySide:
    """One trial.

    Attributes:
        said: what each source names: a fault, ``disputed`` if its authors differ, or ``unanswered``; a source that
            says nothing is not there.
        fault: of the first source that names one; None if none does, and of a trial that passed.
        by: that source.
        differ: two sources name different faults, or the authors of one do.
        told: what each author says.
    """

    trial: str
    passed: bool
    said: Mapping[By, str]
    fault: str | None
    by: By | None
    differ: bool
    told: tuple[Told, ...]


@frozen
class FaultReview:
    """The trials of a run by fault and source.

    Attributes:
        trials: those that failed, and passed ones of which something is said.
        taken: failed trials by fault, and then by the source that it is taken from.
        agreement: of two sources, on failed trials of which both name a fault.
        users: errors of the user by people and judges; None if nothing is said of any.
        problems: what could not be read.
    """

    run: str
    score: str
    trials: tuple[SideBySide, ...]
    taken: Mapping[str, Mapping[str, int]]
    agreement: Mapping[tuple[By, By], Agreement]
    users: UserErrors | None
    problems: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """The same as JSON-like data."""
        return {
            "run": self.run,
            "score": self.score,
            "trials": [asdict(trial) for trial in self.trials],
            "taken": {fault: dict(by) for fault, by in self.taken.items()},
            "agreement": [{"of": list(pair), **found.to_dict()} for pair, found in self.agreement.items()],
            "users": None if self.users is None else self.users.to_dict(),
            "problems": list(self.problems),
        }


def counted_trials(store: Store, stats: RunStats) -> dict[str, bool]:
    """Whether each trial that counts passed, by id."""
    return verdicts(
        outcomes_of(store, load_run(store.home, stats.run), stats.score, stats.threshold).trials, stats.errors
    )


def fault_review(store: Store, stats: RunStats) -> FaultReview:
    """Lay side by side what people, judges and rules say of a run's trials.

    Args:
        store: an index that is up to date.
        stats: of the run: its score and convention say which trials failed.
    """
    outcomes = outcomes_of(store, load_run(store.home, stats.run), stats.score, stats.threshold).trials
    counted = verdicts(outcomes, stats.errors)
    lines, problems = _lines(store, stats.run)
    by_rules, unread = ruled(store, [trial for trial, passed in counted.items() if not passed])
    rules = {one.trial: one for one in by_rules}
    trials = [
        _beside(trial, lines.get(trial, ()), rules.get(trial), passed=passed)
        for trial, passed in counted.items()
        if not passed or trial in lines
    ]
    failed = [trial for trial in trials if not trial.passed]
    taken: dict[str, Counter[str]] = {}
    for trial in failed:
        taken.setdefault(trial.fault or UNLABELLED, Counter())[trial.by or UNLABELLED] += 1
    held = [label for said in lines.values() for label in current(said)]
    return FaultReview(
        run=stats.run,
        score=stats.score,
        trials=tuple(trials),
        taken={fault: dict(by) for fault, by in sorted(taken.items(), key=lambda entry: -entry[1].total())},
        agreement=dict(_agreements(failed)),
        users=user_errors(stats, outcomes, counted, held),
        problems=(*problems, *unread),
    )


def _lines(store: Store, run: str) -> tuple[dict[str, list[Label]], list[str]]:
    """The last lines of each author on the cassettes that are there, by trial; and which lines are damaged."""
    digests = {row["id"]: row["digest"] for row in store.rows("SELECT id, digest FROM trials WHERE run = ?", [run])}
    said, problems = read_labels(store.home, run)
    found: dict[str, list[Label]] = {}
    for label in last_lines(said):
        holds = not (label.fault is None and label.user_error is None and label.unanswered is None)
        if holds and label.trial in digests and label.digest == digests[label.trial]:
            found.setdefault(label.trial, []).append(label)
    return found, problems


def _beside(trial: str, lines: Sequence[Label], rule: Attribution | None, *, passed: bool) -> SideBySide:
    said: dict[By, str] = {}
    _say(said, "people", [label for label in lines if label.source == "person"])
    _say(said, "judge", [label for label in lines if label.source == "judge"])
    if rule is not None and rule.fault is not None:
        said["rules"] = rule.fault
    naming = {by: fault for by, fault in said.items() if fault != UNANSWERED}
    taken = None if passed else next(iter(naming), None)
    return SideBySide(
        trial=trial,
        passed=passed,
        said=said,
        fault=None if taken is None else naming[taken],
        by=taken,
        differ=len({*naming.values()}) > 1 or any(fault not in FAULTS for fault in naming.values()),
        told=(*map(_told, lines), *([] if rule is None else [_told_by_rules(rule)])),
    )


def _say(said: dict[By, str], by: By, lines: Sequence[Label]) -> None:
    fault = named_by(heard_of(lines))
    if fault != UNLABELLED:
        said[by] = fault
    elif any(label.unanswered is not None for label in lines):
        said[by] = UNANSWERED


def _told(label: Label) -> Told:
    by: By = "people" if label.source == "person" else "judge"
    fault = label.fault if label.unanswered is None else UNANSWERED
    note = label.note if label.unanswered is None else label.unanswered
    return Told(by, label.author, fault, label.type, label.user_error, label.step, note)


def _told_by_rules(rule: Attribution) -> Told:
    return Told("rules", RULES, rule.fault, rule.type, None, rule.step, rule.because)


def _agreements(trials: Sequence[SideBySide]) -> Iterator[tuple[tuple[By, By], Agreement]]:
    sources: tuple[By, ...] = ("people", "judge", "rules")
    for one, other in combinations(sources, 2):
        both = [(trial.said.get(one, ""), trial.said.get(other, "")) for trial in trials]
        pairs = [pair for pair in both if {*pair} <= {*FAULTS}]
        if pairs:
            yield (one, other), agreement(pairs)
