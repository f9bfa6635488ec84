"""Full-text search over the steps of all trials, from the index."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator, Sequence
from typing import Any

from attrs import frozen

from cassettes.errors import BadInput

from .query import Query
from .store import Store

__all__ = ["Filters", "Found", "Hit", "on_one_line", "search"]

_BEGIN, _END = "\x02", "\x03"  # around a match in what SQLite gives back; no text of a person has them
_PIECES = re.compile(f"{_BEGIN}([^{_BEGIN}{_END}]*){_END}")
_WORDS = 16  # of a snippet
# The columns of the full-text index in its order, with what a match weighs: a name says most, then what went wrong.
_COLUMNS = {
    "name": 4.0,
    "arguments": 1.0,
    "tool_calls": 1.0,
    "result": 1.0,
    "error": 2.0,
    "messages": 1.0,
    "unescaped": 1.0,
}
_WEIGHTS = ", ".join(map(str, _COLUMNS.values()))
_TEXT = "char(10) || i.name || char(10) || " + " || char(10) || ".join(
    f"COALESCE(i.{column}, '')" for column in ("arguments", "tool_calls", "result", "error", "messages")
)
# As in @last-fail and in pass^k: a verdict, a cap, or the agent's own exception.
_FAILED = """(
    t.ending = 'capped' OR (t.ending = 'error' AND t.cause = 'agent') OR (t.ending = 'completed' AND EXISTS (
        SELECT 1 FROM scores s JOIN runs r ON r.name = t.run
        WHERE s.trial = t.id AND s.scorer || '@' || s.version = r.primary_score AND s.passed = 0
    ))
)"""
_MATCHING = """
FROM interactions_fts JOIN interactions i ON i.id = interactions_fts.rowid JOIN trials t ON t.id = i.trial
WHERE interactions_fts MATCH ?
"""
_TELLING = ("error", "messages", "result", "arguments", "tool_calls", "unescaped")  # first of those that match as often
_PARTS = ", ".join(
    f"snippet(interactions_fts, {place}, char(2), char(3), '…', {_WORDS}) AS {column}_part"
    for place, column in enumerate(_COLUMNS)
)
_SNIPPET = f"""
SELECT i.trial, i.step, i.kind, i.actor, i.name, i.error IS NOT NULL AS failed, i.injected,
       {_PARTS}
FROM interactions_fts JOIN interactions i ON i.id = interactions_fts.rowid
WHERE interactions_fts MATCH ? AND interactions_fts.rowid = ?
"""  # noqa: S608  # names and numbers of ours


@frozen
class Filters:
    """Which steps are looked at; None and False leave nothing out.

    Attributes:
        tool: a pattern with ``*``, ``?`` and ``[...]`` for the names of tools.
        errors: only steps whose outcome is an error.
        failed: only steps of trials that failed by the run's primary score, were capped, or raised.
    """

    run: str | None = None
    task: str | None = None
    tool: str | None = None
    kind: str | None = None
    errors: bool = False
    failed: bool = False

    def conditions(self) -> Iterator[tuple[str, list[Any]]]:
        """The conditions in SQL, each with its parameters."""
        if self.run is not None:
            yield "t.run = ?", [self.run]
        if self.task is not None:
            yield "t.task = ?", [self.task]
        if self.tool is not None:
            yield "i.kind = 'tool' AND i.name GLOB ?", [self.tool.replace("[!", "[^")]  # SQLite's sign for "not"
        if self.kind is not None:
            yield "i.kind = ?", [self.kind]
        if self.errors:
            yield "i.error IS NOT NULL", []
        if self.failed:
            yield _FAILED, []


@frozen
class Hit:
    """A step that matches.

    Attributes:
        snippet: the part that matches best, in pieces: each a text, and whether it is a match.
        rank: by bm25; lower is better.
        injected: what was put into its result on purpose; None as a rule.
    """

    trial: str
    step: int
    kind: str
    actor: str
    name: str
    error: bool
    snippet: tuple[tuple[str, bool], ...]
    rank: float
    injected: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """The same as JSON-like data; ``matches`` are the places of the matches in the snippet, end excluded."""
        matches, place = [], 0
        for text, match in self.snippet:
            if match:
                matches.append([place, place + len(text)])
            place += len(text)
        return {
            "trial": self.trial,
            "step": self.step,
            "kind": self.kind,
            "actor": self.actor,
            "name": self.name,
            "error": self.error,
            "snippet": "".join(text for text, _ in self.snippet),
            "matches": matches,
            "rank": self.rank,
            "injected": self.injected,
        }


@frozen
class Found:
    """What a search found.

    Attributes:
        hits: the best ones; those of one trial together, the trial with the best hit first.
        total: how many steps match, in ``trials`` trials.
    """

    hits: tuple[Hit, ...]
    total: int
    trials: int


def search(store: Store, query: Query, filters: Filters, limit: int) -> Found:
    """The steps that match, best first by bm25; equal ones by run, task, index and step.

    Args:
        store: an index that is up to date.
        query: what to look for.
        filters: where.
        limit: of the hits; all are counted.

    Raises:
        BadInput: the index is damaged.
    """
    sql, parameters = _MATCHING, [query.match]
    for condition, more in filters.conditions():
        sql += f" AND {condition}"
        parameters += more
    for literal in query.literals:
        sql += f" AND instr(lower({_TEXT}), lower(?)) > 0"
        parameters.append(literal)
    try:
        (counted,) = store.rows(f"SELECT COUNT(*) AS total, COUNT(DISTINCT i.trial) AS trials {sql}", parameters)
        best = store.rows(
            f"SELECT i.id, bm25(interactions_fts, {_WEIGHTS}) AS rank {sql} "
            "ORDER BY rank, t.run, t.task, t.idx, i.step LIMIT ?",
            [*parameters, limit],
        )
        hits = [_hit(store, query, row["id"], row["rank"]) for row in best]
    except sqlite3.DatabaseError as error:
        raise BadInput(
            f"the index {store.home.index} cannot be searched: {error}; delete it, and the next command makes it anew"
        ) from error
    first: dict[str, int] = {}
    for place, hit in enumerate(hits):
        first.setdefault(hit.trial, place)
    return Found(tuple(sorted(hits, key=lambda hit: first[hit.trial])), counted["total"], counted["trials"])


def _hit(store: Store, query: Query, key: int, rank: float) -> Hit:
    """A row with its snippet, which is made for what is shown only: it costs more than the match."""
    (row,) = store.rows(_SNIPPET, [query.match, key])
    return Hit(
        row["trial"],
        row["step"],
        row["kind"],
        row["actor"],
        row["name"],
        bool(row["failed"]),
        _pieces(_most_telling([row[f"{column}_part"] or "" for column in _TELLING])),
        rank,
        row["injected"],
    )


def _most_telling(snippets: Sequence[str]) -> str:
    """That with the most matches; of those without any, the first that says something: then the name matched."""
    return max(snippets, key=lambda snippet: (snippet.count(_BEGIN), bool(snippet)))


def _pieces(snippet: str) -> tuple[tuple[str, bool], ...]:
    parts = _PIECES.split(snippet)
    return tuple((text, bool(place % 2)) for place, part in enumerate(parts) if (text := on_one_line(part)))


def on_one_line(text: str) -> str:
    """The text on one line, without signs that steer a terminal."""
    return re.sub(r"\s+", " ", "".join(c if c.isprintable() or c.isspace() else " " for c in text))
