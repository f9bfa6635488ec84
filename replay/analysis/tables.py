"""The numbers of runs as one flat table, for a file: one row for each run, group and k.

A table has the same columns of the same types whatever the runs are, so that files of several runs can be put together.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, Final

from cassettes.errors import BadInput
from replay.stats import Interval

from .groups import Groups
from .run_stats import RunStats

__all__ = ["HEAD", "Columns", "check_path", "flat_rows", "head_of", "write_table"]

Columns = Mapping[str, type]

HEAD: Final[Columns] = {"run": str, "score": str, "errors": str, "group_by": str, "group": str}

_PASS_K: Final[Columns] = {
    **HEAD,
    "tasks": int,
    "trials": int,
    "k": int,
    "pass_hat_k": float,
    "fixed_low": float,
    "fixed_high": float,
    "population_low": float,
    "population_high": float,
    "bootstrap_low": float,
    "bootstrap_high": float,
    "pass_at_k": float,
    "if_unanswered_failed": float,
    "if_unanswered_passed": float,
    "across_worlds": float,
    "across_worlds_low": float,
    "across_worlds_high": float,
    "within_a_world": float,
}
_ENDINGS: Final = (".csv", ".parquet")


def flat_rows(stats: RunStats, groups: Groups | None = None) -> list[dict[str, Any]]:
    """The rows of one run: one for each k; by group one for each group and k.

    Numbers are unrounded; what is undefined is None. A run of which only bounds are told has rows with these alone, one
    whose trials share worlds has pass^k across worlds and within one, and no ``pass_hat_k``.
    """
    found = _by_k(stats) if groups is None else _by_group(groups)
    head = head_of(stats, None if groups is None else groups.by)
    return [{**dict.fromkeys(_PASS_K), **head, **row} for row in found]


def head_of(stats: RunStats, by: str | None) -> dict[str, Any]:
    """What stands in every row of a run: which numbers these are."""
    return {"run": stats.run, "score": stats.score, "errors": stats.errors, "group_by": by}


def _by_group(groups: Groups) -> list[dict[str, Any]]:
    return [
        {
            "group": group.name,
            "tasks": len(group.tasks),
            "trials": group.trials,
            "k": k,
            "pass_hat_k": fixed.estimate,
            **_ends("fixed", fixed),
            **_ends("population", population),
        }
        for group in groups.groups
        for k, fixed, population in zip(groups.ks, group.fixed, group.population, strict=True)
    ]


def _by_k(stats: RunStats) -> list[dict[str, Any]]:
    rows: dict[int, dict[str, Any]] = {}
    for row in () if stats.summary is None else stats.summary.rows:
        low, high = row.bootstrap or (None, None)
        rows[row.k] = {
            "pass_hat_k": row.pass_hat_k,
            **_ends("fixed", row.fixed),
            **_ends("population", row.population),
            "bootstrap_low": low,
            "bootstrap_high": high,
            "pass_at_k": row.pass_at_k,
        }
    for of_worlds in () if stats.shared is None else stats.shared.rows:
        rows[of_worlds.k] = {
            "across_worlds": of_worlds.across,
            "across_worlds_low": of_worlds.low,
            "across_worlds_high": of_worlds.high,
            "within_a_world": of_worlds.within,
        }
    bounds = {k: {"if_unanswered_failed": low, "if_unanswered_passed": high} for k, low, high in stats.bounds}
    size = {"tasks": len(stats.counted.tasks), "trials": sum(stats.counted.trials)}
    ks = [*rows] if stats.summary is not None else sorted({*rows, *bounds})
    return [{**size, "k": k, **rows.get(k, {}), **bounds.get(k, {})} for k in ks]


def check_path(path: Path) -> None:
    """See that a table can be written there, before numbers are made for it.

    Raises:
        BadInput: another ending, or no such folder.
    """
    if path.suffix.lower() not in _ENDINGS:
        raise BadInput(f"{path}: the ending {path.suffix or '(none)'} is neither .csv nor .parquet")
    if not path.parent.is_dir():
        raise BadInput(f"{path} cannot be written: there is no folder {path.parent}; make it, or name another")


def write_table(path: Path, rows: Sequence[dict[str, Any]], columns: Columns = _PASS_K) -> None:
    """Write rows as CSV or Parquet, by the ending of the path.

    Raises:
        BadInput: another ending; the file cannot be written; for Parquet, pyarrow is not installed.
    """
    check_path(path)
    try:
        if path.suffix.lower() == ".csv":
            _write_csv(path, columns, rows)
        else:
            _write_parquet(path, columns, rows)
    except OSError as error:
        raise BadInput(f"{path} cannot be written: {error.strerror or error}; name another file") from error


def _write_csv(path: Path, columns: Columns, rows: Sequence[dict[str, Any]]) -> None:
    text = io.StringIO(newline="")
    writer = csv.DictWriter(text, [*columns], restval="", lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    path.write_text(text.getvalue(), encoding="utf-8")


def _write_parquet(path: Path, columns: Columns, rows: Sequence[dict[str, Any]]) -> None:
    try:
        arrow, parquet = import_module("pyarrow"), import_module("pyarrow.parquet")
    except ImportError as error:
        raise BadInput(f"{path}: Parquet needs pyarrow: pip install 'trialtape[parquet]'") from error
    types = {str: arrow.string(), int: arrow.int64(), float: arrow.float64()}
    schema = arrow.schema([(name, types[kind]) for name, kind in columns.items()])
    table = arrow.table({name: [row.get(name) for row in rows] for name in columns}, schema=schema)
    parquet.write_table(table, path)


def _ends(name: str, interval: Interval) -> dict[str, float | None]:
    return {f"{name}_low": interval.low, f"{name}_high": interval.high}
