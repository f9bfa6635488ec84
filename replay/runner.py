"""Carry out a run: tasks x trials, interleaved, in threads; resumable at any moment."""

from __future__ import annotations

import asyncio
import fcntl
import inspect
import os
import threading
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from contextvars import copy_context
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Protocol

from attrs import define, field, frozen

from cassettes.errors import (
    BadInput,
    BudgetReached,
    CassetteError,
    Interrupted,
    NewerFormat,
    RecordingFailed,
    Refused,
    TrialtapeError,
)
from cassettes.model import Ending, Interaction, TrialId

from .home import Home
from .policy import RECORD, OnMiss, Policy
from .policy import freeze as freezing
from .recording import Recording
from .runs import RunFile, git_state, open_run, packages, pool_pinned_by
from .scorefile import KeptScore, append_scores, read_scores
from .scoring import Scorer, score_trial
from .spending import Price, cost_of
from .tasks import Task, digests_of, fresh_state
from .throttle import Throttle
from .trial import Setup, Trial, pool_of, world_of
from .view import View

__all__ = ["Plan", "Progress", "RunResult", "carry_out", "run_agent"]

_REPLACED_CAUSES = {"infrastructure"}
_NOT_RECORDED = {"nothing captured", "recording"}


class Progress(Protocol):
    """Told how a run goes on; called from one thread at a time."""

    def planned(self, total: int, done: int) -> None:
        """There are ``total`` trials, ``done`` of which an earlier call finished."""

    def finished(self, trial: TrialId, ending: Ending, passed: bool | None) -> None:  # noqa: FBT001  # a verdict
        """A trial has ended."""

    def replaced(self, trial: TrialId, ending: Ending) -> None:
        """A trial that failed for reasons of infrastructure is tried again."""


@frozen
class Plan:
    """What `Suite.run` was asked for."""

    name: str
    trials: int
    concurrency: int
    timeout: float | None
    retries: int
    max_cost: float | None
    freeze: tuple[str, ...]
    source: str | None
    on_miss: OnMiss
    seed: int
    origin: str | None

    def __attrs_post_init__(self) -> None:
        if self.trials < 1 or self.concurrency < 1 or self.retries < 0:
            raise BadInput("trials and concurrency are at least 1, retries at least 0")
        if self.timeout is not None and self.timeout <= 0:
            raise BadInput("timeout is in seconds and above 0")
        if bool(self.freeze) != (self.source is not None):
            raise BadInput("freeze and source go together: what is frozen, and from which run it is answered")

    @property
    def policy(self) -> Policy:
        """How calls are answered."""
        return freezing(self.freeze, on_miss=self.on_miss) if self.freeze else RECORD


@define
class RunResult:
    """What came of a run.

    Attributes:
        endings: how many trials ended how.
        passed: trials that the primary scorer passed.
        replaced: attempts that were set aside.
        problems: trials in which nothing was captured, or not everything could be kept.
        cost: of the live calls of this session; None without prices.
        lingering: trials whose agent was still running when they were given up.
    """

    name: str
    home: Path
    trials: int = 0
    resumed: int = 0
    endings: Counter[str] = field(factory=Counter)
    passed: int = 0
    replaced: int = 0
    problems: list[str] = field(factory=list)
    cost: float | None = None
    lingering: list[str] = field(factory=list)


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
    if plan.max_cost is not None and not prices:
        raise BadInput("max_cost needs prices: Suite(prices={'MODEL': tt.Price(input=..., output=...)})")
    place = Home.find(home)
    pinned = pool_pinned_by(place, plan.name) if plan.source else {}
    pools = {task.id: pool_of(place, plan.source, task.id, pinned=pinned) for task in tasks} if plan.source else {}
    _check_worlds(plan, pools)
    file = _run_file(plan, tasks, scorers, pools)
    open_run(place, file)
    with _alone(place.run(plan.name), plan.name):
        run = _Run(plan, place, agent, scorers, prices, progress, pools, file.config["tasks"])
        missing = run.missing(tasks)
        run.result.trials = len(tasks) * plan.trials
        run.result.resumed = run.result.trials - len(missing)
        if progress is not None:
            progress.planned(run.result.trials, run.result.resumed)
        run.all(missing)
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


def run_agent(agent: Callable[[Any], Any], trial: Trial, timeout: float | None) -> BaseException | None:
    """Call the agent in this context, with a time limit if wanted; returns what it raised."""
    if timeout is None:
        return _call(agent, trial, None)
    if _is_async(agent):
        return _call(agent, trial, timeout)
    raised: list[BaseException | None] = []
    context = copy_context()
    worker = threading.Thread(
        target=lambda: raised.append(context.run(_call, agent, trial, None)), name=f"trial {trial.id}", daemon=True
    )
    worker.start()
    worker.join(timeout)
    if worker.is_alive():
        trial.capped(f"timeout of {timeout:g} s")
        return None
    return raised[0]


