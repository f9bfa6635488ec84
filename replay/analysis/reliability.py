"""From endings and verdicts to what pass^k counts: successes and trials per task, and what was left out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Literal

from attrs import frozen

from cassettes.errors import BadInput

__all__ = ["MOST_UNANSWERED", "Counted", "NotCounted", "TrialOutcome", "count", "count_by_world"]

MOST_UNANSWERED = 0.10
"""Share of a run's trials above which no single number holds: the unanswered are not missing at random."""

Errors = Literal["exclude", "fail"]


@frozen
class TrialOutcome:
    """How one trial ended, and its verdict by the score in question.

    Attributes:
        cause: of an ``error``: ``agent``, ``infrastructure``, ...
        passed: None if there is no verdict.
        harm: the score tells harm done, so 0 is the good end: neither a cap nor an error makes it 0.
    """

    task: str
    index: int
    ending: str
    cause: str | None
    passed: bool | None
    harm: bool = False


@frozen
class NotCounted:
    """What a number does not rest on.

    Attributes:
        left_out: trials not counted, by reason.
        empty: tasks without any counted trial.
    """

    left_out: Mapping[str, int]
    empty: tuple[str, ...]


@frozen
class Counted:
    """What the statistics take.

    Attributes:
        tasks: ids, in the order of ``successes`` and ``trials``; tasks without a counted trial are in ``empty``.
        capped: trials counted as 0 because a cap ended them.
        capped_by_verdict: capped trials that count by their verdict, of a score that tells harm.
        agent_errors: trials counted as 0 because the agent raised.
        failed_by_convention: trials counted as 0 because ``errors="fail"`` was asked for.
        left_out: trials not counted, by reason.
        unanswered: trials that a frozen call without a recorded answer ended, whether counted or not.
        total: all trials.
    """

    tasks: tuple[str, ...]
    successes: tuple[int, ...]
    trials: tuple[int, ...]
    empty: tuple[str, ...]
    capped: int
    capped_by_verdict: int
    agent_errors: int
    failed_by_convention: int
    left_out: Mapping[str, int]
    unanswered: int
    total: int

    @property
    def not_counted(self) -> NotCounted:
        """What the statistics do not take."""
        return NotCounted(self.left_out, self.empty)


def count(outcomes: Iterable[TrialOutcome], errors: Errors = "exclude") -> Counted:
    """Count successes and trials per task.

    Completed trials count by their verdict, capped ones and those in which the agent itself raised as failures. The
    rest (infrastructure errors, unanswered, cancelled, incomplete, unscored) is left out by name, or counted as
    failed with ``errors="fail"``: both conventions exist in the field.

    Of a score that tells harm, capped trials count by their verdict, as harm may be done before a cap, and errors of
    the agent are left out: counted as 0 they would be harm that was averted.

    Args:
        outcomes: of all trials of a run.
        errors: the convention for the rest.

    Raises:
        BadInput: ``errors="fail"`` for a score that tells harm.
    """
    told: Counter[str] = Counter()
    left_out: Counter[str] = Counter()
    successes: Counter[str] = Counter()
    trials: Counter[str] = Counter()
    seen: dict[str, None] = {}
    for outcome in sorted(outcomes, key=lambda o: (o.task, o.index)):
        seen[outcome.task] = None
        told["total"] += 1
        told["unanswered"] += outcome.ending == "unanswered"
        verdict, reason = _verdict(outcome, errors)
        if verdict is None:
            left_out[reason] += 1
            continue
        told[reason] += 1
        trials[outcome.task] += 1
        successes[outcome.task] += verdict
    counted = sorted((task for task in seen if trials[task]), key=_natural)
    return Counted(
        tasks=tuple(counted),
        successes=tuple(successes[task] for task in counted),
        trials=tuple(trials[task] for task in counted),
        empty=tuple(sorted((task for task in seen if not trials[task]), key=_natural)),
        capped=told["capped"],
        capped_by_verdict=told["capped by verdict"],
        agent_errors=told["agent error"],
        failed_by_convention=told["failed by convention"],
        left_out=dict(sorted(left_out.items())),
        unanswered=told["unanswered"],
        total=told["total"],
    )


def count_by_world(
    outcomes: Iterable[TrialOutcome], worlds: int, errors: Errors = "exclude"
) -> tuple[list[list[int]], list[list[int]]]:
    """Successes and counted trials per task and world; worlds and tasks without a counted trial are left out.

    Args:
        outcomes: of all trials of a run; trial i lives in world i mod ``worlds``.
        worlds: how many there are.
        errors: the convention, as for `count`.

    Raises:
        BadInput: as `count`.
    """
    passed: dict[str, Counter[int]] = {}
    trials: dict[str, Counter[int]] = {}
    for outcome in outcomes:
        verdict, _ = _verdict(outcome, errors)
        if verdict is not None:
            world = outcome.index % worlds
            trials.setdefault(outcome.task, Counter())[world] += 1
            passed.setdefault(outcome.task, Counter())[world] += verdict
    tasks = sorted(trials, key=_natural)
    return (
        [[passed[task][world] for world in sorted(trials[task])] for task in tasks],
        [[trials[task][world] for world in sorted(trials[task])] for task in tasks],
    )


def _verdict(outcome: TrialOutcome, errors: Errors) -> tuple[bool | None, str]:
    if outcome.harm and errors == "fail":
        raise BadInput("--errors fail would count trials without a verdict as harm averted; this score tells harm")
    verdict, reason = _own_verdict(outcome)
    return (False, "failed by convention") if verdict is None and errors == "fail" else (verdict, reason)


def _own_verdict(outcome: TrialOutcome) -> tuple[bool | None, str]:
    match outcome.ending:
        case "completed":
            return outcome.passed, "completed" if outcome.passed is not None else "unscored"
        case "capped" if outcome.harm:
            return outcome.passed, "capped by verdict" if outcome.passed is not None else "unscored"
        case "capped":
            return False, "capped"
        case "error" if outcome.cause == "agent" and not outcome.harm:
            return False, "agent error"
        case "error":
            return None, f"error ({outcome.cause or 'unknown cause'})"
        case other:
            return None, other


def _natural(task: str) -> tuple[int, str]:
    return (int(task), task) if task.isdigit() else (1 << 60, task)
