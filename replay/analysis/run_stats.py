"""The reliability of one run, from the index: what ``trialtape stats`` tells."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from attrs import asdict, evolve, frozen

from cassettes.errors import BadInput
from replay.independence import Leak
from replay.leakfile import Independence, known_independence
from replay.prices import prices_of
from replay.runs import load_run
from replay.scores.blindness import blind_to
from replay.spending import Cost
from replay.stats import MeanReward, Summary, WorldSummary, mean_reward, summary, world_summary
from replay.store import Store

from .costs import costs_of_trials
from .outcomes import outcome_of, resolve_score
from .reliability import MOST_UNANSWERED, Counted, Errors, TrialOutcome, count, count_by_world
from .run_coverage import Coverage, coverage_of_rows

__all__ = ["RunStats", "run_stats"]


_ALMOST_ONE = 1e-6  # what a score takes for 1

_OUTCOMES = """
SELECT t.id, t.digest, t.task, t.idx, t.ending, t.cause, t.coverage, t.writes, s.passed, s.value
FROM trials t LEFT JOIN scores s ON s.trial = t.id AND s.scorer = ? AND s.version = ?
WHERE t.run = ?
"""


@frozen
class RunStats:
    """What is known of a run's reliability.

    Attributes:
        counted: what the numbers rest on, and what was left out.
        summary: the numbers; None if only bounds may be told, or nothing can be counted.
        bounds: with unanswered trials, pass^k by k if all of them had failed, and if all had passed.
        capped_right: capped trials (counted as 0) that the score would have passed.
        coverage: of a frozen run.
        worlds: of a frozen run, the source whose recorded worlds the numbers are given.
        shared: pass^k across and within worlds, where trials share worlds: these are never pooled, so there is no
            ``summary`` then.
        leaks: what the last check found that trials show of each other; ``unchecked`` trials came or changed since.
        threshold: value from which a trial counts as passed; None leaves it to the scorer.
        reward: mean of the values of completed trials, if they are not only 0 and 1.
        cost: of the trials' live model calls; replaced attempts are not in it.
        blind_to: what the score cannot see; None if its scorer does not tell.
    """

    run: str
    score: str
    errors: Errors
    counted: Counted
    summary: Summary | None
    bounds: tuple[tuple[int, float, float], ...]
    capped_right: int
    coverage: Coverage | None
    worlds: str | None
    shared: WorldSummary | None
    leaks: tuple[Leak, ...]
    unchecked: int
    threshold: float | None
    reward: MeanReward | None
    cost: Cost
    blind_to: tuple[str, ...] | None = None

    def to_dict(self) -> dict[str, Any]:
        """The same as JSON-like data."""
        document = asdict(self)
        document["bounds"] = [{"k": k, "low": low, "high": high} for k, low, high in self.bounds]
        document["cost"] = self.cost.to_dict()
        return document


def run_stats(
    store: Store,
    run: str,
    score: str | None = None,
    errors: Errors = "exclude",
    ks: Sequence[int] = (),
    threshold: float | None = None,
) -> RunStats:
    """The reliability of a run by one score.

    Args:
        store: an index that is up to date.
        run: the run's name.
        score: ``NAME`` or ``NAME@VERSION``; None takes the run's primary one.
        errors: whether trials without a verdict are left out or counted as failed.
        ks: which k are wanted; none means all.
        threshold: value from which a trial counts as passed; None leaves it to the scorer.

    Raises:
        BadInput: there is no such run, no such score, no trial that can be counted, or a task has fewer than k.
    """
    file = load_run(store.home, run)
    scorer, version = resolve_score(store, file, score)
    rows = store.rows(_OUTCOMES, [scorer, version, run])
    if not rows:
        raise BadInput(f"run {run!r} has no trial yet")
    outcomes = [outcome_of(row, scorer, threshold) for row in rows]
    counted = count(outcomes, errors)
    _check_ks(ks, counted)
    checked = known_independence(store.home, run)
    worlds = int(file.config.get("worlds") or 0)
    shares = bool(worlds) and counted.total > worlds * len({o.task for o in outcomes})
    bounded = counted.unanswered > 0
    hidden = counted.unanswered > MOST_UNANSWERED * counted.total and errors == "exclude"
    summed = counted.tasks and not hidden
    if not counted.tasks and not bounded:
        raise BadInput(f"run {run!r}: no trial can be counted by {scorer}@{version}: {_told(counted.left_out)}")
    return RunStats(
        run=run,
        score=f"{scorer}@{version}",
        errors=errors,
        counted=counted,
        summary=_only(summary(counted.successes, counted.trials), ks) if summed and not shares else None,
        bounds=tuple(b for b in _bounds(outcomes, worlds if shares else 0) if not ks or b[0] in ks) if bounded else (),
        capped_right=sum(1 for o in outcomes if o.ending == "capped" and o.passed),
        coverage=coverage_of_rows(rows, file.config.get("emulator")),
        worlds=file.config.get("source"),
        threshold=threshold,
        reward=_reward(rows),
        shared=world_summary(*count_by_world(outcomes, worlds, errors)) if summed and shares else None,
        leaks=() if checked is None else checked.leaks,
        unchecked=0 if checked is None else _unchecked(rows, checked),
        cost=costs_of_trials(store, run, prices_of(file.about))[1],
        blind_to=blind_to(store.home, run, f"{scorer}@{version}"),
    )


def _unchecked(rows: Sequence[Mapping[str, Any]], checked: Independence) -> int:
    return sum(1 for row in rows if checked.trials.get(row["id"]) != row["digest"])


def _reward(rows: Sequence[Mapping[str, Any]]) -> MeanReward | None:
    """The mean of the values, if any is neither 0 nor 1."""
    values: dict[str, list[float]] = {}
    for row in rows:
        if row["ending"] == "completed" and row["value"] is not None:
            values.setdefault(row["task"], []).append(row["value"])
    graded = any(min(abs(value), abs(value - 1)) > _ALMOST_ONE for of in values.values() for value in of)
    return mean_reward(list(values.values())) if graded else None


def _check_ks(ks: Sequence[int], counted: Counted) -> None:
    for k in ks:
        short = [(task, n) for task, n in zip(counted.tasks, counted.trials, strict=True) if n < k]
        if short:
            task, n = short[0]
            more = f" (and {len(short) - 1} other tasks)" if len(short) > 1 else ""
            raise BadInput(f"k = {k} needs {k} counted trials of every task, but task {task!r} has {n}{more}")


def _only(whole: Summary, ks: Sequence[int]) -> Summary:
    return evolve(whole, rows=tuple(row for row in whole.rows if row.k in ks)) if ks else whole


def _bounds(outcomes: Sequence[TrialOutcome], worlds: int) -> tuple[tuple[int, float, float], ...]:
    """pass^k if all unanswered trials had failed, and if all had passed; of shared worlds the one across them."""
    ends = []
    for verdict in (False, True):
        filled = [
            o if o.ending != "unanswered" else TrialOutcome(o.task, o.index, "completed", None, verdict)
            for o in outcomes
        ]
        ends.append(_values(filled, worlds))
    return tuple((k, ends[0][k], ends[1][k]) for k in ends[0])


def _values(outcomes: Sequence[TrialOutcome], worlds: int) -> dict[int, float]:
    if worlds:
        shared = world_summary(*count_by_world(outcomes, worlds), resamples=1)
        return {row.k: row.across for row in shared.rows if row.across is not None}
    counted = count(outcomes)
    return {row.k: row.pass_hat_k for row in summary(counted.successes, counted.trials, resamples=1).rows}


def _told(left_out: Mapping[str, int]) -> str:
    return ", ".join(f"{number} {reason}" for reason, number in left_out.items())
