"""The index of all trials in SQLite: rebuilt from cassettes and scores at any time, so it owns nothing."""

from __future__ import annotations

import fcntl
import json
import os
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import sqlite_utils
from attrs import frozen

from cassettes.errors import BadInput, CassetteError, TrialtapeError
from cassettes.model import TrialId

from .home import Home
from .labelling.labels import Label, current, read_labels
from .migrations import MIGRATIONS
from .rows import INTERACTION_COLUMNS, UNREADABLE, Row, clean, rows_of, unreadable_row
from .runs import load_run
from .scores.scorefile import KeptScore, read_scores
from .view import View

__all__ = ["Store", "Trouble"]

_INTERACTIONS = (  # their key is given by SQLite
    f"INSERT OR REPLACE INTO interactions ({', '.join(INTERACTION_COLUMNS)}) "  # noqa: S608  # names are ours
    f"VALUES ({', '.join('?' * len(INTERACTION_COLUMNS))})"
)


@frozen
class Trouble:
    """A file that could not be indexed, and why."""

    path: Path
    why: str


class Store:
    """The index below a home folder.

    Args:
        home: whose recordings it indexes.
    """

    def __init__(self, home: Home) -> None:
        self.home = home
        try:
            home.root.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise BadInput(f"{home.root} is no place for a home folder: {error.strerror}") from error
        self.db = _open(home.index)

    def close(self) -> None:
        """Close the database."""
        self.db.close()

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def refresh(self, runs: Iterable[str] | None = None) -> list[Trouble]:
        """Bring the index up to date with the files of these runs (None: of all).

        Returns:
            The files that cannot be read; everything else is indexed.
        """
        troubles: list[Trouble] = []
        for run in self.home.runs() if runs is None else runs:
            troubles += self._refresh_run(run)
        if runs is None:
            with self._writing() as connection:
                known = {row[0] for row in connection.execute("SELECT name FROM runs")}
                for gone in known - set(self.home.runs()):
                    _forget_run(connection, gone)
        return troubles

    def rows(self, sql: str, parameters: Sequence[Any] | dict[str, Any] = ()) -> list[dict[str, Any]]:
        """The rows of a query, as dicts."""
        return list(self.db.query(sql, parameters))

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        connection = self.db.conn
        connection.execute("BEGIN IMMEDIATE")  # a deferred one fails when another process writes in between
        try:
            yield connection
        except BaseException:
            connection.execute("ROLLBACK")
            raise
        connection.execute("COMMIT")

    def _refresh_run(self, run: str) -> list[Trouble]:
        if not self.home.run(run).is_dir():
            with self._writing() as connection:
                _forget_run(connection, run)
            return []
        found = {str(trial): (trial, path, stat) for trial, path, stat in _files(self.home, run)}
        rows = self.rows("SELECT id, mtime_ns, size, reason, problem FROM trials WHERE run = ?", [run])
        known = {row["id"]: (row["mtime_ns"], row["size"]) for row in rows}
        stale = [
            (trial, path, stat)
            for key, (trial, path, stat) in found.items()
            if known.get(key) != (stat.st_mtime_ns, stat.st_size)
        ]
        gone = set(known) - set(found)
        changed = {*gone, *(str(trial) for trial, _, _ in stale)}
        troubles = [
            Trouble(found[row["id"]][1], row["problem"])
            for row in rows
            if row["reason"] == UNREADABLE and row["id"] not in changed
        ]
        seen: tuple[str, str | None] = (
            _stamp(self.home.run(run) / "scores.jsonl"),
            _stamp(self.home.run(run) / "labels.jsonl"),
        )
        row = self.db.execute("SELECT scores_seen, labels_seen FROM runs WHERE name = ?", [run]).fetchone()
        if not stale and not gone and row == seen:
            return troubles
        read, unreadable = self._read(stale)
        troubles += unreadable
        labels, damaged = read_labels(self.home, run)
        troubles += [Trouble(self.home.run(run) / "labels.jsonl", problem) for problem in damaged]
        if damaged:
            seen = seen[0], None  # so that it is told again, until the file is mended
        with self._writing() as connection:
            _keep_run(connection, self.home, run, seen, troubles)
            _forget_trials(connection, changed)
            connection.executemany(_insert("trials", 24), [trial for trial, _ in read])
            connection.executemany(_INTERACTIONS, [row for _, rows in read for row in rows])
            _keep_scores(connection, run, read_scores(self.home, run))
            _keep_labels(connection, run, current(labels))
        return troubles

    def _read(
        self, files: Iterable[tuple[TrialId, Path, os.stat_result]]
    ) -> tuple[list[tuple[Row, list[Row]]], list[Trouble]]:
        """The rows of these trials; of one that cannot be read, a row that says so."""
        read: list[tuple[Row, list[Row]]] = []
        troubles = []
        for trial, path, stat in files:
            try:
                read.append(rows_of(trial, View(path, self.home), stat.st_mtime_ns, stat.st_size))
            except CassetteError as error:
                troubles.append(Trouble(path, str(error)))
                read.append((unreadable_row(trial, path, str(error), stat.st_mtime_ns, stat.st_size), []))
        return read, troubles


