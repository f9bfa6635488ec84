"""An index of an older version is brought up to date, and then equals one made anew."""

from __future__ import annotations

import pytest
import sqlite_utils

from replay.labelling.labels import Label, append_label
from replay.migrations import MIGRATIONS
from replay.query import parsed
from replay.search import Filters, search
from replay.store import Store
from tests.replay.recorded import keep, read, write


@pytest.fixture
def old(home):
    """An index as an older version left it, with a trial in it."""
    keep(home, "r/t#0", [read("find_parcel"), write("send_parcel")], passed=False)

    def make(first_unknown):
        db = sqlite_utils.Database(home.index)
        MIGRATIONS.apply(db, stop_before=first_unknown)
        stat = home.cassette(next(home.trials("r"))[0]).stat()
        known = {"id": "r/t#0", "run": "r", "task": "t", "idx": 0, "mtime_ns": stat.st_mtime_ns, "size": stat.st_size}
        db.table("trials").insert(known)
        db.table("interactions").insert({"trial": "r/t#0", "step": 0, "name": "as the old version wrote it"})
        db.close()

    return make


def content(home):
    with Store(home) as store:
        assert store.refresh() == []
        tables = [t for t in store.db.table_names() if not t.startswith(("interactions_fts", "_sqlite"))]
        rows = {table: store.rows(f"SELECT * FROM {table}") for table in tables}
        hits = [(hit.trial, hit.step) for hit in search(store, parsed("parcel"), Filters(), 9).hits]
        return rows, sorted(hits), [str(view) for view in store.db.view_names()]


@pytest.mark.parametrize("first_unknown", ["m002_views", "m003_costs", "m004_search"])
def test_an_old_index_equals_one_made_anew(home, old, first_unknown):
    old(first_unknown)
    grown = content(home)
    assert grown[1] == [("r/t#0", 0), ("r/t#0", 1)]
    for file in home.root.glob("trialtape.db*"):
        file.unlink()
    assert content(home) == grown


def test_an_index_that_knew_no_labels_has_those_that_were_given_before(home):
    view = keep(home, "r/t#0", [read("find_parcel")])
    db = sqlite_utils.Database(home.index)
    MIGRATIONS.apply(db, stop_before="m005_labels")
    db.table("runs").insert({"name": "r", "scores_seen": ""})
    db.close()
    append_label(home, Label(trial="r/t#0", author="ada", fault="tool", digest=view.cassette.digest))
    with Store(home) as store:
        store.refresh()
        assert store.rows("SELECT author, fault FROM labels") == [{"author": "ada", "fault": "tool"}]
