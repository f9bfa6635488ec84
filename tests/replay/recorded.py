"""Recorded trials for tests that compare them: a home, and runs in it whose trials have steps and verdicts as told."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import pytest

from cassettes.model import Call, Ending, Interaction, TrialId, Value
from replay.home import Home
from replay.runs import RunFile, open_run
from replay.scores.scorefile import KeptScore, append_scores
from replay.scoring import Score
from replay.view import View
from tests.factories import COMPLETED, write_cassette

AIRLINE = Path(__file__).parents[2].parent / "shared" / "data" / "taubench" / "gpt-4o-airline.json"
needs_airline = pytest.mark.skipif(
    not AIRLINE.exists(), reason=f"{AIRLINE} is not here: the tau-bench recordings are no part of the project"
)


def read(name: str = "get", **arguments: Any) -> Call:
    """A tool call that reads."""
    return Call("tool", name, arguments, effect="read")


def write(name: str = "put", **arguments: Any) -> Call:
    """A tool call that writes."""
    return Call("tool", name, arguments, effect="write")


def undeclared(name: str = "do", **arguments: Any) -> Call:
    """A tool call of which nobody said what it does."""
    return Call("tool", name, arguments)


def asks(*messages: str) -> Call:
    """A model call."""
    sent = [{"role": "user", "content": text} for text in messages]
    return Call("model", "m", {"messages": sent}, endpoint="e", history="messages")


def steps(calls: Iterable[Call], **options: Any) -> list[Interaction]:
    """One after the other; each answered by its name."""
    return [
        Interaction(step=n, call=call, outcome=Value(f"{call.name} done"), started=2 * n, ended=2 * n + 1, **options)
        for n, call in enumerate(calls)
    ]


def keep(
    home: Home,
    trial: str,
    calls: Sequence[Call | Interaction] = (),
    *,
    passed: bool | None = None,
    ending: Ending = COMPLETED,
    **header: Any,
) -> View:
    """Record a trial of these calls, with a verdict."""
    identity = TrialId.parse(trial)
    open_run(home, RunFile(identity.run, primary="s@1"))
    path = home.cassette(identity)
    path.parent.mkdir(parents=True, exist_ok=True)
    made = [c for c in calls if isinstance(c, Interaction)] or steps([c for c in calls if isinstance(c, Call)])
    write_cassette(path, made, ending, run=identity.run, task=identity.task, index=identity.index, **header)
    view = View(path, home)
    if passed is not None:
        score = Score(float(passed), passed=passed)
        append_scores(home, identity.run, [KeptScore.of(identity, "s", "1", score, view.cassette.digest)])
    return view
