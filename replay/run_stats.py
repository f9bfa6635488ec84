"""The reliability of one run, from the index: what ``trialtape stats`` tells."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from attrs import asdict, evolve, frozen

from cassettes.errors import BadInput

from .costs import costs_of_trials
from .prices import prices_of
from .reliability import Counted, Errors, TrialOutcome, count
from .runs import RunFile, load_run
from .spending import Cost
from .stats import Summary, summary
from .store import Store

__all__ = ["Coverage", "RunStats", "run_stats"]

_MOST_UNANSWERED = 0.10  # above this share only bounds are told: the unanswered are not missing at random

_OUTCOMES = """
SELECT t.task, t.idx, t.ending, t.cause, t.coverage, t.writes, s.passed
FROM trials t LEFT JOIN scores s ON s.trial = t.id AND s.scorer = ? AND s.version = ?
WHERE t.run = ?
"""
_SCORERS = "SELECT scorer, version, MAX(at) AS at, COUNT(*) AS n FROM scores WHERE run = ? GROUP BY scorer, version"


@frozen
class Coverage:
    """How the frozen calls of a run were answered.

    Attributes:
        verdicts: calls by verdict.
        whole: trials all of whose frozen calls were answered, of ``trials`` with frozen calls.
        whole_with_write, with_write: the same among trials that wrote.
    """

    verdicts: Mapping[str, int]
    trials: int
    whole: int
    with_write: int
    whole_with_write: int


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
        cost: of the trials' live model calls; replaced attempts are not in it.
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
    cost: Cost

    def to_dict(self) -> dict[str, Any]:
        """The same as JSON-like data."""
        document = asdict(self)
        document["bounds"] = [{"k": k, "low": low, "high": high} for k, low, high in self.bounds]
        document["cost"] = self.cost.to_dict()
        return document


def run_stats(
    store: Store, run: str, score: str | None = None, errors: Errors = "exclude", ks: Sequence[int] = ()
) -> RunStats:
    """The reliability of a run by one score.

    Args:
        store: an index that is up to date.
        run: the run's name.
        score: ``NAME`` or ``NAME@VERSION``; None takes the run's primary one.
        errors: whether trials without a verdict are left out or counted as failed.
        ks: which k are wanted; none means all.

    Raises:
        BadInput: there is no such run, no such score, no trial that can be counted, or a task has fewer than k.
    """
    file = load_run(store.home, run)
    scorer, version = _resolve(store, file, score)
    rows = store.rows(_OUTCOMES, [scorer, version, run])
    if not rows:
        raise BadInput(f"run {run!r} has no trial yet")
    outcomes = [
        TrialOutcome(r["task"], r["idx"], r["ending"], r["cause"], None if r["passed"] is None else bool(r["passed"]))
        for r in rows
    ]
    counted = count(outcomes, errors)
    _check_ks(ks, counted)
    bounded = counted.unanswered > 0
    hidden = counted.unanswered > _MOST_UNANSWERED * counted.total and errors == "exclude"
    if not counted.tasks and not bounded:
        raise BadInput(f"run {run!r}: no trial can be counted by {scorer}@{version}: {_told(counted.left_out)}")
    return RunStats(
        run=run,
        score=f"{scorer}@{version}",
        errors=errors,
        counted=counted,
        summary=_only(summary(counted.successes, counted.trials), ks) if counted.tasks and not hidden else None,
        bounds=tuple(bound for bound in _bounds(outcomes) if not ks or bound[0] in ks) if bounded else (),
        capped_right=sum(1 for o in outcomes if o.ending == "capped" and o.passed),
        coverage=_coverage(rows),
        worlds=file.config.get("source"),
        cost=costs_of_trials(store, run, prices_of(file.about))[1],
    )


def _check_ks(ks: Sequence[int], counted: Counted) -> None:
    for k in ks:
        short = [(task, n) for task, n in zip(counted.tasks, counted.trials, strict=True) if n < k]
        if short:
            task, n = short[0]
            more = f" (and {len(short) - 1} other tasks)" if len(short) > 1 else ""
            raise BadInput(f"k = {k} needs {k} counted trials of every task, but task {task!r} has {n}{more}")


def _only(whole: Summary, ks: Sequence[int]) -> Summary:
    return evolve(whole, rows=tuple(row for row in whole.rows if row.k in ks)) if ks else whole


def _resolve(store: Store, file: RunFile, score: str | None) -> tuple[str, str]:
    rows = store.rows(_SCORERS, [file.name])
    known = ", ".join(sorted(f"{r['scorer']}@{r['version']}" for r in rows)) or "none"
    wanted = score or file.primary
    if wanted is None:
        if len(rows) != 1:
            raise BadInput(
                f"run {file.name!r} has no primary score: `trialtape score {file.name} --with FILE.py:NAME` makes one, "
                f"--score names it (known: {known})"
            )
        return rows[0]["scorer"], rows[0]["version"]
    name, _, version = wanted.partition("@")
    found = [r for r in rows if r["scorer"] == name and version in {"", r["version"]}]
    if not found and score is None and version:
        return name, version  # no trial of the run was scored: what is left out says why
    if not found:
        raise BadInput(f"run {file.name!r} has no score {wanted!r} (known: {known}); `trialtape score` makes scores")
    newest = max(found, key=lambda r: str(r["at"]))
    return newest["scorer"], newest["version"]


def _bounds(outcomes: Sequence[TrialOutcome]) -> tuple[tuple[int, float, float], ...]:
    """pass^k if all unanswered trials had failed, and if all had passed."""
    ends = []
    for verdict in (False, True):
        filled = [
            o if o.ending != "unanswered" else TrialOutcome(o.task, o.index, "completed", None, verdict)
            for o in outcomes
        ]
        counted = count(filled)
        ends.append({r.k: r.pass_hat_k for r in summary(counted.successes, counted.trials, resamples=1).rows})
    return tuple((k, ends[0][k], ends[1][k]) for k in ends[0])


def _coverage(rows: Sequence[Mapping[str, Any]]) -> Coverage | None:
    verdicts: Counter[str] = Counter()
    trials = whole = with_write = whole_with_write = 0
    for row in rows:
        covered = json.loads(row["coverage"] or "{}")
        if not covered and row["ending"] != "unanswered":
            continue
        verdicts.update(covered)
        wrote = bool(row["writes"])
        answered = row["ending"] != "unanswered" and not covered.get("stale") and not covered.get("missed")
        trials += 1
        whole += answered
        with_write += wrote
        whole_with_write += wrote and answered
    if not trials:
        return None
    return Coverage(dict(verdicts), trials, whole, with_write, whole_with_write)


def _told(left_out: Mapping[str, int]) -> str:
    return ", ".join(f"{number} {reason}" for reason, number in left_out.items())
