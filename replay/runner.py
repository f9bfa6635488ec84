"""Carry out a run: tasks x trials, interleaved, in threads; resumable at any moment."""

from __future__ import annotations

import fcntl
import os
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from cassettes.errors import BadInput, BudgetReached, Interrupted, TrialtapeError
from cassettes.model import Ending, Interaction, TrialId
from cassettes.recorder import Unseen, unwatched, watching
from cassettes.redact import Redactor, secrets_of

from .attempts import Attempt, attempted, trial_of
from .blindness import keep_blindness
from .budget import Budget
from .endings import is_infrastructure
from .home import Home
from .leakfile import check_independence
from .leftovers import calls_in, ending_in
from .plan import Plan, check_worlds, run_file
from .prices import Price, kept_prices
from .progress import Progress, RunResult
from .runs import open_run, pool_pinned_by
from .scorefile import KeptScore, append_scores, read_scores
from .scoring import Scorer, score_trial
from .sources import Pool, pool_of
from .tasks import Task
from .throttle import Throttle
from .trial import Trial
from .turns import Turns
from .view import View
from .workers import Workers

__all__ = ["carry_out"]

_NOT_RECORDED = {"nothing captured", "recording"}


def carry_out(
    plan: Plan,
    tasks: Sequence[Task],
    agent: Callable[[Any], Any],
    scorers: Sequence[Scorer],
    prices: Mapping[str, Price],
    home: str | Path | None,
    progress: Progress | None,
) -> RunResult:
    """Run what is missing of the plan (see `replay.suite.Suite.run`)."""
    place = Home.find(home)
    pinned = pool_pinned_by(place, plan.name) if plan.source else {}
    pools = (
        {task.id: pool_of(place, plan.source, task.id, plan.given.ignore, pinned, plan.given.effects) for task in tasks}
        if plan.source
        else {}
    )
    check_worlds(plan, pools)
    file = run_file(plan, tasks, scorers, pools, kept_prices(prices))
    open_run(place, file)
    keep_blindness(place, plan.name, scorers)
    with _alone(place.run(plan.name), plan.name):
        before = [] if plan.max_cost is None else map(calls_in, place.recordings(plan.name))
        budget = Budget(plan.name, plan.max_cost, prices, before)
        run = _Run(plan, place, agent, scorers, budget, progress, pools, file.config["tasks"])
        missing = run.missing(tasks)
        run.result.trials = len(tasks) * plan.per_task
        run.result.resumed = run.result.trials - len(missing)
        if progress is not None:
            progress.planned(run.result.trials, run.result.resumed)
        unseen = Unseen()
        try:
            with watching(unseen):
                run.all(missing)
        finally:
            run.tell_unseen(unseen)
        run.result.leaks = list(check_independence(place, plan.name).leaks)
    return run.result