def _label_row(run: str, said: Label) -> Row:
    told = (said.fault, said.type, said.step, said.note, said.digest, said.at, said.source, said.user_error)
    return said.trial, said.author, run, *told


def _open(path: Path) -> sqlite_utils.Database:
    """The database, up to date; a damaged one is made anew: it owns nothing."""
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        fcntl.flock(folder, fcntl.LOCK_EX)  # one process at a time makes the tables
        return _prepared(path)
    except sqlite3.OperationalError as error:
        raise BadInput(f"the index {path} cannot be opened: {error}") from error
    except sqlite3.DatabaseError:
        for suffix in ("", "-wal", "-shm"):
            path.with_name(path.name + suffix).unlink(missing_ok=True)
        return _prepared(path)
    finally:
        os.close(folder)


def _prepared(path: Path) -> sqlite_utils.Database:
    db = sqlite_utils.Database(path)
    try:
        db.conn.execute("PRAGMA busy_timeout = 30000")
        db.enable_wal()
        MIGRATIONS.apply(db)
    except BaseException:
        db.close()
        raise
    return db


def _stamp(path: Path) -> str:
    """What changes when the file does; nothing if it is not there."""
    return f"{path.stat().st_mtime_ns} {path.stat().st_size}" if path.exists() else ""


def _insert(table: str, columns: int) -> str:
    return f"INSERT OR REPLACE INTO {table} VALUES ({', '.join('?' * columns)})"  # noqa: S608  # names are ours


def _files(home: Home, run: str) -> Iterator[tuple[TrialId, Path, os.stat_result]]:
    for trial, path in home.trials(run):
        with suppress(FileNotFoundError):  # set aside meanwhile by a run that goes on
            yield trial, path, path.stat()


def _forget_trials(connection: sqlite3.Connection, trials: Iterable[str]) -> None:
    ids = [(trial,) for trial in trials]
    connection.executemany("DELETE FROM interactions WHERE trial = ?", ids)
    connection.executemany("DELETE FROM trials WHERE id = ?", ids)


def _keep_scores(connection: sqlite3.Connection, run: str, scores: Iterable[KeptScore]) -> None:
    """A score is of the cassette that was scored: one that took its place since has none until it is scored."""
    digests = _digests(connection, run)
    connection.execute("DELETE FROM scores WHERE run = ?", [run])
    rows = [
        (run, s.trial, s.scorer, s.version, s.value, s.passed, s.evidence, s.digest, s.at)
        for s in scores
        if s.trial in digests and s.digest == digests[s.trial]
    ]
    connection.executemany(_insert("scores", 9), rows)


def _keep_labels(connection: sqlite3.Connection, run: str, labels: Iterable[Label]) -> None:
    """As a score, a label is of one cassette."""
    digests = _digests(connection, run)
    connection.execute("DELETE FROM labels WHERE run = ?", [run])
    rows = [
        _label_row(run, label) for label in labels if label.trial in digests and label.digest == digests[label.trial]
    ]
    connection.executemany(_insert("labels", 11), [clean(row) for row in rows])


def _digests(connection: sqlite3.Connection, run: str) -> dict[str, str | None]:
    return dict(connection.execute("SELECT id, digest FROM trials WHERE run = ?", [run]).fetchall())


def _forget_run(connection: sqlite3.Connection, run: str) -> None:
    _forget_trials(connection, [row[0] for row in connection.execute("SELECT id FROM trials WHERE run = ?", [run])])
    connection.execute("DELETE FROM scores WHERE run = ?", [run])
    connection.execute("DELETE FROM labels WHERE run = ?", [run])
    connection.execute("DELETE FROM runs WHERE name = ?", [run])


def _keep_run(
    connection: sqlite3.Connection, home: Home, run: str, seen: tuple[str, str | None], troubles: list[Trouble]
) -> None:
    try:
        file = load_run(home, run)
        config, about, primary = dict(file.config), dict(file.about), file.primary
    except TrialtapeError as error:
        troubles.append(Trouble(home.run(run) / "run.json", str(error)))
        config, about, primary = {}, {}, None
    row = (
        run,
        config.get("mode"),
        config.get("source"),
        about.get("created"),
        primary,
        json.dumps(config, ensure_ascii=False),
        json.dumps(about, ensure_ascii=False),
        *seen,
    )
    connection.execute(_insert("runs", len(row)), row)
