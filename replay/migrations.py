"""The index's schema, step by step; a step that has run is never changed."""

from __future__ import annotations

from sqlite_utils import Database, Migrations

__all__ = ["MIGRATIONS"]

MIGRATIONS = Migrations("trialtape")


@MIGRATIONS()
def m001_tables(db: Database) -> None:
    """Runs, trials, interactions and scores."""
    db.table("runs").create(
        {
            "name": str,
            "mode": str,
            "source": str,
            "created": str,
            "primary_score": str,
            "config": str,
            "about": str,
            "scores_seen": str,
        },
        pk="name",
    )
    db.table("trials").create(
        {
            "id": str,
            "run": str,
            "task": str,
            "idx": int,
            "path": str,
            "ending": str,
            "reason": str,
            "cause": str,
            "began": float,
            "seconds": float,
            "steps": int,
            "model_calls": int,
            "tool_calls": int,
            "writes": int,
            "input_tokens": int,
            "output_tokens": int,
            "coverage": str,
            "tags": str,
            "digests": str,
            "instruction": str,
            "digest": str,
            "problem": str,
            "mtime_ns": int,
            "size": int,
        },
        pk="id",
    )
    db.table("trials").create_index(["run", "task", "idx"])
    db.table("interactions").create(
        {
            "trial": str,
            "step": int,
            "kind": str,
            "actor": str,
            "name": str,
            "effect": str,
            "external": int,
            "arguments": str,
            "result": str,
            "tool_calls": str,
            "error": str,
            "at": float,
            "seconds": float,
            "input_tokens": int,
            "output_tokens": int,
            "origin": str,
            "answered_by": str,
            "parent": int,
        },
        pk=("trial", "step"),
    )
    db.table("scores").create(
        {
            "run": str,
            "trial": str,
            "scorer": str,
            "version": str,
            "value": float,
            "passed": int,
            "evidence": str,
            "digest": str,
            "at": str,
        },
        pk=("trial", "scorer", "version"),
    )
    db.table("scores").create_index(["run", "scorer", "version"])


@MIGRATIONS()
def m002_views(db: Database) -> None:
    """What people look at first, also in datasette."""
    db.create_view(
        "pass_by_task",
        """
        SELECT t.run, t.task, s.scorer, s.version, COUNT(*) AS trials, SUM(s.passed) AS passed,
               SUM(t.ending = 'capped') AS capped
        FROM trials t JOIN scores s ON s.trial = t.id
        GROUP BY t.run, t.task, s.scorer, s.version
        """,
    )
    db.create_view(
        "failing_trials",
        """
        SELECT t.id, t.run, t.task, t.ending, t.reason, s.scorer, s.version, s.evidence
        FROM trials t LEFT JOIN scores s ON s.trial = t.id
        WHERE s.passed = 0 OR t.ending <> 'completed'
        """,
    )


@MIGRATIONS()
def m003_costs(db: Database) -> None:
    """What costs are made of; the rows are made anew from the cassettes, which hold it."""
    db.table("interactions").add_column("cached_tokens", int)
    db.table("interactions").add_column("billed", int)
    db.table("interactions").add_column("written_tokens", int)
    for table in ("interactions", "trials"):
        db.execute(f"DELETE FROM {table}")  # noqa: S608  # names are ours


@MIGRATIONS()
def m004_search(db: Database) -> None:
    """Full text over the steps.

    The table is made anew, with a key of its own (the rows of the full-text index name it, and a rowid that is no key
    may change), and with the long texts last: a query for numbers need not read past them.
    """
    db.table("interactions").drop()
    db.table("interactions").create(
        {
            "id": int,
            "trial": str,
            "step": int,
            "kind": str,
            "actor": str,
            "name": str,
            "effect": str,
            "external": int,
            "at": float,
            "seconds": float,
            "input_tokens": int,
            "output_tokens": int,
            "cached_tokens": int,
            "written_tokens": int,
            "billed": int,
            "origin": str,
            "answered_by": str,
            "parent": int,
            "error": str,
            "arguments": str,
            "tool_calls": str,
            "result": str,
            "messages": str,
            "unescaped": str,
        },
        pk="id",
    )
    db.table("interactions").create_index(["trial", "step"], unique=True)
    # External content: the index holds words only, the texts stay in the table; triggers keep the two together.
    db.table("interactions").enable_fts(
        ["name", "arguments", "tool_calls", "result", "error", "messages", "unescaped"],
        tokenize="unicode61 remove_diacritics 2",
        create_triggers=True,
    )
    db.execute("DELETE FROM trials")  # so that the rows are made anew from the cassettes


@MIGRATIONS()
def m005_labels(db: Database) -> None:
    """What people say of trials."""
    db.table("labels").create(
        {
            "trial": str,
            "author": str,
            "run": str,
            "fault": str,
            "type": str,
            "step": int,
            "note": str,
            "digest": str,
            "at": str,
        },
        pk=("trial", "author"),
    )
    db.table("labels").create_index(["run", "fault"])
    db.table("runs").add_column("labels_seen", str)


@MIGRATIONS()
def m006_judges(db: Database) -> None:
    """Labels of judges beside those of people, and what is said of the user."""
    db.table("labels").add_column("source", str)
    db.table("labels").add_column("user_error", str)
    db.execute("UPDATE runs SET labels_seen = NULL")  # so that the rows are made anew from the files


@MIGRATIONS()
def m007_injected(db: Database) -> None:
    """What was put into results on purpose; cassettes from before hold nothing of it."""
    db.table("interactions").add_column("injected", str)