@contextmanager
def _alone(folder: Path, name: str) -> Iterator[None]:
    """Nobody else carries out this run meanwhile: a trial in progress looks like one that was killed."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)  # goes with the process, however it ends
        except BlockingIOError as error:
            raise BadInput(f"run {name!r} is being carried out right now; wait, or choose another name") from error
        yield
    finally:
        os.close(descriptor)


class _Run:
    """The state of one call of `carry_out`."""

    def __init__(
        self,
        plan: Plan,
        home: Home,
        agent: Callable[[Any], Any],
        scorers: Sequence[Scorer],
        budget: Budget,
        progress: Progress | None,
        pools: Mapping[str, Pool],
        digests: Mapping[str, Mapping[str, str | None]],
    ) -> None:
        self.plan = plan
        self.home = home
        self.agent = agent
        self.scorers = scorers
        self.budget = budget
        self.progress = progress
        self.pools = pools
        self.digests = digests
        self.throttle = Throttle()
        apart = plan.needs_its_process and plan.origin is not None and plan.fork is None
        self.workers = Workers(plan, home) if apart else None
        self.result = RunResult(plan.name, home.root, cost=budget.cost)
        self.escaped: Counter[str] = Counter()
        self._lock = threading.Lock()
        self._active: set[Trial] = set()
        self._stop: TrialtapeError | None = None
        self._interrupted = False

    def missing(self, tasks: Sequence[Task]) -> list[tuple[Task, TrialId]]:
        """The trials still to be run, tasks interleaved; those that did not finish are set aside first."""
        todo: list[tuple[Task, TrialId]] = []
        scores = {(s.trial, s.scorer, s.version): s.passed for s in read_scores(self.home, self.plan.name)}
        for index in range(self.plan.per_task):
            for task in tasks:
                trial = TrialId(self.plan.name, task.id, index)
                if self._is_finished(trial):
                    self._count(trial, scores)
                else:
                    todo.append((task, trial))
        return todo

    def all(self, todo: Sequence[tuple[Task, TrialId]]) -> None:
        """Run them all.

        Raises:
            BudgetReached: the money is spent.
            KeyboardInterrupt: the user interrupted; running trials end ``cancelled``.
        """
        pool = ThreadPoolExecutor(self.plan.concurrency, thread_name_prefix="trialtape-run")
        turns = Turns(todo, self._chain_of)
        self._pay(())  # earlier sessions may have spent it all
        running: dict[Future[None], tuple[Task, TrialId]] = {}
        try:
            while (not turns.is_over and self._stop is None) or running:
                while len(running) < self.plan.concurrency and self._stop is None and (turn := turns.next()):
                    running[pool.submit(self._one, *turn)] = turn
                done, _ = wait(running, return_when=FIRST_COMPLETED)
                for future in done:
                    future.result()
                    turns.finished(running.pop(future))
        except KeyboardInterrupt:
            self._interrupt()
            raise
        finally:
            pool.shutdown(wait=True, cancel_futures=True)
        if self._stop is not None:
            raise self._stop

    def _chain_of(self, turn: tuple[Task, TrialId]) -> tuple[str, int]:
        """Trials of one world follow each other: what one called live answers the next."""
        task, identity = turn
        return task.id, identity.index % self.plan.worlds if self.plan.worlds else identity.index

    def tell_unseen(self, unattributed: Unseen) -> None:
        """Say in the result what is in no recording."""
        redactor = Redactor(self.home.redaction_key(), secrets_of(os.environ))
        counts: Counter[str] = Counter()
        for name, number in (unattributed.counts + self.escaped).items():
            self.result.unattributed[redactor.text(name, counts)] += number

    # -- one trial ----------------------------------------------------------------------------------------------------

    def _one(self, task: Task, identity: TrialId) -> None:
        for attempt in range(self.plan.retries + 1):
            ending = self._attempt(task, identity)
            if not is_infrastructure(ending) or attempt == self.plan.retries or self._stop is not None:
                break
            self._set_aside(identity)
            if self.progress is not None:
                with self._lock:
                    self.progress.replaced(identity, ending)
        passed = self._score(identity)
        with self._lock:
            self._tell(identity, ending, passed)
            if self.progress is not None:
                self.progress.finished(identity, ending, passed)

    def _attempt(self, task: Task, identity: TrialId) -> Ending:
        digests = self.digests[task.id]
        came = (
            self._attempt_here(task, identity, digests)
            if self.workers is None
            else self.workers.attempt(identity, digests)
        )
        with self._lock:
            self.escaped.update(came.escaped)
            self.result.misdeclared.update(came.misdeclared)
            self.result.caught_up.update(came.caught_up)
            if came.lingering:
                self.result.lingering.append(str(identity))
        self._pay(came.calls)
        return came.ending

    def _attempt_here(self, task: Task, identity: TrialId, digests: Mapping[str, str | None]) -> Attempt:
        trial = trial_of(self.plan, self.home, task, identity, self.pools.get(task.id, []), digests, self.throttle)
        trial.begin()
        with self._lock:
            self._active.add(trial)
            if self._interrupted:
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

    def _pay(self, calls: Sequence[Interaction]) -> None:
        """What cannot be paid, or has no known price, stops the run."""
        with self._lock:
            try:
                self.budget.spend(calls)
            except (BadInput, BudgetReached) as error:
                self._stop = self._stop or error
            self.result.cost = self.budget.cost

    # -- resuming -----------------------------------------------------------------------------------------------------

    def _is_finished(self, identity: TrialId) -> bool:
        path = self.home.cassette(identity)
        if not path.exists():
            return False
        ending = ending_in(path)
        astray = self.plan.fork is not None and ending.cause == "divergence"  # it never got to where it was to go on
        if ending.status in {"incomplete", "cancelled"} or is_infrastructure(ending) or astray:
            self._set_aside(identity)
            return False
        return True

    def _set_aside(self, identity: TrialId) -> None:
        self.home.cassette(identity).rename(self.home.next_attempt(identity))
        with self._lock:
            self.result.replaced += 1

    def _count(self, identity: TrialId, scores: Mapping[tuple[str, str, str], bool | None]) -> None:
        """Count a trial from before; it is scored now if an earlier session was killed before it could."""
        ending = ending_in(self.home.cassette(identity))
        verdicts = [scores.get((str(identity), by.name, by.version), "none") for by in self.scorers]
        passed = self._score(identity) if "none" in verdicts else bool(verdicts and verdicts[0] is True)
        self._tell(identity, ending, passed if ending.status == "completed" else None)

    def _tell(self, identity: TrialId, ending: Ending, passed: bool | None) -> None:  # noqa: FBT001  # a verdict
        self.result.endings[ending.status] += 1
        self.result.passed += passed is True
        if ending.cause in _NOT_RECORDED:
            self.result.problems.append(f"{identity}: {(ending.reason or '').removeprefix(f'{identity}: ')}")

    def _interrupt(self) -> None:
        with self._lock:
            self._stop = Interrupted("interrupted")
            self._interrupted = True
            for trial in self._active:
                trial.interrupt()
        if self.workers is not None:
            self.workers.interrupt()