def _call(agent: Callable[[Any], Any], trial: Trial, timeout: float | None) -> BaseException | None:
    try:
        awaited = agent(trial)
        if inspect.isawaitable(awaited):
            asyncio.run(_within(awaited, trial, timeout))
    except BaseException as error:  # noqa: BLE001  # whatever it is, it becomes the trial's ending
        return error
    return None


def _is_async(agent: Callable[[Any], Any]) -> bool:
    return any(inspect.iscoroutinefunction(part) for part in (agent, getattr(agent, "__call__", None)))  # noqa: B004


async def _within(agent: Awaitable[Any], trial: Trial, seconds: float | None) -> None:
    limit = asyncio.timeout(seconds)
    try:
        async with limit:
            await agent
    except TimeoutError:
        if not limit.expired():
            raise
    if limit.expired():  # also if the agent went on in spite of it
        trial.capped(f"timeout of {seconds:g} s")


class _Run:
    """The state of one call of `carry_out`."""

    def __init__(
        self,
        plan: Plan,
        home: Home,
        agent: Callable[[Any], Any],
        scorers: Sequence[Scorer],
        prices: Mapping[str, Price],
        progress: Progress | None,
        pools: Mapping[str, list[tuple[Recording, str]]],
        digests: Mapping[str, Mapping[str, str | None]],
    ) -> None:
        self.plan = plan
        self.home = home
        self.agent = agent
        self.scorers = scorers
        self.prices = prices
        self.progress = progress
        self.pools = pools
        self.digests = digests
        self.throttle = Throttle()
        self.result = RunResult(plan.name, home.root, cost=0.0 if prices else None)
        self._lock = threading.Lock()
        self._active: set[Trial] = set()
        self._stop: TrialtapeError | None = None
        self._interrupted = False
        self._spent = self._spent_before() if plan.max_cost is not None else 0.0

    def missing(self, tasks: Sequence[Task]) -> list[tuple[Task, TrialId]]:
        """The trials still to be run, tasks interleaved; those that did not finish are set aside first."""
        todo: list[tuple[Task, TrialId]] = []
        scores = {(s.trial, s.scorer, s.version): s.passed for s in read_scores(self.home, self.plan.name)}
        for index in range(self.plan.trials):
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
        waiting = list(reversed(todo))
        self._check_budget()
        running: set[Future[None]] = set()
        try:
            while (waiting and self._stop is None) or running:
                while waiting and len(running) < self.plan.concurrency and self._stop is None:
                    running.add(pool.submit(self._one, *waiting.pop()))
                done, running = wait(running, return_when=FIRST_COMPLETED)
                for future in done:
                    future.result()
        except KeyboardInterrupt:
            self._interrupt()
            raise
        finally:
            pool.shutdown(wait=True, cancel_futures=True)
        if self._stop is not None:
            raise self._stop

    # -- one trial ----------------------------------------------------------------------------------------------------

    def _one(self, task: Task, identity: TrialId) -> None:
        for attempt in range(self.plan.retries + 1):
            trial = self._trial(task, identity)
            ending = self._attempt(trial)
            self._spend(trial)
            replace = ending.status == "error" and ending.cause in _REPLACED_CAUSES
            if not replace or attempt == self.plan.retries or self._stop is not None:
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

    def _attempt(self, trial: Trial) -> Ending:
        trial.begin()
        with self._lock:
            self._active.add(trial)
            if self._interrupted:
                trial.interrupt()
        raised: BaseException | None = None
        try:
            raised = run_agent(self.agent, trial, self.plan.timeout)
        finally:
            leaving = trial.end(raised)
            trial.session.stop(Refused(f"{trial.id} has ended"))  # an agent that was given up may call nothing more
            with self._lock:
                self._active.discard(trial)
                if any(thread.name == f"trial {trial.id}" and thread.is_alive() for thread in threading.enumerate()):
                    self.result.lingering.append(str(trial.id))
        if isinstance(leaving, KeyboardInterrupt | RecordingFailed):
            raise leaving
        if trial.ending is None:
            raise AssertionError("a trial that was ended has an ending")
        return trial.ending

    def _trial(self, task: Task, identity: TrialId) -> Trial:
        pool = self.pools.get(task.id, [])
        config: dict[str, Any] = {
            "mode": self.plan.policy.mode,
            "seed": self.plan.seed,
            "timeout": self.plan.timeout,
        }
        if pool:
            config |= {
                "freeze": list(self.plan.freeze),
                "source": self.plan.source,
                "world": identity.index % len(pool),
                "worlds": len(pool),
                "on_miss": self.plan.on_miss,
            }
        setup = Setup(
            id=identity,
            path=self.home.cassette(identity),
            home=self.home,
            policy=self.plan.policy,
            task=task,
            source=world_of([recording for recording, _ in pool], identity.index) if pool else None,
            config=config,
            environ=os.environ,
            throttle=self.throttle,
        )
        trial = Trial(setup)
        if trial.digests != self.digests[task.id]:
            raise BadInput(
                f"task {task.id}: its state() does not make a fresh state: that of trial {identity.index} is another "
                "than the first; each trial needs its own copy, so that trials are independent"
            )
        return trial

    def _score(self, identity: TrialId) -> bool | None:
        view = View(self.home.cassette(identity), self.home)
        if view.ending.status not in {"completed", "capped"}:
            return None
        scores = [(by, score_trial(view, by)) for by in self.scorers]
        kept = [KeptScore.of(identity, by.name, by.version, score, view.cassette.digest) for by, score in scores]
        append_scores(self.home, self.plan.name, kept)
        return scores[0][1].passed if scores and view.ending.status == "completed" else None

    def _spend(self, trial: Trial) -> None:
        if not self.prices:
            return
        try:
            cost = cost_of(trial.session.live_model_calls, self.prices)
        except BadInput as error:
            with self._lock:
                self._stop = self._stop or error
            return
        with self._lock:
            self.result.cost = (self.result.cost or 0.0) + cost
            self._spent += cost
            self._check_budget()

    def _check_budget(self) -> None:
        if self.plan.max_cost is not None and self._spent >= self.plan.max_cost:
            self._stop = self._stop or BudgetReached(
                f"run {self.plan.name!r}: {self._spent:.4f} of {self.plan.max_cost:.4f} is spent; "
                "the same command with a higher --max-cost goes on"
            )

    def _spent_before(self) -> float:
        """What the live calls of earlier sessions cost: the budget is the run's."""
        return sum(cost_of(_live_calls(path), self.prices) for path in self.home.recordings(self.plan.name))

    # -- resuming -----------------------------------------------------------------------------------------------------

    def _is_finished(self, identity: TrialId) -> bool:
        path = self.home.cassette(identity)
        if not path.exists():
            return False
        ending = _ending_of(path)
        if ending.status in {"incomplete", "cancelled"} or ending.cause in _REPLACED_CAUSES:
            self._set_aside(identity)
            return False
        return True

    def _set_aside(self, identity: TrialId) -> None:
        self.home.cassette(identity).rename(self.home.next_attempt(identity))
        with self._lock:
            self.result.replaced += 1

    def _count(self, identity: TrialId, scores: Mapping[tuple[str, str, str], bool | None]) -> None:
        """Count a trial from before; it is scored now if an earlier session was killed before it could."""
        ending = _ending_of(self.home.cassette(identity))
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


