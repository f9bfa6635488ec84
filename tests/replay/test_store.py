"""The index owns nothing: it is rebuilt from the files at any time."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

import trialtape as tt
from cassettes.model import Ending, TrialId
from replay.home import Home
from replay.labelling.labels import Label, append_label
from replay.store import Store
from tests import factories

TABLES = ("runs", "trials", "interactions", "scores", "labels")


def content(home):
    with Store(home) as store:
        assert store.refresh() == []
        tables = {}
        for table in TABLES:
            rows = store.rows(f"SELECT * FROM {table}")
            for row in rows:
                row.pop("id" if table == "interactions" else "", None)  # SQLite's choice: it says nothing of the trial
            tables[table] = sorted(str(sorted(row.items(), key=str)) for row in rows)
        return tables


def from_nothing(home):
    for path in home.root.glob("trialtape.db*"):
        path.unlink()
    return content(home)


def test_an_index_that_grew_equals_one_rebuilt_from_nothing(home, make):
    make(trials=1)
    content(home)
    make(trials=3)
    make("other")
    content(home)
    (home.root / "cassettes/r/a/0.cassette").unlink()
    grown = content(home)
    assert len(grown["trials"]) == 9
    assert len(grown["scores"]) == 5  # that of the trial that is gone is of nothing
    assert from_nothing(home) == grown


def test_deleting_the_index_loses_nothing(home, make):
    make()
    digest = tt.open("r/a#1", home=home.root).cassette.digest
    append_label(home, Label(trial="r/a#1", author="ada", fault="agent", digest=digest))
    before = content(home)
    assert all(before.values())
    assert from_nothing(home) == before


def test_a_second_refresh_changes_nothing(home, make):
    make()
    with Store(home) as store:
        store.refresh()
        changes = store.db.conn.total_changes
        assert store.refresh(["r"]) == []
        assert store.db.conn.total_changes == changes


def test_removed_files_and_runs_leave_the_index(home, make):
    make()
    make("other")
    content(home)
    (home.root / "cassettes/r/b/1.cassette").unlink()
    for path in sorted((home.root / "cassettes/other").rglob("*"), reverse=True):
        path.rmdir() if path.is_dir() else path.unlink()
    (home.root / "cassettes/other").rmdir()
    tables = content(home)
    assert len(tables["runs"]) == 1
    assert len(tables["trials"]) == 3
    assert len(tables["interactions"]) == 9


def test_a_changed_file_is_read_again(home, make):
    make(trials=1, ids="a")
    content(home)
    path = home.root / "cassettes/r/a/0.cassette"
    path.unlink()
    factories.write_cassette(path, [factories.interaction(0)], Ending("capped"), run="r", task="a")
    with Store(home) as store:
        store.refresh()
        assert store.rows("SELECT ending, steps FROM trials") == [{"ending": "capped", "steps": 1}]
        assert len(store.rows("SELECT * FROM interactions")) == 1


@pytest.mark.parametrize("bad", [b"", b"random bytes " * 50, None])
def test_a_broken_file_is_told_and_everything_else_is_indexed(home, make, bad):
    make()
    path = home.root / "cassettes/r/a/0.cassette"
    whole = path.read_bytes()
    path.write_bytes(whole[:30] if bad is None else bad)
    with Store(home) as store:
        troubles = store.refresh()
        assert [trouble.path for trouble in troubles] == [path]
        assert len(store.rows("SELECT * FROM trials WHERE problem IS NULL")) == 3
        (row,) = store.rows("SELECT ending, problem FROM trials WHERE problem IS NOT NULL")
    assert row["ending"] == "incomplete"
    path.write_bytes(whole)
    assert from_nothing(home) == content(home)


def test_a_file_cut_short_is_indexed_as_far_as_it_goes(home, make):
    make(trials=1, ids="a")
    path = home.root / "cassettes/r/a/0.cassette"
    path.write_bytes(path.read_bytes()[:-30])
    with Store(home) as store:
        store.refresh()
        assert store.rows("SELECT ending, steps FROM trials") == [{"ending": "incomplete", "steps": 3}]


def test_a_run_that_is_not_there_leaves_no_trace(home, make):
    make()
    with Store(home) as store:
        assert store.refresh(["nobody"]) == []
        store.refresh(["r"])
        assert [row["name"] for row in store.rows("SELECT name FROM runs")] == ["r"]


def test_a_run_without_its_file_is_told(home, make):
    make()
    (home.root / "cassettes/r/run.json").write_text("{")
    with Store(home) as store:
        (trouble,) = store.refresh()
        assert trouble.path.name == "run.json"
        assert len(store.rows("SELECT * FROM trials")) == 4


@pytest.mark.parametrize("damage", [b"this is no database " * 100, b""])
def test_a_damaged_index_is_made_anew(home, make, damage):
    make()
    before = content(home)
    for path in home.root.glob("trialtape.db-*"):
        path.unlink()
    home.index.write_bytes(damage)
    assert content(home) == before


def test_a_home_that_is_a_file_is_told(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(tt.BadInput, match="no place for a home folder"):
        Store(Home(tmp_path / "file"))


def test_two_processes_may_refresh_at_the_same_time(home, make):
    make(trials=6)
    code = """
import sys
from pathlib import Path
from replay.home import Home
from replay.store import Store
sys.stdin.read(1)
for _ in range(5):
    with Store(Home(Path(sys.argv[1]))) as store:
        assert store.refresh() == []
"""
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", code, str(home.root)],
            stdin=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=os.environ,
        )
        for _ in range(2)
    ]
    for process in processes:
        process.stdin.write("g")
        process.stdin.flush()
    ends = [(process.communicate(timeout=60)[1], process.returncode) for process in processes]
    assert ends == [("", 0), ("", 0)]
    assert from_nothing(home) == content(home)


def test_a_score_is_of_the_cassette_that_was_scored_and_of_no_other(tmp_path):
    @tt.tool(effect="read")
    def look():
        return 1

    home = Home(tmp_path)
    suite = tt.Suite(tasks=[tt.Task(id="t")], agent=lambda _: look(), scorers=[tt.scorer(version="1")(always)])
    suite.run("r", trials=1, home=tmp_path)
    with Store(home) as store:
        store.refresh()
        assert len(store.rows("SELECT * FROM scores")) == 1
    home.cassette(TrialId("r", "t", 0)).unlink()
    with tt.trial(run="other", task="t", home=tmp_path):
        look()
    home.cassette(TrialId("other", "t", 0)).rename(home.cassette(TrialId("r", "t", 0)))
    with Store(home) as store:
        store.refresh()
        assert store.rows("SELECT * FROM scores") == []


def always(_view):
    return True
