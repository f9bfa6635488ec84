"""Whose fault the failed trials of a run were: as far as people labelled them, and by rules."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from itertools import combinations
from typing import Any

from attrs import asdict, frozen

from cassettes.errors import CassetteError
from cassettes.model import TrialId

from .agreement import Agreement, agreement
from .attribution import RULES, Attribution, attributed
from .labels import FAULTS, UNLABELLED
from .outcomes import outcomes_of
from .reliability import TrialOutcome, count
from .run_stats import RunStats
from .runs import load_run
from .stats import pass_hat_k
from .store import Store
from .view import View

__all__ = ["DISPUTED", "UNTYPED", "FaultRow", "Faults", "Labellers", "RuleFaults", "Without", "faults_of"]

DISPUTED = "disputed"  # two authors name different faults

UNTYPED = "no type"  # no author gives the kind of failure

_LABELS = "SELECT trial, author, fault, type FROM labels WHERE run = ? ORDER BY author, trial"


@frozen
class FaultRow:
    """The failed trials of one fault.

    Attributes:
        share: of all failed trials, 0 to 1.
        pass_1_without: pass^1 if these trials were left out; None for the agent's own faults and where no number holds.
    """

    fault: str
    trials: int
    share: float
    pass_1_without: float | None


@frozen
class Without:
    """pass^k with and without the failed trials that are no fault of the agent.

    Attributes:
        value: with them; ``without`` is None if some task has fewer than k trials left.
    """

    k: int
    value: float
    without: float | None


@frozen
class RuleFaults:
    """The failed trials of a run by rules.

    Attributes:
        by_fault: trials by fault; ``unlabelled`` are those that no rule fits.
        by_type: of the agent's faults.
        pass_k: with and without those that are no fault of the agent; empty where the run has no number.
        trials: what was said of each failed trial, and why.
        agreement: with people's labels on the same trials; None if there are none.
        problems: what could not be read.
    """

    by_fault: Mapping[str, int]
    by_type: Mapping[str, int]
    pass_k: tuple[Without, ...]
    trials: tuple[Attribution, ...]
    agreement: Agreement | None
    problems: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """The same as JSON-like data."""
        return {
            "source": RULES,
            "by_fault": dict(self.by_fault),
            "by_type": dict(self.by_type),
            "pass_k": [asdict(row) for row in self.pass_k],
            "trials": [one.to_dict() for one in self.trials],
            "agreement_with_labels": None
            if self.agreement is None
            else {"trials": self.agreement.n, "observed": self.agreement.observed, "kappa": self.agreement.kappa},
            "problems": list(self.problems),
        }


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

    def to_dict(self) -> dict[str, Any]:
        """The same as JSON-like data."""
        return {
            "failed": self.failed,
            "by_fault": {
                row.fault: {"trials": row.trials, "share": row.share, "pass_1_without": row.pass_1_without}
                for row in self.rows
            },
            "pass_1": self.pass_1,
            "not_the_agents": self.others,
            "pass_1_without_not_the_agents": self.pass_1_without_others,
            "tasks_without_a_trial_then": list(self.emptied),
            "agreement": [
                {
                    "authors": [pair.first, pair.second],
                    "trials": pair.agreement.n,
                    "observed": pair.agreement.observed,
                    "expected": pair.agreement.expected,
                    "kappa": pair.agreement.kappa,
                    "table": [[one, other, n] for (one, other), n in pair.agreement.table.items()],
                }
                for pair in self.labellers
            ],
            "by_type": dict(self.by_type),
            "pass_k": [asdict(row) for row in self.pass_k],
            "rules": self.rules.to_dict(),
        }


def faults_of(store: Store, stats: RunStats) -> Faults:
    """Count the failed trials of a run by fault.

    Args:
        store: an index that is up to date.
        stats: of the run: its score and convention say which trials failed.
    """
    outcomes = outcomes_of(store, load_run(store.home, stats.run), stats.score).trials
    said: dict[str, dict[str, str]] = {}
    types: dict[str, list[str]] = {}
    for row in store.rows(_LABELS, [stats.run]):
        said.setdefault(row["author"], {})[row["trial"]] = row["fault"]
        types.setdefault(row["trial"], []).extend([] if row["type"] is None else [row["type"]])
    failed = {
        trial: _fault([by[trial] for by in said.values() if trial in by])
        for trial, outcome in outcomes.items()
        if (alone := count([outcome], stats.errors)).trials and not alone.successes[0]
    }
    counts = Counter(failed.values())
    others = {*FAULTS} - {"agent"}

    def without(faults: Collection[str]) -> tuple[float | None, tuple[str, ...]]:
        left = [outcome for trial, outcome in outcomes.items() if failed.get(trial) not in faults]
        return _pass_1(stats, left)

    rows = [
        FaultRow(
            fault,
            counts[fault],
            counts[fault] / len(failed) if failed else 0.0,
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
        labellers=tuple(_labellers(said)),
        by_type=dict(
            Counter(_type(types.get(trial, ())) for trial, fault in failed.items() if fault == "agent").most_common()
        ),
        pass_k=_pass_k(stats, outcomes, {trial for trial, fault in failed.items() if fault in others}),
        rules=_by_rules(store, stats, outcomes, failed),
    )


def _by_rules(
    store: Store, stats: RunStats, outcomes: Mapping[str, TrialOutcome], labelled: Mapping[str, str]
) -> RuleFaults:
    """What the rules say of the failed trials, which are the keys of ``labelled``."""
    told: list[Attribution] = []
    problems: list[str] = []
    for name in labelled:
        try:
            told.append(attributed(store, View(store.home.cassette(TrialId.parse(name)), store.home)))
        except CassetteError as error:
            problems.append(str(error))
    both = [(labelled[one.trial], one.fault) for one in told if labelled[one.trial] in FAULTS and one.fault is not None]
    excused = {one.trial for one in told if one.fault not in {None, "agent"}}
    return RuleFaults(
        by_fault=dict(Counter(one.fault or UNLABELLED for one in told).most_common()),
        by_type=dict(Counter(one.type for one in told if one.type is not None).most_common()),
        pass_k=_pass_k(stats, outcomes, excused),
        trials=tuple(told),
        agreement=agreement(both) if both else None,
        problems=tuple(problems),
    )


def _pass_k(stats: RunStats, outcomes: Mapping[str, TrialOutcome], excused: Collection[str]) -> tuple[Without, ...]:
    """pass^k of all counted trials, and of those that are not excused."""
    if stats.summary is None:
        return ()
    counted = count(outcomes.values(), stats.errors)
    left = count([outcome for trial, outcome in outcomes.items() if trial not in excused], stats.errors)
    return tuple(
        Without(
            k,
            float(pass_hat_k(counted.successes, counted.trials, k)),
            float(pass_hat_k(left.successes, left.trials, k)) if left.trials and min(left.trials) >= k else None,
        )
        for k in range(1, min(counted.trials) + 1)
    )


def _fault(faults: Sequence[str]) -> str:
    """The fault on which all authors agree."""
    if not faults:
        return UNLABELLED
    return faults[0] if len({*faults}) == 1 else DISPUTED


def _type(types: Sequence[str]) -> str:
    """The kind of failure on which all authors who give one agree."""
    return UNTYPED if not types else types[0] if len({*types}) == 1 else DISPUTED


def _pass_1(stats: RunStats, outcomes: Sequence[TrialOutcome]) -> tuple[float | None, tuple[str, ...]]:
    """pass^1 of these trials, and the tasks that have any; no number where the run itself has none."""
    counted = count(outcomes, stats.errors)
    if stats.summary is None or not counted.tasks:
        return None, counted.tasks
    return float(pass_hat_k(counted.successes, counted.trials, 1)), counted.tasks


def _labellers(said: Mapping[str, Mapping[str, str]]) -> list[Labellers]:
    return [
        Labellers(first, second, agreement((said[first][trial], said[second][trial]) for trial in common))
        for first, second in combinations(sorted(said), 2)
        if (common := sorted({*said[first]} & {*said[second]}))
    ]