def _ending_of(path: Path) -> Ending:
    try:
        return View(path).ending
    except NewerFormat:
        raise  # whole, but not for this version
    except TrialtapeError as error:
        # A process killed while it created the file leaves no header: nothing had returned yet.
        return Ending("incomplete", str(error))


def _live_calls(path: Path) -> list[Interaction]:
    try:
        return list(View(path).cassette)
    except NewerFormat:
        raise
    except CassetteError:
        return []  # killed while it was created, or damaged: what can be read is counted elsewhere


def _check_worlds(plan: Plan, pools: Mapping[str, list[tuple[Recording, str]]]) -> None:
    for task, pool in pools.items():
        if plan.trials > len(pool):
            raise BadInput(
                f"{plan.trials} trials are asked for, but run {plan.source!r} has {len(pool)} finished trials of task "
                f"{task!r} as worlds, and each trial needs a world of its own; ask for at most "
                f"{min(len(found) for found in pools.values())}"
            )


def _run_file(
    plan: Plan,
    tasks: Sequence[Task],
    scorers: Sequence[Scorer],
    pools: Mapping[str, list[tuple[Recording, str]]],
) -> RunFile:
    config: dict[str, Any] = {
        "mode": plan.policy.mode,
        "seed": plan.seed,
        "timeout": plan.timeout,
        "tasks": {task.id: digests_of(task, fresh_state(task)) for task in tasks},
    }
    if plan.freeze:
        config |= {"freeze": list(plan.freeze), "source": plan.source, "on_miss": plan.on_miss}
    about = {
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        "packages": packages(),
        "git": git_state(Path.cwd()),
        "suite": plan.origin,
    }
    pool = {str(recording.trial): digest for recordings in pools.values() for recording, digest in recordings}
    return RunFile(plan.name, config, about, pool, scorers[0].id if scorers else None)
