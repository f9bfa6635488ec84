"""A retrial: the agent's code as it is now, in the recorded world of one trial; what tests made of trials run.

Frozen is what cannot be had in a test: the model, the simulated user, the outside world. The agent's own code runs, and
so do tools on the tracked state, on a fresh one. So a change of the code shows, as long as the agent asks the model
what it asked then. Where it asks something else nobody knows the answer, and the retrial says so instead of guessing.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from attrs import field, frozen

from cassettes.errors import BadInput, TrialHalted
from cassettes.model import Ending

from .agents import run_agent
from .difference import shortened
from .home import writing
from .orchestration.loading import load_object
from .orchestration.suite import Suite
from .orchestration.tasks import Task
from .recorded_world import setup_of
from .report.trial_text import evidence_lines
from .scoring import Score, score_trial
from .setup import Setup
from .trial import Trial
from .view import Step, View
from .writes import acts_of, declared_writes, expected_acts, first_divergent, matched_steps, possible_writes

__all__ = ["FREEZE", "LIVE", "Retrial", "retrial", "suite_at", "task_named"]

FREEZE: Final = ("model", "user", "external")
LIVE: Final = "TRIALTAPE_LIVE"

Write = tuple[str, dict[str, Any]]


@frozen
class Retrial:
    """What came of it.

    Attributes:
        trial: the recorded trial.
        ending: how the agent ended now.
        score: by the suite's first scorer; unscored if the agent stopped early.
        stopped: why the trial was stopped from within, such as a request that is not recorded; None if it was not.
        raised: what the agent raised by itself.
        changed: what of the task is another than when the trial was recorded.
        steps: what the agent did now.
        ignore: arguments that do not count.
    """

    trial: str
    ending: Ending
    score: Score
    stopped: str | None
    raised: str | None
    changed: tuple[str, ...]
    steps: tuple[Step, ...] = field(repr=False)
    ignore: tuple[str, ...] = field(default=(), repr=False)

    @property
    def passed(self) -> bool:
        """The agent completed, and the suite's first scorer says that it passed."""
        return self.is_whole and self.score.passed is True

    @property
    def writes(self) -> list[Write]:
        """What the agent wrote: tools (or HTTP) with their arguments; without declared effects, what may have been."""
        acts = acts_of(self.steps)
        return [(step.call.name, dict(step.call.arguments)) for step in declared_writes(acts) or possible_writes(acts)]

    def wrote(self, expected: Sequence[Write]) -> bool:
        """True if the agent completed, and wrote just that, in that order."""
        return self.is_whole and self._divergence(expected) is None

    def explain(self, expected: Sequence[Write] | None = None) -> str:
        """Why it did not pass, for a person.

        Args:
            expected: what a trial that passes writes; the first write that is another is named.
        """
        divergence = None if expected is None else self._divergence(expected)
        told = [] if divergence is None else [f"first divergent write: {divergence}"]
        reason = self._reason()
        if reason is not None and not (divergence is not None and self.score.passed is None and self.is_whole):
            told.append(reason)
        if self.changed:
            told.append(f"the task is another than when it was recorded: its {' and '.join(self.changed)} changed")
        return "\n".join(f"{self.trial}: {line}" for line in told or ["nothing speaks against it"])

    @property
    def is_whole(self) -> bool:
        """True if the agent came to an end of its own."""
        return self.ending.status == "completed"

    def _reason(self) -> str | None:
        """Why it did not pass, apart from its writes."""
        if self.stopped is not None:
            return (
                "the agent now asks something that was not recorded, so nobody knows what comes after it\n"
                f"{self.stopped}\n  To ask it live, and keep the answers if the trial passes: {LIVE}=1 pytest ..."
            )
        if self.raised is not None:
            return f"the agent raised {self.raised}"
        if not self.is_whole:
            return f"the agent ended {self.ending.status} ({self.ending.reason})"
        if self.score.passed is None:
            return f"it cannot be scored: {_told(self.score.evidence)}"
        return None if self.score.passed else f"failed: {_told(self.score.evidence)}"

    def _divergence(self, expected: Sequence[Write]) -> str | None:
        """The first divergent write; a missing one counts only if the agent came to its end."""
        acts = acts_of(self.steps)
        actions = [{"name": name, "kwargs": arguments} for name, arguments in expected]
        wanted = expected_acts(actions, acts, lambda _: "write")
        found = first_divergent([step for step in acts if step.call.may_write], wanted, self.ignore)
        if found is None or (found.left is None and self.stopped is not None):
            return None
        return found.line()


