"""A results file of tau-bench as a run: cassettes, and the benchmark's reward as a score."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from replay.home import Home

from .importing import Imported, import_findings
from .taubench import Results

__all__ = ["import_results"]


def import_results(
    home: Home, run: str, path: Path, results: Results, progress: Callable[[], None] = lambda: None
) -> Imported:
    """Write the trials of a file that the run does not hold yet, and their rewards.

    Args:
        home: where the run lies, or is made.
        run: the run's name.
        path: the file, for the record.
        results: its content.
        progress: called after each trial.

    Raises:
        BadInput: the run exists already, made from another file or in another way.
        CassetteError: a cassette of the run is damaged, or cannot be written.
    """
    return import_findings(home, run, path, results.findings, progress)
