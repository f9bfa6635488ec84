"""A results file of tau-bench as a run: cassettes, and the benchmark's reward as a score."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from attrs import field, frozen

from cassettes.model import TrialId
from replay.home import Home
from replay.runs import RunFile, open_run, packages
from replay.scorefile import KeptScore, append_scores, read_scores

from .keeping import Keeper
from .taubench import SCORER, Results
from .taubench_record import TauTrial

__all__ = ["Imported", "import_results"]


@frozen
class Imported:
    """What an import did.

    Attributes:
        done: trials by what was done: ``written``, ``replaced``, ``kept`` (whole already).
        endings: trials by ending and reason.
        verdicts: trials by verdict: ``passed``, ``failed``, ``unscored``.
    """

    run: str
    done: Counter[str] = field(factory=Counter)
    endings: Counter[tuple[str, str | None]] = field(factory=Counter)
    verdicts: Counter[str] = field(factory=Counter)

    @property
    def trials(self) -> int:
        """Trials of the file that the run now holds."""
        return self.done.total()

    @property
    def changed(self) -> bool:
        """False if everything was there already."""
        return self.done["kept"] < self.trials


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
    about: dict[str, Any] = {
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        "file": str(path),
        "packages": packages(),
    }
    open_run(home, RunFile(run, results.config, about, primary="@".join(SCORER)))
    keeper, imported = Keeper(home), Imported(run)
    digests: dict[TrialId, str] = {}
    for trial in results.trials:
        identity = TrialId(run, trial.task, trial.index)
        config = {**results.config, "record": trial.record}
        done, digests[identity] = keeper.keep(
            identity, trial.trajectory.events, trial.ending, config=config, definition=trial.definition
        )
        imported.done[done] += 1
        _count(imported, trial)
        progress()
    _keep_scores(home, run, results, digests)
    return imported


def _count(imported: Imported, trial: TauTrial) -> None:
    passed = trial.score.passed
    imported.endings[trial.ending.status, trial.ending.reason] += 1
    imported.verdicts["unscored" if passed is None else "passed" if passed else "failed"] += 1


def _keep_scores(home: Home, run: str, results: Results, digests: dict[TrialId, str]) -> None:
    """Append the rewards that are not kept yet for these very cassettes."""
    known = {(s.trial, s.digest) for s in read_scores(home, run) if (s.scorer, s.version) == SCORER}
    scores = []
    for trial in results.trials:
        identity = TrialId(run, trial.task, trial.index)
        if (str(identity), digests[identity]) not in known:
            scores.append(KeptScore.of(identity, *SCORER, trial.score, digests[identity]))
    append_scores(home, run, scores)
