"""The failed trials of a run by rules, and how far these agree with people and judges."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from attrs import asdict, frozen

from cassettes.errors import CassetteError
from cassettes.model import TrialId
from replay.analysis.failed import Without, pass_k_without
from replay.analysis.reliability import TrialOutcome
from replay.analysis.run_stats import RunStats
from replay.store import Store
from replay.view import View

from .agreement import Agreement, agreement
from .attribution import EXPECTED, RULES, Attribution, attributed
from .labels import FAULTS, UNLABELLED

__all__ = ["RuleFaults", "rule_faults", "ruled"]


@frozen
class RuleFaults:
    """The failed trials of a run by rules.

    Attributes:
        by_fault: trials by fault; ``unlabelled`` are those that no rule fits.
        by_type: of the agent's faults.
        pass_k: with and without those that are no fault of the agent; empty where the run has no number.
        trials: what was said of each failed trial, and why.
        agreement: with the labels on the same trials; None if there are none.
        problems: what could not be read.
        elsewhere: trials that were held against a passing trial of another run, by that run: what is said of them
            depends on which runs the home holds.
    """

    by_fault: Mapping[str, int]
    by_type: Mapping[str, int]
    pass_k: tuple[Without, ...]
    trials: tuple[Attribution, ...]
    agreement: Agreement | None
    problems: tuple[str, ...]
    elsewhere: Mapping[str, int]

    def to_dict(self) -> dict[str, Any]:
        """The same as JSON-like data."""
        return {
            "source": RULES,
            "by_fault": dict(self.by_fault),
            "by_type": dict(self.by_type),
            "pass_k": [asdict(row) for row in self.pass_k],
            "trials": [one.to_dict() for one in self.trials],
            "agreement_with_labels": None if self.agreement is None else self.agreement.to_dict(),
            "problems": list(self.problems),
            "held_against_other_runs": dict(self.elsewhere),
        }


def ruled(store: Store, trials: Iterable[str]) -> tuple[list[Attribution], list[str]]:
    """What the rules say of each of these failed trials, and which of them could not be read."""
    told: list[Attribution] = []
    problems: list[str] = []
    for name in trials:
        try:
            told.append(attributed(store, View(store.home.cassette(TrialId.parse(name)), store.home)))
        except CassetteError as error:
            problems.append(str(error))
    return told, problems


def rule_faults(
    store: Store, stats: RunStats, outcomes: Mapping[str, TrialOutcome], labelled: Mapping[str, str]
) -> RuleFaults:
    """The failed trials by rules.

    Args:
        store: an index that is up to date.
        stats: of the run.
        outcomes: of all its trials.
        labelled: of each failed trial the fault that its labels name, or that they name none.
    """
    told, problems = ruled(store, labelled)
    both = [(labelled[one.trial], one.fault) for one in told if labelled[one.trial] in FAULTS and one.fault is not None]
    excused = {one.trial for one in told if one.fault not in {None, "agent"}}
    return RuleFaults(
        by_fault=dict(Counter(one.fault or UNLABELLED for one in told).most_common()),
        by_type=dict(Counter(one.type for one in told if one.type is not None).most_common()),
        pass_k=pass_k_without(stats, outcomes, excused),
        trials=tuple(told),
        agreement=agreement(both) if both else None,
        problems=tuple(problems),
        elsewhere=_elsewhere(stats.run, told),
    )


def _elsewhere(run: str, told: Iterable[Attribution]) -> dict[str, int]:
    """How many trials were held against one of each other run."""
    against = [one.against for one in told if one.against is not None and one.against != EXPECTED]
    runs = [TrialId.parse(trial).run for trial in against]
    return dict(sorted(Counter(other for other in runs if other != run).items()))
