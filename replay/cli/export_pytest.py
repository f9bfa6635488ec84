"""``trialtape export --to pytest``: a trial as a test of the agent's code."""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from cassettes.errors import BadInput
from replay.home import Home
from replay.orchestration.loading import load_name
from replay.orchestration.suite import Suite
from replay.policy import Selector
from replay.pytest_file import TestFile, slug_of, text_of
from replay.readings import readings_of
from replay.references import expected_actions, references
from replay.retrial import FREEZE, retrial, suite_at, task_named
from replay.runs import load_run
from replay.scoring import Score, score_trial
from replay.view import Step, View
from replay.writes import (
    DivergentWrite,
    acts_of,
    declared_writes,
    expected_acts,
    first_divergent_write,
    first_divergent_write_from_expected,
    matched_steps,
    possible_writes,
)

from .output import messages

__all__ = ["write_test"]

Writes = list[tuple[str, dict[str, Any]]]


def write_test(view: View, home: Home, folder: Path | None, suite_file: str | None, freeze: Sequence[str]) -> None:
    """Write a test of the trial and its cassette to ``folder``, try it where that asks nothing outside, and tell.

    Args:
        view: the trial.
        home: where passing trials of its task may lie.
        folder: where to.
        suite_file: the suite; None takes the one that the run names.
        freeze: selectors; none takes the default.

    Raises:
        BadInput: something is missing, a selector has another form, or the test's files exist already.
    """
    if folder is None:
        raise BadInput("--to pytest needs -o DIR, the folder of the test and its cassette")
    for selector in freeze:
        Selector.parse(selector)
    _check_ending(view)
    spec = suite_file or _suite_of(home, view)
    suite = suite_at(spec)
    task_named(suite, view.task.id)
    score = score_trial(view, suite.scorers[0])
    explanation, writes, writes_of = _explained(home, view, score)
    if score.passed is None and writes is None:
        raise BadInput(
            f"there is nothing to check: {suite.scorers[0].id} does not score {view.id}, and no other trial of its "
            "task passed; give the task a check, or the suite a scorer"
        )
    chosen = list(freeze) or [*FREEZE, *_ambient(view)]
    slug = slug_of(view.task.id, view.id.index)
    path, name = load_name(spec)
    text = text_of(
        TestFile(
            trial=str(view.id),
            task=view.task.id,
            outcome=_outcome(view, score),
            explanation=explanation,
            slug=slug,
            suite=_from(folder, path),
            suite_name=name or "suite",
            freeze=chosen,
            writes=writes,
            writes_of=writes_of,
            scored=score.passed is not None,
        )
    )
    test, cassette = folder / f"test_{slug}.py", folder / f"{slug}.cassette"
    _write(view, text, test, cassette)
    out = messages()
    out.print(f"{test} and {cassette.name} written", markup=False, soft_wrap=True)
    out.print(_tried(cassette, suite, chosen, writes, score), markup=False, soft_wrap=True)


def _check_ending(view: View) -> None:
    ending = view.ending
    if ending.status in {"completed", "capped"} or (ending.status == "error" and ending.cause == "agent"):
        return
    raise BadInput(f"{view.id} ended {ending.status}: nobody knows what came next, so it makes no test")


def _suite_of(home: Home, view: View) -> str:
    recorded = None
    if (home.run(view.id.run) / "run.json").exists():
        file = load_run(home, view.id.run)
        recorded = file.about.get("suite")
        if file.config.get("agent"):
            raise BadInput(
                f"the agent of run {view.id.run!r} is {file.config['agent']}, not that of {recorded}: "
                "give a suite with this agent with --suite SUITE.py"
            )
    if recorded is None:
        raise BadInput(
            f"run {view.id.run!r} names no suite, so there is no agent to test: give one with --suite SUITE.py, a file "
            f"that defines `suite = tt.Suite(tasks=[tt.Task(id={view.task.id!r}, ...)], agent=...)`"
        )
    return str(recorded)


def _explained(home: Home, view: View, score: Score) -> tuple[str | None, Writes | None, str]:
    """What lost the trial, and what one that passes writes: whose that is."""
    acts = acts_of(matched_steps(view))
    if score.passed:
        return None, _writes(acts), "it"
    if passing := references(home, view):
        found = first_divergent_write(view, passing[0])
        return _line(found), _writes(acts_of(matched_steps(passing[0]))), f"{passing[0].id}, which passed,"
    if actions := expected_actions(view):
        found = first_divergent_write_from_expected(view, actions)
        return _line(found), _writes(expected_acts(actions, acts)), "one that does what the task expects would have"
    return None, None, ""


def _writes(acts: Sequence[Step]) -> Writes:
    return [(step.call.name, dict(step.call.arguments)) for step in declared_writes(acts) or possible_writes(acts)]


def _line(found: DivergentWrite | None) -> str | None:
    return None if found is None else f"first divergent write: {found.line()}"


def _ambient(view: View) -> tuple[str, ...]:
    """Clock and random, if they were recorded: the agent may ask what depends on them."""
    readings = readings_of(view.marks)
    return () if readings is None else readings.kinds


def _outcome(view: View, score: Score) -> str:
    if view.ending.status != "completed":
        return f"it ended {view.ending.status}"
    return {True: "it passed", False: "it failed", None: "it was not scored"}[score.passed]


def _from(folder: Path, path: Path) -> str:
    """The way from the folder to the file, as it is written on every system."""
    return Path(os.path.relpath(path.resolve(), folder.resolve())).as_posix()


def _write(view: View, text: str, test: Path, cassette: Path) -> None:
    for path in (test, cassette):
        if path.exists():
            raise BadInput(f"{path} exists already; delete it, or name another folder")
    try:
        test.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(view.path, cassette)
        test.write_text(text, encoding="utf-8")
    except OSError as error:
        raise BadInput(f"{test.parent} cannot be written to: {error.strerror}; name another place") from error


def _tried(cassette: Path, suite: Suite, freeze: Sequence[str], writes: Writes | None, score: Score) -> str:
    """How the test comes out now; not tried where a live model would be asked."""
    if not {"model", "user"} <= set(freeze):
        return "not tried now: it asks a live model"
    done = retrial(cassette, suite=suite, freeze=freeze, live=False)
    passes = done.passed if score.passed is not None else done.wrote(writes or [])
    if passes and score.passed is False:
        return "it passes now, though the trial failed: the agent or the check has changed since it was recorded"
    return "it passes now" if passes else f"it fails now:\n{done.explain(writes)}"
