from __future__ import annotations

import csv
import sys

import pytest

import trialtape as tt
from replay.analysis.groups import groups_of
from replay.analysis.run_stats import run_stats
from replay.analysis.tables import flat_rows, write_table
from replay.store import Store
from tests.replay.verdicts import UNANSWERED, make_run, passes


@pytest.fixture
def rows(home):
    def told(tasks, by=None):
        make_run(home, "r", tasks)
        with Store(home) as store:
            store.refresh()
            stats = run_stats(store, "r")
            return flat_rows(stats, None if by is None else groups_of(store, stats, by))

    return told


TASKS = {"a": passes(2, 4), "b": passes(4, 4), "c": passes(1, 4)}


def test_one_row_per_k_unrounded(rows, tmp_path):
    found = rows(TASKS)
    write_table(tmp_path / "t.csv", found)
    read = list(csv.DictReader((tmp_path / "t.csv").read_text(encoding="utf-8").splitlines()))

    assert [row["k"] for row in read] == ["1", "2", "3", "4"]
    assert float(read[1]["pass_hat_k"]) == found[1]["pass_hat_k"] == pytest.approx((1 / 6 + 1) / 3)
    assert read[0]["group"] == ""


def test_parquet_keeps_types_and_what_is_undefined(rows, tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet", reason="pyarrow is not installed")
    write_table(tmp_path / "t.parquet", rows(TASKS, "task"))
    read = parquet.read_table(tmp_path / "t.parquet").to_pylist()

    assert [(row["group"], row["k"]) for row in read[:3]] == [("a", 1), ("a", 4), ("b", 1)]
    assert read[0]["population_low"] is None
    assert read[0]["pass_hat_k"] == 0.5


def test_bounds_stand_in_the_table(rows):
    row = rows({"a": [True, UNANSWERED]})[0]
    assert row["if_unanswered_failed"] == 0.5
    assert row["pass_hat_k"] is None


def test_the_columns_are_the_same_whatever_the_run_is(home):
    nested = {"mode": "freeze", "freeze": ["external"], "source": "base", "worlds": 2}
    make_run(home, "whole", TASKS)
    make_run(home, "bounded", {"a": [True, UNANSWERED]})
    make_run(home, "nested", {"a": passes(3, 4), "b": passes(1, 4)}, config=nested)
    with Store(home) as store:
        store.refresh()
        found = [run_stats(store, name) for name in ("whole", "bounded", "nested")]
        tables = [*map(flat_rows, found), flat_rows(found[0], groups_of(store, found[0], "task"))]
    assert all(tables)
    assert len({tuple(row) for table in tables for row in table}) == 1


def test_shared_worlds_have_rows_across_and_within_them(home, tmp_path):
    nested = {"mode": "freeze", "freeze": ["external"], "source": "base", "worlds": 2}
    make_run(home, "nested", {"a": passes(3, 4), "b": [False, False, True, UNANSWERED]}, config=nested)
    with Store(home) as store:
        store.refresh()
        stats = run_stats(store, "nested", errors="fail")
    write_table(tmp_path / "t.csv", flat_rows(stats))
    read = list(csv.DictReader((tmp_path / "t.csv").read_text(encoding="utf-8").splitlines()))
    assert stats.shared is not None
    assert [int(row["k"]) for row in read] == [row.k for row in stats.shared.rows] == [1, 2]
    for row, told in zip(read, stats.shared.rows, strict=True):
        assert (float(row["across_worlds"]), float(row["within_a_world"])) == (told.across, told.within)
        assert (row["pass_hat_k"], row["tasks"], row["trials"]) == ("", "2", "8")
        assert row["if_unanswered_failed"] != ""


def test_parquet_has_types_where_nothing_is_known(rows, tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet", reason="pyarrow is not installed")
    write_table(tmp_path / "t.parquet", rows({"a": [True, UNANSWERED]}))
    schema = parquet.read_schema(tmp_path / "t.parquet")
    assert {str(schema.field(name).type) for name in ("pass_hat_k", "bootstrap_low", "within_a_world")} == {"double"}
    assert (str(schema.field("group").type), str(schema.field("k").type)) == ("string", "int64")


def test_without_pyarrow_it_says_what_to_install(rows, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(tt.BadInput, match=r"Parquet needs pyarrow: pip install 'trialtape\[parquet\]'"):
        write_table(tmp_path / "t.parquet", rows(TASKS))


def test_other_endings_are_refused(tmp_path):
    with pytest.raises(tt.BadInput, match=r"the ending .xlsx is neither .csv nor .parquet"):
        write_table(tmp_path / "t.xlsx", [])


@pytest.mark.parametrize(
    ("name", "why"), [("no/t.csv", "there is no folder .*no; make it, or name another"), ("t.csv", "Is a directory")]
)
def test_a_file_that_cannot_be_written_is_bad_input(tmp_path, name, why):
    (tmp_path / "t.csv").mkdir()
    with pytest.raises(tt.BadInput, match=f"cannot be written: {why}"):
        write_table(tmp_path / name, [{"k": 1}])
