"""Whose fault the failed trials of a run were: as far as people and judges labelled them, and by rules.

The word of people goes before that of judges; where people said nothing of a trial, its judges are heard.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import combinations
from typing import Any

from attrs import asdict, frozen

from replay.analysis.failed import Without, pass_k_without, verdicts
from replay.analysis.outcomes import outcomes_of
from replay.analysis.reliability import TrialOutcome, count
from replay.analysis.run_stats import RunStats
from replay.runs import load_run
from replay.stats import pass_hat_k
from replay.store import Store

from .agreement import Agreement, agreement
from .labels import FAULTS, UNLABELLED, Label
from .rule_faults import RuleFaults, rule_faults
from .user_errors import UserErrors, user_errors

__all__ = ["DISPUTED", "UNTYPED", "FaultRow", "Faults", "Labellers", "faults_of", "heard_of", "named_by"]

DISPUTED = "disputed"  # two authors name different faults

UNTYPED = "no type"  # no author gives the kind of failure

_LABELS = """
SELECT trial, author, source, fault, user_error, type, step, note, digest, at FROM labels
WHERE run = ? ORDER BY author, trial
"""


@frozen
class FaultRow:
    """The failed trials of one fault.

    Attributes:
        share: of all failed trials, 0 to 1.
        by_judge: those of which only judges say so.
        pass_1_without: pass^1 if these trials were left out; None for the agent's own faults and where no number holds.
    """

    fault: str
    trials: int
    share: float
    by_judge: int
    pass_1_without: float | None


@frozen
class Labellers:
    """Two authors who labelled the same trials, and how far they agree."""

    first: str
    second: str
    agreement: Agreement


@frozen
class Faults:
    """The failed trials of a run by fault.

    Attributes:
        failed: trials that pass^k counts as failed.
        rows: by fault; what nobody labelled comes last. Faults of which there are none are there with 0.
        pass_1: as `RunStats` tells it; None if it tells bounds only.
        others: failed trials whose labels all name the same fault, and not the agent's.
        pass_1_without_others: what pass^1 would be without them; None if ``pass_1`` is, or if no trial is left.
        emptied: tasks that have no counted trial left without them, and so are not in that number.
        labellers: pairs of authors who labelled the same trials, passed ones too.
        by_type: of the trials whose labels all name the agent, by the type that they give.
        pass_k: for each k with and without ``others``; empty where the run has no number.
        rules: the same by rules.
        users: errors of the user, in failed and in passed trials; None if nothing is said of any.
    """

    failed: int
    rows: tuple[FaultRow, ...]
    pass_1: float | None
    others: int
    pass_1_without_others: float | None
    emptied: tuple[str, ...]
    labellers: tuple[Labellers, ...]
    by_type: Mapping[str, int]
    pass_k: tuple[Without, ...]
    rules: RuleFaults
    users: UserErrors | None

    def to_dict(self) -> dict[str, Any]:
        """The same as JSON-like data."""
        return {
            "failed": self.failed,
            "by_fault": {
                row.fault: {
                    "trials": row.trials,
                    "share": row.share,
                    "by_judge": row.by_judge,
                    "pass_1_without": row.pass_1_without,
                }
                for row in self.rows
            },
            "pass_1": self.pass_1,
            "not_the_agents": self.others,
            "pass_1_without_not_the_agents": self.pass_1_without_others,
            "tasks_without_a_trial_then": list(self.emptied),
            "agreement": [
                {"authors": [pair.first, pair.second], **pair.agreement.to_dict()} for pair in self.labellers
            ],
            "by_type": dict(self.by_type),
            "pass_k": [asdict(row) for row in self.pass_k],
            "rules": self.rules.to_dict(),
            "users": None if self.users is None else self.users.to_dict(),
        }


def faults_of(store: Store, stats: RunStats) -> Faults:
    """Count the failed trials of a run by fault.

    Args:
        store: an index that is up to date.
        stats: of the run: its score and convention say which trials failed.
    """
    outcomes = outcomes_of(store, load_run(store.home, stats.run), stats.score, stats.threshold).trials
    labels = [Label(**row) for row in store.rows(_LABELS, [stats.run])]
    counted = verdicts(outcomes, stats.errors)
    said: dict[str, list[Label]] = {}
    for label in labels:
        said.setdefault(label.trial, []).append(label)
    heard = {trial: heard_of(said.get(trial, ())) for trial, passed in counted.items() if not passed}
    failed = {trial: named_by(those) for trial, those in heard.items()}
    counts = Counter(failed.values())
    judged = Counter(failed[trial] for trial, those in heard.items() if those and those[0].source == "judge")
    others = {*FAULTS} - {"agent"}

    def without(faults: Collection[str]) -> tuple[float | None, tuple[str, ...]]:
        left = [outcome for trial, outcome in outcomes.items() if failed.get(trial) not in faults]
        return _pass_1(stats, left)

    rows = [
        FaultRow(
            fault,
            counts[fault],
            counts[fault] / len(failed) if failed else 0.0,
            judged[fault],
            without({fault})[0] if counts[fault] and fault in others else None,
        )
        for fault in (*FAULTS, *([DISPUTED] if counts[DISPUTED] else []), UNLABELLED)
    ]
    conditional, left = without(others)
    return Faults(
        failed=len(failed),
        rows=tuple(rows),
        pass_1=_pass_1(stats, list(outcomes.values()))[0],
        others=sum(counts[fault] for fault in others),
        pass_1_without_others=conditional,
        emptied=tuple(task for task in stats.counted.tasks if task not in left),
        labellers=tuple(_labellers(labels)),
        by_type=dict(Counter(_type(heard[trial]) for trial, fault in failed.items() if fault == "agent").most_common()),
        pass_k=pass_k_without(stats, outcomes, {trial for trial, fault in failed.items() if fault in others}),
        rules=rule_faults(store, stats, outcomes, failed),
        users=user_errors(stats, outcomes, counted, labels),
    )


def heard_of(labels: Iterable[Label]) -> list[Label]:
    """Of the labels on a trial those that count: people's that name a fault, or where there are none the judges'."""
    naming = [label for label in labels if label.fault is not None]
    return [label for label in naming if label.source == "person"] or naming


def named_by(labels: Sequence[Label]) -> str:
    """The fault on which all authors agree."""
    faults = {str(label.fault) for label in labels}
    return UNLABELLED if not faults else faults.pop() if len(faults) == 1 else DISPUTED


def _type(labels: Iterable[Label]) -> str:
    """The kind of failure on which all authors who give one agree."""
    types = [label.type for label in labels if label.type is not None]
    return UNTYPED if not types else types[0] if len({*types}) == 1 else DISPUTED


def _pass_1(stats: RunStats, outcomes: Sequence[TrialOutcome]) -> tuple[float | None, tuple[str, ...]]:
    """pass^1 of these trials, and the tasks that have any; no number where the run itself has none."""
    counted = count(outcomes, stats.errors)
    if stats.summary is None or not counted.tasks:
        return None, counted.tasks
    return float(pass_hat_k(counted.successes, counted.trials, 1)), counted.tasks


def _labellers(labels: Iterable[Label]) -> list[Labellers]:
    said: dict[str, dict[str, str]] = {}
    for label in labels:
        if label.fault is not None:
            said.setdefault(label.author, {})[label.trial] = label.fault
    return [
        Labellers(first, second, agreement((said[first][trial], said[second][trial]) for trial in common))
        for first, second in combinations(sorted(said), 2)
        if (common := sorted({*said[first]} & {*said[second]}))
    ]
