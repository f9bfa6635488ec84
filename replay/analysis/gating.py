"""Gates on runs: a run against a threshold, or against a baseline with a margin."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import zip_longest
from typing import Any

import numpy as np
from attrs import asdict, evolve, frozen

from cassettes.errors import BadInput
from replay.runs import load_run
from replay.stats import (
    Decision,
    WithinModel,
    chance_within_margin,
    gate,
    gate_difference,
    gate_difference_sequential,
    gate_sequential,
    trials_for_margin,
)
from replay.stats.gates import Verdict
from replay.stats.intervals import Target, few_of_a_kind
from replay.stats.tally import Floats, Tally
from replay.store import Store

from .conditions import Condition, refuse_impossible, scores_of, task_scores
from .outcomes import Outcomes, outcomes_of, refuse_harm, refuse_shared_worlds
from .reliability import Counted, Errors, NotCounted, TrialOutcome, count
from .run_compare import RunComparison
from .task_order import begun_in_order

__all__ = ["GateLine", "GateResult", "gate_against", "gate_run", "overall"]


@frozen
class GateLine:
    """One condition with its decision.

    Attributes:
        what: the condition as text.
        chance_if_alike: against a baseline on these tasks: the chance that a run exactly as good would pass.
        trials_for_80: of the same: trials per task of both runs with which that chance is 80%; None if unknown.
        bounds: of a run with unanswered trials: it was decided by the worse (or better) of both extremes.
    """

    what: str
    decision: Decision
    chance_if_alike: float | None = None
    trials_for_80: int | None = None
    bounds: bool = False


@frozen
class GateResult:
    """What came of a gate.

    Attributes:
        verdict: FAIL if a line fails, else UNDECIDED if one is undecided, else PASS.
        comparison: with the baseline, if there is one.
        tasks: that were counted.
        trials: that were counted.
        few_events: too few tasks, or too few of a kind, for bounds to be wrong as rarely as stated.
        not_counted: of the run; None beside a comparison, which tells it of both.
    """

    run: str
    score: str
    verdict: Verdict
    lines: tuple[GateLine, ...]
    tasks: int
    trials: int
    few_events: bool
    comparison: RunComparison | None = None
    not_counted: NotCounted | None = None

    def to_dict(self) -> dict[str, Any]:
        """The same as JSON-like data."""
        document = asdict(self)
        document["comparison"] = None if self.comparison is None else self.comparison.to_dict()
        return document


def gate_run(
    store: Store,
    run: str,
    conditions: Sequence[Condition],
    target: Target,
    *,
    score: str | None = None,
    errors: Errors = "exclude",
    alpha: float = 0.05,
    order: int | None = None,
) -> GateResult:
    """Hold a run against conditions.

    Unanswered trials are not missing at random: a run that has any passes only if it would with all of them failed, and
    fails only if it would with all of them passed.

    Args:
        store: an index that is up to date.
        run: the run's name.
        conditions: at least one.
        target: what they are about.
        score: which score counts; None takes the primary one.
        errors: the convention for trials without a verdict.
        alpha: chance of a wrong PASS, and of a wrong FAIL, of each condition.
        order: decide by an e-process over the tasks in the random order of this seed; None decides by bounds.

    Raises:
        BadInput: there is nothing to hold; a task has fewer than k counted trials; a condition cannot be passed; the
            score tells harm.
    """
    file = load_run(store.home, run)
    found = outcomes_of(store, file, score)
    refuse_harm(found.score)
    refuse_shared_worlds(file, found)
    counted = count(found.trials.values(), errors)
    extremes = _extremes(found, errors) if counted.unanswered and errors == "exclude" else (counted, counted)
    if not extremes[0].tasks:
        raise BadInput(f"run {run!r}: no trial can be counted by {found.score}")
    planned, begun = file.config.get("tasks", {}), {outcome.task for outcome in found.trials.values()}
    tasks = None if order is None else begun_in_order(planned, begun, order)
    lines = []
    for condition in conditions:
        for one in extremes:
            _check_k(condition.k, one, run)
        refuse_impossible(condition, len(extremes[0].tasks), min(extremes[0].trials), target, alpha, order is not None)
        worst, best = (_decide(condition, one, target, alpha, tasks) for one in extremes)
        lines.append(GateLine(str(condition), _both(worst, best), bounds=extremes[0] is not extremes[1]))
    return GateResult(
        run,
        found.score,
        overall(lines),
        tuple(lines),
        len(counted.tasks),
        sum(counted.trials),
        few_events=order is None and (not counted.tasks or few_of_a_kind(Tally.of(counted.successes, counted.trials))),
        not_counted=counted.not_counted,
    )


def gate_against(
    comparison: RunComparison, margin: float, target: Target, *, alpha: float = 0.05, order: int | None = None
) -> GateResult:
    """Hold a run against its baseline: it may be worse by no more than a margin, for each k of the comparison.

    Args:
        comparison: of the baseline with the run.
        margin: how much worse is still good.
        target: "fixed" for these tasks, "population" for tasks like these.
        alpha: chance of a wrong PASS, and of a wrong FAIL, for each k.
        order: decide by an e-process over the tasks in the random order of this seed; None decides by bounds.

    Raises:
        BadInput: bounds for these tasks are asked for, but trials share recorded worlds; the score tells harm.
    """
    refuse_harm(comparison.score[1])
    tasks = len(comparison.tasks)
    if comparison.shared_worlds and target == "fixed" and order is None:
        raise BadInput("trials share recorded worlds, so no bound holds for these tasks run again: --target population")
    lines = []
    for fixed, row in zip_longest(comparison.fixed, comparison.paired.rows):
        what = f"pass^{row.k} no more than {margin:g} below {comparison.a}"
        if order is not None:
            differences = task_scores(comparison.counts_b, row.k) - task_scores(comparison.counts_a, row.k)
            by_task = dict(zip(comparison.tasks, differences, strict=True))
            gone_through = _gone_through(by_task, _in_order(comparison, order))
            lines.append(GateLine(what, gate_difference_sequential(gone_through, margin, alpha=alpha)))
            continue
        decision = gate_difference(fixed if target == "fixed" else row, tasks, margin, alpha=alpha)
        chance = chance_within_margin(fixed.se, margin, alpha=alpha) if target == "fixed" else None
        needed = _trials_for_80(comparison.counts_a, row.k, margin, tasks, alpha) if chance is not None else None
        lines.append(GateLine(what, decision, chance, needed))
    return GateResult(
        comparison.b,
        comparison.score[1],
        overall(lines),
        tuple(lines),
        tasks,
        comparison.trials_b,
        few_events=order is None
        and any(
            few_of_a_kind(Tally.of(*zip(*counts, strict=True))) for counts in (comparison.counts_a, comparison.counts_b)
        ),
        comparison=comparison,
    )


def _decide(
    condition: Condition, counted: Counted, target: Target, alpha: float, order: Sequence[str] | None
) -> Decision:
    if order is None:
        return gate(
            counted.successes,
            counted.trials,
            condition.k,
            condition.at_least,
            target,
            metric=condition.metric,
            alpha=alpha,
        )
    values = scores_of(list(zip(counted.successes, counted.trials, strict=True)), condition)
    by_task = dict(zip(counted.tasks, values, strict=True))
    return gate_sequential(_gone_through(by_task, order), condition.at_least, alpha=alpha)


def _gone_through(by_task: Mapping[str, float], order: Sequence[str]) -> Floats:
    found = [by_task[task] for task in order if task in by_task]
    if not found:
        raise BadInput("there is no evidence yet: in the order of this seed no task that was begun has a counted trial")
    return np.array(found)


def _in_order(comparison: RunComparison, seed: int) -> list[str]:
    """The tasks of both runs, up to the first that one of them has not begun."""
    missing = {change.task for change in comparison.unpaired if change.change in {"added", "removed"}}
    others = {change.task for change in comparison.unpaired} - missing
    return begun_in_order(missing, {*comparison.tasks, *others}, seed)


def _both(worst: Decision, best: Decision) -> Decision:
    """The decision that holds whatever the unanswered trials would have been."""
    return worst if worst.verdict == best.verdict else evolve(worst, verdict="UNDECIDED", high=best.high)


def _extremes(found: Outcomes, errors: Errors) -> tuple[Counted, Counted]:
    def filled(verdict: bool) -> Counted:  # noqa: FBT001  # it is one
        return count(
            (
                o if o.ending != "unanswered" else TrialOutcome(o.task, o.index, "completed", None, verdict)
                for o in found.trials.values()
            ),
            errors,
        )

    return filled(False), filled(True)  # noqa: FBT003  # verdicts


def _trials_for_80(counts: Sequence[tuple[int, int]], k: int, margin: float, tasks: int, alpha: float) -> int | None:
    if margin <= 0:
        return None
    passed, tried = zip(*counts, strict=True)
    chances, shares = WithinModel.fit(Tally.of(passed, tried), k).chances
    return trials_for_margin(chances, tasks, k, margin, weights=shares, alpha=alpha)


def overall(lines: Sequence[GateLine]) -> Verdict:
    """FAIL if a line fails, else UNDECIDED if one is undecided or there is none, else PASS."""
    verdicts = {line.decision.verdict for line in lines}
    return "FAIL" if "FAIL" in verdicts else "PASS" if verdicts == {"PASS"} else "UNDECIDED"


def _check_k(k: int, counted: Counted, run: str) -> None:
    task, n = min(zip(counted.tasks, counted.trials, strict=True), key=lambda item: item[1])
    if n < k:
        raise BadInput(f"k = {k} needs as many counted trials of every task, but {task!r} has {n} in {run!r}")
