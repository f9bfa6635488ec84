"""One run that is being carried out: which trials are missing, and each of them from first attempt to score."""

from __future__ import annotations

import os
import threading
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from attrs import frozen

from cassettes.model import Ending, TrialId
from cassettes.recorder import Unseen, unwatched
from cassettes.redact import Redactor, secrets_of
from replay.endings import is_infrastructure
from replay.home import Home
from replay.prices import Price
from replay.processes.workers import Workers
from replay.scores.scorefile import KeptScore, append_scores, read_scores
from replay.scoring import Scorer, score_trial
from replay.sources import Pool
from replay.trial import Trial
from replay.view import View

from .attempts import Attempt, attempted, trial_of
from .leftovers import ending_in
from .plan import Plan
from .progress import RunResult
from .tasks import Task
from .together import Together

__all__ = ["Job", "Running"]

_NOT_RECORDED = {"nothing captured", "recording"}


@frozen
class Job:
    """A run to be carried out.

    Attributes:
        scorers: the first is the primary one.
        prices: by model; empty if costs are not told.
    """

    plan: Plan
    tasks: Sequence[Task]
    agent: Callable[[Any], Any]
    scorers: Sequence[Scorer]
    prices: Mapping[str, Price]


class Running:
    """The state of one run while it is carried out.

    Args:
        job: the run.
        home: where its cassettes go.
        together: what it shares with those that are carried out beside it.
        pools: of a frozen run, the recordings of each task.
        digests: of each task.
    """

    def __init__(
        self,
        job: Job,
        home: Home,
        together: Together,
        pools: Mapping[str, Pool],
        digests: Mapping[str, Mapping[str, str | None]],
    ) -> None:
        self.plan = plan = job.plan
        self.home = home
        self.together = together
        self.agent = job.agent
        self.scorers = job.scorers
        self.pools = pools
        self.digests = digests
        apart = plan.needs_its_process and plan.origin is not None and plan.fork is None
        self.workers = Workers(plan, home) if apart else None
        self.result = RunResult(plan.name, home.root, cost=0.0 if together.costs else None)
        self.result.trials = len(job.tasks) * plan.per_task
        self.escaped: Counter[str] = Counter()
        self._lock = threading.Lock()
        self._active: set[Trial] = set()
        self._scores = {(s.trial, s.scorer, s.version): s.passed for s in read_scores(home, plan.name)}

    def chain_of(self, identity: TrialId) -> tuple[str | None, str, int]:
        """Trials of one world follow each other, in all runs that share it: what one called live answers the next."""
        worlds = self.plan.worlds
        world = identity.index % worlds if worlds else identity.index
        return None if self.plan.beside else self.plan.name, identity.task, world

    def tell_unseen(self, unattributed: Unseen) -> None:
        """Say in the result what is in no recording."""
        redactor = Redactor(self.home.redaction_key(), secrets_of(os.environ))
        counts: Counter[str] = Counter()
        for name, number in (unattributed.counts + self.escaped).items():
            self.result.unattributed[redactor.text(name, counts)] += number

    def interrupt(self) -> None:
        """End the trials in progress as ``cancelled``."""
        with self._lock:
            for trial in self._active:
                trial.interrupt()
        if self.workers is not None:
            self.workers.interrupt()

    # -- one trial ----------------------------------------------------------------------------------------------------

    def one(self, task: Task, identity: TrialId) -> None:
        """Carry out one trial, and try it again if it fails for reasons of infrastructure."""
        for attempt in range(self.plan.retries + 1):
            ending = self._attempt(task, identity)
            if not is_infrastructure(ending) or attempt == self.plan.retries or self.together.stop is not None:
                break
            self._set_aside(identity)
            self.together.replaced(identity, ending)
        passed = self._score(identity)
        self._tell(identity, ending, passed)
        self.together.finished(identity, ending, passed)

    def _attempt(self, task: Task, identity: TrialId) -> Ending:
        digests = self.digests[task.id]
        came = (
            self._attempt_here(task, identity, digests)
            if self.workers is None
            else self.workers.attempt(identity, digests)
        )
        cost = self.together.pay(came.calls)
        with self._lock:
            self.escaped.update(came.escaped)
            self.result.misdeclared.update(came.misdeclared)
            self.result.caught_up.update(came.caught_up)
            if came.lingering:
                self.result.lingering.append(str(identity))
            if self.result.cost is not None:
                self.result.cost += cost
        return came.ending

    def _attempt_here(self, task: Task, identity: TrialId, digests: Mapping[str, str | None]) -> Attempt:
        pool = self.pools.get(task.id, [])
        trial = trial_of(self.plan, self.home, task, identity, pool, digests, self.together.throttle)
        trial.begin()
        with self._lock:
            self._active.add(trial)
            if self.together.is_interrupted:
                trial.interrupt()
        try:
            return attempted(trial, self.agent, self.plan.timeout)
        finally:
            with self._lock:
                self._active.discard(trial)

    def _score(self, identity: TrialId) -> bool | None:
        view = View(self.home.cassette(identity), self.home)
        if view.ending.status not in {"completed", "capped"}:
            return None
        with unwatched():
            scores = [(by, score_trial(view, by)) for by in self.scorers]
        kept = [KeptScore.of(identity, by.name, by.version, score, view.cassette.digest) for by, score in scores]
        append_scores(self.home, self.plan.name, kept, self.plan.redact)
        return scores[0][1].passed if scores and view.ending.status == "completed" else None

    # -- resuming -----------------------------------------------------------------------------------------------------

    def is_missing(self, identity: TrialId, *, settled: bool) -> bool:
        """True if the trial is still to be run; else it is counted.

        One that did not finish is set aside first, unless it is ``settled``: then it stays as it is.
        """
        path = self.home.cassette(identity)
        if not path.exists():
            return True
        if not settled and not self._is_finished(identity):
            self._set_aside(identity)
            return True
        self._count(identity)
        return False

    def _is_finished(self, identity: TrialId) -> bool:
        ending = ending_in(self.home.cassette(identity))
        astray = self.plan.fork is not None and ending.cause == "divergence"  # it never got to where it was to go on
        return not (ending.status in {"incomplete", "cancelled"} or is_infrastructure(ending) or astray)

    def _set_aside(self, identity: TrialId) -> None:
        self.home.cassette(identity).rename(self.home.next_attempt(identity))
        with self._lock:
            self.result.replaced += 1

    def _count(self, identity: TrialId) -> None:
        """Count a trial from before; it is scored now if an earlier session was killed before it could."""
        ending = ending_in(self.home.cassette(identity))
        keys = [(str(identity), by.name, by.version) for by in self.scorers]
        if all(key in self._scores for key in keys):
            passed = self._scores[keys[0]] if keys and ending.status == "completed" else None
        else:
            passed = self._score(identity)
        self.result.resumed += 1
        self._tell(identity, ending, passed)

    def _tell(self, identity: TrialId, ending: Ending, passed: bool | None) -> None:  # noqa: FBT001  # a verdict
        with self._lock:
            self.result.endings[ending.status] += 1
            self.result.passed += passed is True
            if ending.cause in _NOT_RECORDED:
                self.result.problems.append(f"{identity}: {(ending.reason or '').removeprefix(f'{identity}: ')}")
        self.together.has_ended(identity, ending, passed)
