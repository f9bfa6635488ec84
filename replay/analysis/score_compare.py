"""Two scorers on the same trials: where they disagree, and what that does to pass^k."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from attrs import asdict, frozen

from cassettes.errors import BadInput
from replay.runs import load_run
from replay.stats import McNemar, Paired, clustered_mcnemar, paired_differences
from replay.store import Store

from .outcomes import Outcomes, outcomes_of
from .reliability import Counted, Errors, count

__all__ = ["Flip", "ScoreComparison", "compare_scores"]


@frozen
class Flip:
    """A trial on which the scorers disagree.

    Attributes:
        a: the first one's verdict: True if the trial passed.
        b: the second one's.
    """

    trial: str
    a: bool
    b: bool


@frozen
class ScoreComparison:
    """The second score of a run against the first.

    Attributes:
        scores: both, as ``name@version``.
        tasks: tasks with trials that both scores count.
        trials: trials that both scores count.
        both_passed: of these, trials that both pass.
        both_failed: trials that both fail.
        left_out: trials that one score or both do not count, by reason.
        flips: the other trials.
        mcnemar: do they lean in one direction? Tasks are clusters.
        paired: change in pass^k, the second less the first.
    """

    run: str
    scores: tuple[str, str]
    errors: Errors
    tasks: int
    trials: int
    both_passed: int
    both_failed: int
    left_out: dict[str, int]
    flips: tuple[Flip, ...]
    mcnemar: McNemar
    paired: Paired

    def to_dict(self) -> dict[str, Any]:
        """The same as JSON-like data."""
        return asdict(self)


def compare_scores(
    store: Store, run: str, scores: tuple[str, str], *, errors: Errors = "exclude", ks: Sequence[int] = ()
) -> ScoreComparison:
    """Compare two scores of one run, on the trials that both count.

    Args:
        store: an index that is up to date.
        run: the run's name.
        scores: two of ``NAME`` or ``NAME@VERSION``.
        errors: whether trials without a verdict are left out or counted as failed.
        ks: which k are wanted; none means all.

    Raises:
        BadInput: a run or score is not there; both are the same; no trial has both; a task has fewer than k.
    """
    file = load_run(store.home, run)
    a, b = (outcomes_of(store, file, score) for score in scores)
    if a.score == b.score:
        raise BadInput(f"{a.score} is compared with itself; name two scores, or two versions of one")
    verdicts = [_verdicts(found, errors) for found in (a, b)]
    common = verdicts[0].keys() & verdicts[1].keys()
    if not common:
        raise BadInput(f"run {run!r} has no trial that both {a.score} and {b.score} count")
    first, second = (
        count((outcome for trial, outcome in found.trials.items() if trial in common), errors) for found in (a, b)
    )
    _check_ks(ks, first)
    flips = [
        Flip(trial, verdicts[0][trial], verdicts[1][trial])
        for trial in a.trials
        if trial in common and verdicts[0][trial] != verdicts[1][trial]
    ]
    sides = {side: Counter(a.trials[flip.trial].task for flip in flips if flip.a is side) for side in (True, False)}
    passed = sum(verdicts[0][trial] and verdicts[1][trial] for trial in common)
    return ScoreComparison(
        run=run,
        scores=(a.score, b.score),
        errors=errors,
        tasks=len(first.tasks),
        trials=len(common),
        both_passed=passed,
        both_failed=len(common) - passed - len(flips),
        left_out=_left_out(a, b, [{*v} for v in verdicts]),
        flips=tuple(sorted(flips, key=lambda flip: (a.trials[flip.trial].task, a.trials[flip.trial].index))),
        mcnemar=clustered_mcnemar(
            [sides[True][task] for task in first.tasks], [sides[False][task] for task in first.tasks], first.trials
        ),
        paired=paired_differences(first.successes, first.trials, second.successes, second.trials, ks or None),
    )


def _verdicts(found: Outcomes, errors: Errors) -> dict[str, bool]:
    """What each counted trial counts as."""
    alone = {trial: count([outcome], errors) for trial, outcome in found.trials.items()}
    return {trial: bool(counted.successes[0]) for trial, counted in alone.items() if counted.tasks}


def _left_out(a: Outcomes, b: Outcomes, counted: Sequence[set[str]]) -> dict[str, int]:
    reasons: Counter[str] = Counter()
    for found, here, there in ((a, counted[0], counted[1]), (b, counted[1], counted[0])):
        for trial, outcome in found.trials.items():
            if trial not in here:
                reason = next(iter(count([outcome]).left_out))
                reasons[f"{reason} by {found.score}" if trial in there else f"{reason} by both"] += 1
    return {reason: n // 2 if reason.endswith(" by both") else n for reason, n in sorted(reasons.items())}


def _check_ks(ks: Sequence[int], counted: Counted) -> None:
    task, n = min(zip(counted.tasks, counted.trials, strict=True), key=lambda item: item[1])
    if ks and max(ks) > n:
        raise BadInput(f"k = {max(ks)} needs as many trials with both verdicts of every task, but {task!r} has {n}")
