"""The failed trials of runs by fault as rows of a flat table, for a file: one row for each run and fault."""

from __future__ import annotations

from typing import Any, Final

from replay.analysis.run_stats import RunStats
from replay.analysis.tables import HEAD, Columns, head_of

from .faults import Faults

__all__ = ["FAULT_COLUMNS", "fault_rows"]

FAULT_COLUMNS: Final[Columns] = {
    **HEAD,
    "failed_trials": int,
    "share": float,
    "by_judge_alone": int,
    "pass_1": float,
    "pass_1_without": float,
}


def fault_rows(stats: RunStats, faults: Faults) -> list[dict[str, Any]]:
    """The rows of one run, as the table of ``stats --by fault`` has them, unrounded; what is undefined is None."""
    return [
        {
            **head_of(stats, "fault"),
            "group": row.fault,
            "failed_trials": row.trials,
            "share": row.share,
            "by_judge_alone": row.by_judge,
            "pass_1": faults.pass_1,
            "pass_1_without": row.pass_1_without,
        }
        for row in faults.rows
    ]
