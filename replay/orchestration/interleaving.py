"""The trials of runs that are carried out together, one after the other or side by side, in an order that is fair."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from typing import Protocol

from attrs import frozen

from cassettes.model import TrialId
from replay.analysis.reliability import TrialOutcome

from .running import Running
from .tasks import Task
from .turns import Turns

__all__ = ["Place", "Watch", "carry_on", "rounds", "task_by_task"]

Place = tuple[Task, int]


class Watch(Protocol):
    """Looks at what has ended, and says when it is enough."""

    def places(self, tasks: Sequence[Task], per_task: int) -> Iterator[Place]:
        """The tasks and indexes in the order in which they are wanted."""
        ...

    def is_settled(self, task: str) -> bool:
        """True if the task was looked at: none of its trials is run again."""
        ...

    def look(self, outcomes: Mapping[TrialId, TrialOutcome]) -> bool:
        """True once no other trial is to be begun; asked at the beginning, and when a trial has ended."""
        ...


@frozen
class _Turn:
    """One trial of one of the runs."""

    run: Running
    task: Task
    identity: TrialId

    @property
    def pair(self) -> tuple[str, int]:
        """The same for the trials of all runs that stand next to each other."""
        return self.identity.task, self.identity.index

    @property
    def chain(self) -> tuple[str | None, str, int]:
        return self.run.chain_of(self.identity)


def rounds(tasks: Sequence[Task], per_task: int) -> Iterator[Place]:
    """One trial of each task, then the next one of each."""
    return ((task, index) for index in range(per_task) for task in tasks)


def task_by_task(tasks: Sequence[Task], per_task: int) -> Iterator[Place]:
    """All trials of a task, then those of the next one."""
    return ((task, index) for task in tasks for index in range(per_task))


def carry_on(runs: Sequence[Running], tasks: Sequence[Task], concurrency: int, watch: Watch | None) -> None:
    """Carry out what is missing of runs of the same tasks; they share what the first one is together with.

    The trials of one task and index stand next to each other, and the runs take turns at who is first, so that a drift
    of the outside, and what one trial leaves behind, hits all alike.

    Raises:
        BudgetReached: the money is spent.
        KeyboardInterrupt: the user interrupted; trials in progress end ``cancelled``.
    """
    together, per_task = runs[0].together, runs[0].plan.per_task
    places = rounds(tasks, per_task) if watch is None else watch.places(tasks, per_task)
    todo = [turn for turn in _turns(runs, tasks, places) if _is_missing(turn, watch)]
    total = sum(run.result.trials for run in runs)
    together.planned(total, total - len(todo))
    together.pay(())  # earlier sessions may have spent it all
    _Loop(runs, Turns(todo, lambda turn: turn.chain), watch).all(concurrency)
    for run in runs:
        run.result.trials = run.result.endings.total()
    if together.stop is not None:
        raise together.stop


def _turns(runs: Sequence[Running], tasks: Sequence[Task], places: Iterator[Place]) -> Iterator[_Turn]:
    """Each run is first as often as the others, in each round and of each task."""
    position = {task.id: place for place, task in enumerate(tasks)}
    for task, index in places:
        first = (position[task.id] + index) % len(runs)
        for run in (*runs[first:], *runs[:first]):
            yield _Turn(run, task, TrialId(run.plan.name, task.id, index))


def _is_missing(turn: _Turn, watch: Watch | None) -> bool:
    settled = watch is not None and watch.is_settled(turn.task.id)
    return turn.run.is_missing(turn.identity, settled=settled) and not settled


class _Loop:
    """Begins trials as long as they are wanted."""

    def __init__(self, runs: Sequence[Running], turns: Turns[_Turn], watch: Watch | None) -> None:
        self._runs = runs
        self._together = runs[0].together
        self._turns = turns
        self._watch = watch
        self._begun: set[tuple[str, int]] = set()
        self._running: dict[Future[None], _Turn] = {}

    def all(self, concurrency: int) -> None:
        pool = ThreadPoolExecutor(concurrency, thread_name_prefix="trialtape-run")
        try:
            self._look()
            while (not self._turns.is_over and self._together.stop is None) or self._running:
                self._begin(pool, concurrency)
                done, _ = wait(self._running, return_when=FIRST_COMPLETED)
                for future in done:
                    future.result()
                    self._turns.finished(self._running.pop(future))
                self._look()
        except KeyboardInterrupt:
            self._together.interrupt()
            for run in self._runs:
                run.interrupt()
            raise
        finally:
            pool.shutdown(wait=True, cancel_futures=True)

    def _begin(self, pool: ThreadPoolExecutor, concurrency: int) -> None:
        while len(self._running) < concurrency and self._together.stop is None and (turn := self._turns.next()):
            self._begun.add(turn.pair)
            self._running[pool.submit(turn.run.one, turn.task, turn.identity)] = turn

    def _look(self) -> None:
        """Once it is enough, only pairs that were begun are completed: half a pair compares nothing."""
        if self._watch is not None and self._watch.look(self._together.outcomes):
            self._watch = None
            self._turns.keep(lambda turn: turn.pair in self._begun)
