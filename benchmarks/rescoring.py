"""Scoring recorded trials again, offline."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

from attrs import evolve

import trialtape as tt
from replay.home import Home
from replay.importers.taubench import read_results
from replay.importers.taubench_import import import_results
from replay.scoring import (
    consent_before_write,
    expected_actions,
    forbidden_tools,
    required_outputs,
    score_trial,
    tau_outputs,
)
from replay.view import View

from .airline import FOLDER, read
from .rows import Row, Target
from .timing import Cpu, best

__all__ = ["rows"]


@tt.scorer(version="1")
def few_writes(view: tt.View) -> bool:
    """At most three writes."""
    return sum(step.call.kind == "tool" and step.call.effect == "write" for step in view.steps) <= 3


def rows(limit: int | None = None, rounds: int = 5) -> list[Row]:
    """Import the first ``limit`` recordings (None: all), and score them in each round.

    Raises:
        Skipped: the recordings are not there.
    """
    raw = [json.dumps(record).encode() for record in read("gpt-4o-airline.json")[:limit]]
    with tempfile.TemporaryDirectory() as name:
        home = Home(Path(name))
        file = FOLDER / "gpt-4o-airline.json"
        results = read_results(file)
        # Every task is given a required output and a forbidden tool, so that no scorer has an easy way out.
        demands = {"outputs": ["reservation"], "forbidden_tools": ["transfer_to_human_agents"]}
        results = evolve(
            results, trials=[evolve(t, definition={**t.definition, **demands}) for t in results.trials[:limit]]
        )
        import_results(home, "airline", file, results)
        paths = [path for _, path in home.trials("airline")]
        three = (required_outputs, forbidden_tools, few_writes)
        five = (required_outputs, tau_outputs, forbidden_tools, expected_actions, consent_before_write)

        def scored(*scorers: tt.scoring.Scorer) -> float:
            with Cpu() as cpu:
                for path in paths:
                    view = View(path, home)
                    for by in scorers:
                        score_trial(view, by)
            return cpu.seconds / len(paths)

        def plain() -> float:
            with Cpu() as cpu:
                for text in raw:
                    json.loads(text)
            return cpu.seconds / len(raw)

        def opened() -> float:
            with Cpu() as cpu:
                for path in paths:
                    View(path, home)
            return cpu.seconds / len(paths)

        found = best(
            {"ours": lambda: scored(*three), "five": lambda: scored(*five), "opened": opened, "plain": plain}, rounds
        )
    note = (
        f"{len(paths)} imported airline trials, one core, page cache warm: open, then a required output, a forbidden "
        "tool and a count of writes, none with an easy way out (Inspect: about 27 a second in reading alone, measured "
        "elsewhere)"
    )
    return [
        Row(
            "offline re-scoring with 3 scorers, trials per CPU second",
            1 / found["ours"],
            "/s",
            1 / found["plain"],
            "only parse the trial's raw JSON",
            Target(">=", 2000),
            more_is_better=True,
            note=note,
        ),
        Row(
            "offline re-scoring with 5 scorers, trial-scores per CPU second",
            5 / found["five"],
            "/s",
            5 / found["plain"],
            "only parse the trial's raw JSON, five times",
            Target(">=", 2000),
            more_is_better=True,
            note=f"{len(paths)} imported airline trials, one core: both rules for outputs, a forbidden tool, "
            "expected actions, and consent before writes",
        ),
        Row("of which only opening the cassettes", 1 / found["opened"], "/s", more_is_better=True, note=note),
    ]
