"""Runs for tests that care for verdicts, settings and tasks only: each trial has one call or a few."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from cassettes.model import Ending, TrialId
from cassettes.reader import Cassette
from replay.home import Home
from replay.runs import RunFile, open_run
from replay.scores.scorefile import KeptScore, append_scores
from replay.scoring import Score
from tests import factories

UNANSWERED = Ending("unanswered", "missed")
INFRASTRUCTURE = Ending("error", "503", "infrastructure")
CAPPED = Ending("capped", "30 steps")


def make_run(
    home: Home,
    name: str,
    tasks: Mapping[str, Sequence[Any]],
    *,
    config: Mapping[str, Any] | None = None,
    about: Mapping[str, Any] | None = None,
    pool: Mapping[str, str] | None = None,
    scorer: str = "s@1",
    digests: Mapping[str, Mapping[str, str]] | None = None,
    tags: Mapping[str, Mapping[str, str]] | None = None,
    interactions: Sequence[Any] | None = None,
) -> None:
    """Write a run: of each task a list of verdicts (True, False), numbers (values) or endings."""
    open_run(home, RunFile(name, config or {}, about or {}, pool or {}, scorer))
    kept = []
    for task, outcomes in tasks.items():
        alike: dict[Ending, Path] = {}  # a copy is made faster than a recording
        for index, given in enumerate(outcomes):
            ending = given if isinstance(given, Ending) else Ending("completed")
            trial = TrialId(name, task, index)
            definition = {
                "id": task,
                "instruction": task,
                "tags": dict((tags or {}).get(task, {})),
                "digests": (digests or {}).get(task, {"instruction": task, "expected": task, "state": None}),
            }
            if ending in alike:
                shutil.copy(alike[ending], home.cassette(trial))
            else:
                alike[ending] = factories.write_cassette(
                    home.cassette(trial),
                    [factories.interaction(0)] if interactions is None else interactions,
                    ending,
                    run=name,
                    task=task,
                    index=index,
                    task_definition=definition,
                )
            if not isinstance(given, Ending):
                kept.append(score_of(home, trial, given, scorer))
    append_scores(home, name, kept)


def score_of(home: Home, trial: TrialId, given: bool | float, scorer: str) -> KeptScore:
    """A score of a recorded trial: a verdict, or a value without one."""
    score = Score(float(given), passed=given) if isinstance(given, bool) else Score(float(given))
    return KeptScore.of(trial, *scorer.split("@"), score, Cassette(home.cassette(trial)).digest)


def passes(c: int, n: int) -> list[bool]:
    """``c`` of ``n`` trials pass."""
    return [True] * c + [False] * (n - c)


__all__ = ["CAPPED", "INFRASTRUCTURE", "UNANSWERED", "make_run", "passes", "score_of"]
