"""What must be known of a number before anybody builds on it: one page about one run."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from attrs import asdict, frozen

from replay.labelling.agreement import Agreement, agreement
from replay.runs import load_run
from replay.stats import SummaryRow
from replay.store import Store

from .run_settings import settings_of
from .run_stats import RunStats
from .task_pairs import definitions_of

__all__ = ["Card", "OtherRun", "OtherScore", "card_of"]

_OTHERS = """
SELECT a.trial, a.passed AS mine, b.passed AS other, b.scorer || '@' || b.version AS score
FROM scores a JOIN scores b ON b.trial = a.trial AND b.run = a.run
WHERE a.run = ? AND a.scorer || '@' || a.version = ? AND score <> a.scorer || '@' || a.version
  AND a.passed IS NOT NULL AND b.passed IS NOT NULL
ORDER BY score, a.trial
"""
_LABELLED = """
SELECT COUNT(DISTINCT trial) AS trials, COUNT(DISTINCT author) AS authors FROM labels
WHERE run = ? AND source = 'person'
"""
_DAYS = "SELECT MIN(began) AS first, MAX(began) AS last FROM trials WHERE run = ? AND began > 0"


@frozen
class OtherScore:
    """Another score of the same trials, and how far it agrees with the one that counts."""

    score: str
    agreement: Agreement


@frozen
class OtherRun:
    """Another run here of tasks that are the same.

    Attributes:
        tasks: how many tasks are the same, by digest.
        live: nothing in it is frozen or imported.
    """

    run: str
    tasks: int
    live: bool


@frozen
class Card:
    """The answers to four questions about a run's number.

    Attributes:
        first: the row of pass^1; None if only bounds are told.
        last: the row of the largest k; None if only bounds are told.
        mode: ``record`` (run here, everything live), ``freeze``, ``import``, ...
        began: day of the first trial, in UTC, as ISO 8601; None if unknown.
        ended: day of the last one.
        models: that were asked, by actor.
        scores: other scores of the same trials.
        labelled: trials that people labelled, and by how many of them.
        runs: other runs of the same tasks.
    """

    stats: RunStats
    first: SummaryRow | None
    last: SummaryRow | None
    mode: str
    source: str | None
    began: str | None
    ended: str | None
    models: Mapping[str, list[str]]
    packages: Mapping[str, str]
    commit: str | None
    scores: tuple[OtherScore, ...]
    labelled: tuple[int, int]
    runs: tuple[OtherRun, ...]

    def to_dict(self) -> dict[str, Any]:
        """The same as JSON-like data, without the statistics of the run."""
        document = asdict(self, filter=lambda attribute, _: attribute.name not in {"stats", "first", "last"})
        document["scores"] = [
            {
                "score": other.score,
                "trials": other.agreement.n,
                "observed": other.agreement.observed,
                "kappa": other.agreement.kappa,
            }
            for other in self.scores
        ]
        return document


def card_of(store: Store, stats: RunStats) -> Card:
    """Gather what the card tells.

    Args:
        store: an index that is up to date for all runs.
        stats: of the run.

    Raises:
        CassetteError: a run's file cannot be read.
    """
    file = load_run(store.home, stats.run)
    days = store.rows(_DAYS, [stats.run])[0]
    labelled = store.rows(_LABELLED, [stats.run])[0]
    settings = settings_of(store, file, stats.score, ())
    git = file.about.get("git")
    rows = () if stats.summary is None else stats.summary.rows
    return Card(
        stats=stats,
        first=next((row for row in rows if row.k == 1), None),
        last=rows[-1] if rows else None,
        mode=str(file.config.get("mode", "unknown")),
        source=file.about.get("file") or file.config.get("source"),
        began=_day(days["first"]),
        ended=_day(days["last"]),
        models={
            "agent": settings["model"] or ([file.config["agent_model"]] if file.config.get("agent_model") else []),
            "user": settings["user-model"],
            "others": settings["other-models"],
        },
        packages=file.about.get("packages", {}),
        commit=git["commit"] if git else None,
        scores=tuple(_other_scores(store, stats)),
        labelled=(labelled["trials"], labelled["authors"]),
        runs=tuple(_other_runs(store, stats.run)),
    )


def _other_scores(store: Store, stats: RunStats) -> list[OtherScore]:
    pairs: dict[str, list[tuple[str, str]]] = {}
    for row in store.rows(_OTHERS, [stats.run, stats.score]):
        pairs.setdefault(row["score"], []).append((_word(row["mine"]), _word(row["other"])))
    return [OtherScore(score, agreement(found)) for score, found in sorted(pairs.items())]


def _other_runs(store: Store, run: str) -> list[OtherRun]:
    mine = definitions_of(store, run)
    found = []
    for name in store.home.runs():
        if name == run:
            continue
        theirs = definitions_of(store, name)
        same = sum(bool(any(parts.values())) and theirs.get(task) == parts for task, parts in mine.items())
        if same:
            found.append(OtherRun(name, same, load_run(store.home, name).config.get("mode") == "record"))
    return found


def _word(passed: int) -> str:
    return "passed" if passed else "failed"


def _day(seconds: float | None) -> str | None:
    return None if not seconds else datetime.fromtimestamp(seconds, UTC).date().isoformat()
