"""What commands that carry recorded trials out again are given: the trials, and the suite whose agent made them."""

from __future__ import annotations

from pathlib import Path

from cassettes.errors import BadInput, CassetteError
from cassettes.model import TrialId
from replay.home import Home
from replay.orchestration.suite import Suite
from replay.orchestration.suites import load_suite, suite_of_run
from replay.orchestration.tasks import Task
from replay.runs import load_run
from replay.selection import find_trial
from replay.view import View

__all__ = ["recorded_suite", "recorded_trials"]


def recorded_trials(text: str, home: Home) -> list[tuple[TrialId, Path]]:
    """The trials that ``text`` names: those of a run, or a single one.

    Raises:
        BadInput: there is none.
    """
    if text.startswith("@") or "#" in text or text.endswith(".cassette"):
        view = find_trial(text, home)
        return [(view.id, view.path)]
    load_run(home, text)
    trials = list(home.trials(text))
    if not trials:
        raise BadInput(f"run {text!r} has no trial yet")
    return trials


def recorded_suite(home: Home, trials: list[tuple[TrialId, Path]], given: str | None) -> Suite:
    """The suite that ``given`` names, or the one of the trials' run.

    Raises:
        BadInput: there is none.
    """
    if given is not None:
        return load_suite(given)
    recorded = (_task_in(home, path) for _, path in trials)
    return suite_of_run(home, trials[0][0].run, (task for task in recorded if task is not None), "to replay")[0]


def _task_in(home: Home, path: Path) -> Task | None:
    try:
        return View(path, home).task
    except CassetteError:
        return None  # told as damaged when its turn comes
