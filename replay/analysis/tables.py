"""The numbers of runs as one flat table, for a file: one row for each run, group and k."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from cassettes.errors import BadInput
from replay.home import writing
from replay.stats import Interval

from .groups import Groups
from .run_stats import RunStats

__all__ = ["flat_rows", "write_table"]


def flat_rows(stats: RunStats, groups: Groups | None = None) -> list[dict[str, Any]]:
    """The rows of one run: one for each k; by group one for each group and k.

    Numbers are unrounded; what is undefined is None. A run of which only bounds are told has rows with these alone.
    """
    head = {"run": stats.run, "score": stats.score, "errors": stats.errors, "group_by": None, "group": None}
    if groups is not None:
        head["group_by"] = groups.by
        return [
            {
                **head,
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
    bounds = {k: {"if_unanswered_failed": low, "if_unanswered_passed": high} for k, low, high in stats.bounds}
    unbounded = {"if_unanswered_failed": None, "if_unanswered_passed": None}
    size = {"tasks": len(stats.counted.tasks), "trials": sum(stats.counted.trials)}
    if stats.summary is None:
        return [{**head, **size, "k": k, **bound} for k, bound in bounds.items()]
    return [
        {
            **head,
            **size,
            "k": row.k,
            "pass_hat_k": row.pass_hat_k,
            **_ends("fixed", row.fixed),
            **_ends("population", row.population),
            "bootstrap_low": None if row.bootstrap is None else row.bootstrap[0],
            "bootstrap_high": None if row.bootstrap is None else row.bootstrap[1],
            "pass_at_k": row.pass_at_k,
            **bounds.get(row.k, unbounded),
        }
        for row in stats.summary.rows
    ]


def write_table(path: Path, rows: Sequence[dict[str, Any]]) -> None:
    """Write rows as CSV or Parquet, by the ending of the path.

    Raises:
        BadInput: another ending; for Parquet, pyarrow is not installed.
        RecordingFailed: the file cannot be written.
    """
    columns = list(dict.fromkeys(name for row in rows for name in row))
    match path.suffix.lower():
        case ".csv":
            text = io.StringIO(newline="")
            writer = csv.DictWriter(text, columns, restval="", lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows)
            with writing(path):
                path.write_text(text.getvalue(), encoding="utf-8")
        case ".parquet":
            _write_parquet(path, columns, rows)
        case other:
            raise BadInput(f"{path}: the ending {other or '(none)'} is neither .csv nor .parquet")


def _write_parquet(path: Path, columns: Sequence[str], rows: Sequence[dict[str, Any]]) -> None:
    try:
        arrow, parquet = import_module("pyarrow"), import_module("pyarrow.parquet")
    except ImportError as error:
        raise BadInput(f"{path}: Parquet needs pyarrow: pip install 'trialtape[parquet]'") from error
    table = arrow.table({name: [row.get(name) for row in rows] for name in columns})
    with writing(path):
        parquet.write_table(table, path)


def _ends(name: str, interval: Interval) -> dict[str, float | None]:
    return {f"{name}_low": interval.low, f"{name}_high": interval.high}
