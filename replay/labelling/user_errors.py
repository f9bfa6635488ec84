"""Errors of the (simulated) user: how frequent they are, and pass^k without the trials that they decided."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from attrs import asdict, frozen

from replay.analysis.failed import Without, pass_k_without
from replay.analysis.reliability import TrialOutcome
from replay.analysis.run_stats import RunStats
from replay.stats import Share, proportion

from .labels import Label, UserError

__all__ = ["UserErrors", "error_of_user", "user_errors"]

_BADNESS = ("none", "minor", "critical")


@frozen
class UserErrors:
    """What is said of the user in the counted trials of a run; people's word goes before a judge's.

    Attributes:
        trials: counted trials of the run; of ``said`` something is known, of ``by_people`` from people.
        erred: share of ``said`` in which the user erred; ``critical``, in which that decided the outcome (Wilson
            intervals, trials as if independent).
        disputed: trials on which the authors of one source differ; the lesser error counts.
        passed: of the critical ones, how many passed.
        pass_k: with and without the trials with a critical error, passed ones too; empty where the run has no number.
    """

    trials: int
    said: int
    by_people: int
    erred: Share
    critical: Share
    disputed: int
    passed: int
    pass_k: tuple[Without, ...]

    def to_dict(self) -> dict[str, Any]:
        """The same as JSON-like data."""
        return asdict(self)


def error_of_user(label: Label, *, failed: bool) -> UserError | None:
    """What a label says of the user: to be at fault that a trial failed is a critical error."""
    if label.user_error is None and label.fault == "user" and failed:
        return "critical"
    return label.user_error


def user_errors(
    stats: RunStats, outcomes: Mapping[str, TrialOutcome], counted: Mapping[str, bool], labels: Iterable[Label]
) -> UserErrors | None:
    """Count the errors of users; None if nothing is said of any.

    Args:
        stats: of the run.
        outcomes: of all its trials.
        counted: whether each one that counts passed.
        labels: that hold.
    """
    said: dict[str, dict[str, list[UserError]]] = {}
    for label in labels:
        error = error_of_user(label, failed=not counted.get(label.trial, True))
        if error is not None and label.trial in counted:
            said.setdefault(label.trial, {}).setdefault(label.source, []).append(error)
    if not said:
        return None
    taken = {trial: by.get("person") or by["judge"] for trial, by in said.items()}
    worst = {trial: min(errors, key=_BADNESS.index) for trial, errors in taken.items()}
    critical = {trial for trial, error in worst.items() if error == "critical"}
    return UserErrors(
        trials=len(counted),
        said=len(said),
        by_people=sum("person" in by for by in said.values()),
        erred=proportion(sum(error != "none" for error in worst.values()), len(said)),
        critical=proportion(len(critical), len(said)),
        disputed=sum(len({*errors}) > 1 for errors in taken.values()),
        passed=sum(counted[trial] for trial in critical),
        pass_k=pass_k_without(stats, outcomes, critical),
    )
