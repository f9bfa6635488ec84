"""Negative controls: how many passes survive if the last write is dropped, or if nothing is done at all.

A check that an idle agent passes says little about agents. Where the state was tracked, the scorers look at the
altered trial. Where it was not, as in imported results, recordings often tell: a trial of the same task that made just
the writes that are left, with a known verdict on its state.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from attrs import asdict, frozen

from cassettes.errors import BadInput, CassetteError
from cassettes.model import TrialId
from replay.analysis.outcomes import outcomes_of
from replay.home import Home
from replay.ignoring import matching_key
from replay.references import expected_actions
from replay.runs import load_run
from replay.scoring import OWN, Scorer, score_trial
from replay.scoring.tools import went_wrong
from replay.shown_change import shown_change
from replay.store import Store
from replay.view import View
from replay.writes import declared_writes, expected_acts

from .altered import Control, altered, last_write
from .scorefile import KeptScore, read_scores

__all__ = ["ControlResult", "Survival", "controlled"]

Outcome = Literal["survives", "flips", "unknown", "no write"]
Writes = tuple[str, ...]


@frozen
class Survival:
    """What becomes of one pass under a control.

    Attributes:
        outcome: it ``survives`` or ``flips``; ``unknown``; or ``no write``: there was nothing to drop, so it stays.
        by: ``scorers`` that looked at the altered trial, or other ``recordings``; None if neither could tell.
        because: in a few words.
    """

    trial: str
    outcome: Outcome
    by: Literal["scorers", "recordings"] | None
    because: str


@frozen
class ControlResult:
    """The passes of a run under a control.

    Attributes:
        score: that says which trials pass.
        trials: those that pass, by task and index.
        problems: what could not be read.
    """

    run: str
    control: Control
    score: str
    trials: tuple[Survival, ...]
    problems: tuple[str, ...] = ()

    def number(self, outcome: Outcome) -> int:
        """Passes with this outcome."""
        return sum(trial.outcome == outcome for trial in self.trials)

    def to_dict(self) -> dict[str, Any]:
        """The same as JSON-like data."""
        counts = {name: self.number(name) for name in ("survives", "flips", "unknown", "no write")}
        return {**asdict(self), "passes": len(self.trials), **{k.replace(" ", "_"): n for k, n in counts.items()}}


def controlled(
    store: Store,
    run: str,
    control: Control,
    scorers: Sequence[Scorer] = (),
    score: str | None = None,
    progress: Callable[[Iterable[Any]], Iterable[Any]] = iter,
) -> ControlResult:
    """The passes of a run under a control.

    Args:
        store: an index that is up to date.
        run: its name.
        control: which one.
        scorers: that look at the altered trials; the first one's verdict counts where it has one. None means the one
            whose score says what passes, if it is our own.
        score: which score says what passes; None takes the run's primary one.
        progress: goes through what it is given, and tells how far it is.

    Raises:
        BadInput: the run has no trial that passes, or no such score.
    """
    home = store.home
    found = outcomes_of(store, load_run(home, run), score)
    passing = [t for t, o in found.trials.items() if o.passed and o.ending == "completed"]
    if not passing:
        raise BadInput(f"run {run!r} has no trial that {found.score} passes, so there is nothing to control")
    evidence = _Evidence(home, run)
    looking = list(scorers) or [own for own in OWN.values() if own.id == found.score]
    told: list[Survival] = []
    problems: list[str] = []
    for name in progress(sorted(passing, key=_place)):
        trial = TrialId.parse(name)
        try:
            view = View(home.cassette(trial), home)
            told.append(_by_scorers(view, home, control, looking) or evidence.on(view, control))
        except CassetteError as error:
            problems.append(str(error))
    return ControlResult(run, control, found.score, tuple(told), tuple(problems))


def _by_scorers(view: View, home: Home, control: Control, scorers: Sequence[Scorer]) -> Survival | None:
    other = altered(view, home, control)
    if other is None:
        return Survival(str(view.id), "no write", None, "it made no declared write")
    for by in scorers:
        before = score_trial(view, by)
        if before.passed is not True:
            continue
        after = score_trial(other, by)
        if after.passed is not None:
            return Survival(str(view.id), "survives" if after.passed else "flips", "scorers", by.id)
    return None


class _Evidence:
    """What the recordings of a run tell of states that are not theirs."""

    def __init__(self, home: Home, run: str) -> None:
        self._home = home
        self._states = _states_right(read_scores(home, run))
        self._trials: dict[str, list[tuple[TrialId, Path]]] = {}
        for trial, path in home.trials(run):
            self._trials.setdefault(trial.task, []).append((trial, path))
        self._tasks: dict[str, list[tuple[str, Writes, bool]]] = {}

    def on(self, view: View, control: Control) -> Survival:
        """What becomes of a trial."""
        name = str(view.id)
        if control == "do-nothing":
            if view.task.outputs:
                return Survival(name, "flips", "recordings", "the task requires outputs, and nothing is said")
            return self._known(view, (), range(1 << 62), "an agent that did nothing")
        last = last_write(view)
        assert last is not None  # else there was nothing to drop
        if went_wrong(last):
            return Survival(name, "survives", "recordings", f"step {last.number} was refused: it had changed nothing")
        left = _writes(view, without=last.number)
        return self._known(view, left, {last.number}, f"step {last.number} took effect")

    def _known(self, view: View, left: Writes, dropped: Container[int], otherwise: str) -> Survival:
        name = str(view.id)
        for other, writes, right in self._of_task(view.id.task):
            if writes == left:
                who, how = "it" if other == name else other, "right" if right else "wrong"
                because = f"{who} made just the writes that are left, and its state was {how}"
                return Survival(name, "survives" if right else "flips", "recordings", because)
        wanted = _expected(view)
        if wanted is not None and wanted == left:
            return Survival(name, "survives", "recordings", "the writes that are left are those that the task expects")
        if self._states.get(name) == (True, view.cassette.digest) and (change := shown_change(view, dropped)):
            # The benchmark compared the whole state, and it was right: without the change it would have been another.
            return Survival(name, "flips", "recordings", str(change))
        return Survival(name, "unknown", None, f"{otherwise}, and no recording shows the state without it")

    def _of_task(self, task: str) -> list[tuple[str, Writes, bool]]:
        """The trials of the task whose state has a verdict, with what they wrote."""
        if task not in self._tasks:
            found = []
            for trial, path in self._trials.get(task, ()):
                right = self._states.get(str(trial))
                if right is not None:
                    view = View(path, self._home)
                    if view.cassette.digest == right[1]:
                        found.append((str(trial), _writes(view), right[0]))
            self._tasks[task] = found
        return self._tasks[task]


def _states_right(scores: Iterable[KeptScore]) -> Mapping[str, tuple[bool, str | None]]:
    """Whether a trial's state was right, as far as a benchmark told that component, with the cassette's digest."""
    found = {}
    for score in scores:
        components = json.loads(score.evidence).get("components")
        value = components.get("r_actions") if isinstance(components, dict) else None
        if isinstance(value, int | float):
            found[score.trial] = (value >= 1 - 1e-6, score.digest)
    return found


def _writes(view: View, without: int | None = None) -> Writes:
    """What a trial wrote, by key, in order; refused writes changed nothing."""
    return tuple(
        matching_key(step.call, ())
        for step in declared_writes(view.steps)
        if step.number != without and step.call.kind in {"tool", "http"} and not went_wrong(step)
    )


def _expected(view: View) -> Writes | None:
    actions = expected_actions(view)
    if actions is None:
        return None
    try:
        return tuple(matching_key(step.call, ()) for step in declared_writes(expected_acts(actions, view.steps)))
    except BadInput:  # the benchmark's own form is another
        return None


def _place(name: str) -> tuple[int, str, int]:
    trial = TrialId.parse(name)
    return (int(trial.task) if trial.task.isdigit() else 1 << 60, trial.task, trial.index)
