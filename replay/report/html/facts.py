"""What a report tells of a run, read from its files and the index."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from attrs import frozen

from cassettes.errors import CassetteError, TrialtapeError
from cassettes.model import TrialId
from replay.analysis.costs import costs_of_trials
from replay.analysis.reliability import Errors
from replay.analysis.run_stats import RunStats, run_stats
from replay.prices import prices_of
from replay.runs import RunFile, load_run
from replay.scores.scorefile import KeptScore, read_scores
from replay.spending import Cost
from replay.store import Store
from replay.view import View

from .signs import Sign, sign_of

__all__ = ["ModelUse", "RunFacts", "TrialFacts", "facts_of", "newest_scores", "open_view"]

_TRIALS = """
SELECT t.id, t.task, t.idx, t.ending, t.cause, t.reason, t.steps, t.problem, t.digest, t.digests, t.began, s.passed
FROM trials t LEFT JOIN scores s ON s.trial = t.id AND s.scorer = ? AND s.version = ?
WHERE t.run = ?
"""
_MODELS = """
SELECT i.name, i.actor, COUNT(*) AS calls, SUM(i.billed) AS live, SUM(i.input_tokens) AS input,
       SUM(i.output_tokens) AS output, SUM(i.input_tokens IS NULL OR i.output_tokens IS NULL) AS untold
FROM trials t JOIN interactions i ON i.trial = t.id
WHERE t.run = ? AND i.kind = 'model'
GROUP BY i.name, i.actor ORDER BY i.actor, i.name
"""


@frozen
class TrialFacts:
    """One trial, as the index knows it.

    Attributes:
        number: its place in the page, by task and index.
        digest: of its cassette; None if it has no end.
        digests: of the parts of its task.
        began: Unix time in seconds, None if it is not known.
    """

    number: int
    id: str
    task: str
    index: int
    ending: str
    cause: str | None
    reason: str | None
    passed: bool | None
    steps: int
    problem: str | None
    digest: str | None
    digests: Mapping[str, Any]
    began: float | None

    @property
    def sign(self) -> Sign:
        """How its outcome is told."""
        return sign_of(self.ending, self.passed)


@frozen
class ModelUse:
    """What the calls of one model by one actor used; ``live`` of them were billed, ``untold`` told no usage."""

    name: str
    actor: str
    calls: int
    live: int
    input: int | None
    output: int | None
    untold: int


@frozen
class RunFacts:
    """A run with its numbers, its trials by task and index, its models and its costs by trial."""

    stats: RunStats
    file: RunFile
    trials: tuple[TrialFacts, ...]
    models: tuple[ModelUse, ...]
    costs: Mapping[str, Cost]
    attempts: int


def facts_of(store: Store, run: str, score: str | None = None, errors: Errors = "exclude") -> RunFacts:
    """Everything about a run but the steps of its trials.

    Args:
        store: an index that is up to date.
        run: the run's name.
        score: ``NAME`` or ``NAME@VERSION``; None takes the run's primary one.
        errors: whether trials without a verdict are left out or counted as failed.

    Raises:
        BadInput: there is no such run or score, or no trial that can be counted.
    """
    stats = run_stats(store, run, score, errors)
    file = load_run(store.home, run)
    scorer, _, version = stats.score.partition("@")
    rows = sorted(store.rows(_TRIALS, [scorer, version, run]), key=lambda row: (_natural(row["task"]), row["idx"]))
    return RunFacts(
        stats=stats,
        file=file,
        trials=tuple(_trial(number, row) for number, row in enumerate(rows)),
        models=tuple(ModelUse(**row) for row in store.rows(_MODELS, [run])),
        costs=costs_of_trials(store, run, prices_of(file.about))[0],
        attempts=store.home.attempts(run),
    )


def newest_scores(facts: RunFacts, store: Store) -> dict[str, list[KeptScore]]:
    """The newest score of each scorer, by trial; the one that counts comes first."""
    digests = {trial.id: trial.digest for trial in facts.trials}
    kept: dict[str, dict[str, KeptScore]] = {}
    for score in read_scores(store.home, facts.stats.run):
        if score.trial in digests and digests[score.trial] == score.digest:
            kept.setdefault(score.trial, {})[f"{score.scorer}@{score.version}"] = score
    counts = facts.stats.score
    return {
        trial: sorted(by_name.values(), key=lambda s: (f"{s.scorer}@{s.version}" != counts, s.scorer, s.version))
        for trial, by_name in kept.items()
    }


def open_view(store: Store, trial: str) -> View | None:
    """The trial's view; None if its cassette cannot be read, which the index has told."""
    try:
        return View(store.home.cassette(TrialId.parse(trial)), store.home)
    except (CassetteError, TrialtapeError):
        return None


def _trial(number: int, row: Mapping[str, Any]) -> TrialFacts:
    return TrialFacts(
        number=number,
        id=row["id"],
        task=row["task"],
        index=row["idx"],
        ending=row["ending"],
        cause=row["cause"],
        reason=row["reason"],
        passed=None if row["passed"] is None else bool(row["passed"]),
        steps=row["steps"] or 0,
        problem=row["problem"],
        digest=row["digest"],
        digests=json.loads(row["digests"] or "{}"),
        began=row["began"] or None,
    )


def _natural(task: str) -> tuple[int, str]:
    return (int(task), task) if task.isdigit() else (1 << 60, task)