def retrial(
    cassette: str | Path,
    *,
    suite: str | Path | Suite,
    freeze: Sequence[str] = FREEZE,
    live: bool | None = None,
) -> Retrial:
    """Let the suite's agent try a recorded trial again, in the world that its cassette holds.

    Args:
        cassette: the recording.
        suite: the suite, or its file (``SUITE.py`` or ``SUITE.py:NAME``), with the agent and the task.
        freeze: selectors of what the recording answers; the rest is live.
        live: what is frozen and not recorded is asked live (models, and reads of the outside), and if the agent passes,
            the cassette is replaced by that of the retrial. None takes ``TRIALTAPE_LIVE``.

    Raises:
        BadInput: the suite or its task does not exist, or ``freeze`` holds no selector.
        CassetteError: the cassette cannot be read, or not be replaced.
    """
    path = Path(cassette)
    if not path.is_file():
        raise BadInput(f"{path} does not exist; the test and its cassette belong together")
    view = View(path)
    loaded = suite if isinstance(suite, Suite) else suite_at(suite)
    task = task_named(loaded, view.task.id)
    asks_live = bool(os.environ.get(LIVE)) if live is None else live
    with TemporaryDirectory(prefix="trialtape-retrial-") as folder:
        setup = setup_of(view, loaded, task, freeze, Path(folder), live=asks_live)
        done = _carry_out(setup, view, loaded)
        if asks_live and done.passed:
            with writing(path):
                shutil.copyfile(setup.path, path)
    return done


def suite_at(place: str | Path) -> Suite:
    """The suite that a file defines.

    Raises:
        BadInput: there is none.
    """
    loaded = load_object(str(place), "suite")
    if not isinstance(loaded, Suite):
        raise BadInput(f"{place} names a {type(loaded).__name__}; a tt.Suite is needed")
    return loaded


def task_named(suite: Suite, name: str) -> Task:
    """The task of this id.

    Raises:
        BadInput: the suite has none.
    """
    found = next((task for task in suite.tasks if task.id == name), None)
    if found is None:
        raise BadInput(
            f"the suite has no task {name!r} any more; its tasks: {', '.join(t.id for t in suite.tasks[:8])}"
        )
    return found


def _carry_out(setup: Setup, recorded: View, suite: Suite) -> Retrial:
    trial = Trial(setup)
    changed = _changed(recorded, trial.digests)
    trial.begin()
    leaving = trial.end(run_agent(suite.agent, trial, None))
    if isinstance(leaving, KeyboardInterrupt):
        raise leaving
    halted = isinstance(leaving, TrialHalted)
    view = View(setup.path, setup.home)
    unscored = Score(None, evidence={"why": "the agent stopped early"})
    return Retrial(
        trial=str(recorded.id),
        ending=view.ending,
        score=unscored if halted else score_trial(view, suite.scorers[0]),
        stopped=str(leaving) if halted else None,
        raised=None if leaving is None or halted else f"{type(leaving).__name__}: {leaving}",
        changed=changed,
        steps=tuple(matched_steps(view)),
        ignore=setup.policy.ignore,
    )


def _changed(view: View, digests: Mapping[str, str | None]) -> tuple[str, ...]:
    recorded = (view.cassette.header.task_definition or {}).get("digests", {})
    return tuple(name for name in ("instruction", "state", "injections") if recorded.get(name) != digests.get(name))


def _told(evidence: Mapping[str, Any]) -> str:
    """What a verdict rests on, on one line."""
    return shortened("; ".join(evidence_lines(dict(evidence))), None, 400)[1:-1] or "no evidence"
