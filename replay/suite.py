"""A suite: tasks, the agent that tries them, and how its trials are scored."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from attrs import field, frozen

from cassettes.errors import BadInput
from cassettes.given import given_rules

from .ignoring import checked_rules
from .plan import Plan
from .policy import OnMiss
from .prices import Price, PriceList
from .progress import Progress, RunResult
from .runner import carry_out
from .scoring import Scorer, as_scorer, task_checks
from .tasks import Task

__all__ = ["Price", "Suite"]


def _tasks(given: Iterable[Task]) -> tuple[Task, ...]:
    return tuple(given)


def _scorers(given: Iterable[Any] | None) -> tuple[Scorer, ...]:
    return (task_checks,) if given is None else tuple(as_scorer(thing) for thing in given)


@frozen
class Suite:
    """Tasks with the agent that tries them.

    Attributes:
        tasks: at least one, with different ids.
        agent: called with a `Trial` for each trial; a function or a coroutine function.
        scorers: the first is the run's primary one; default `task_checks`.
        prices: by model, in USD if the table's are used too; they win over the table that comes with trialtape.
        redact: more that is removed before anything is written, as of `replay.block.trial`.
    """

    tasks: Sequence[Task] = field(converter=_tasks)
    agent: Callable[[Any], Any]
    scorers: Sequence[Scorer] = field(default=None, converter=_scorers)
    prices: Mapping[str, Price] = field(factory=dict)
    redact: Any = field(default=(), converter=given_rules, repr=False)

    def __attrs_post_init__(self) -> None:
        if not self.tasks:
            raise BadInput("the suite has no task")
        seen: set[str] = set()
        for task in self.tasks:
            if task.id in seen:
                raise BadInput(f"the suite has two tasks with the id {task.id!r}")
            seen.add(task.id)

    def run(
        self,
        name: str,
        *,
        trials: int,
        concurrency: int = 1,
        timeout: float | None = None,
        retries: int = 2,
        max_cost: float | None = None,
        freeze: str | Iterable[str] | None = None,
        source: str | None = None,
        on_miss: OnMiss = "fail",
        ignore: str | Iterable[str] = (),
        seed: int = 0,
        home: str | Path | None = None,
        origin: str | None = None,
        progress: Progress | None = None,
    ) -> RunResult:
        """Run every task ``trials`` times, interleaved; go on where an earlier call of the same name stopped.

        Args:
            name: the run's name.
            trials: per task; of a frozen run spread over its worlds, trial i in world i.
            concurrency: trials at the same time, in threads.
            timeout: seconds per trial; a trial that takes longer ends ``capped``.
            retries: how often a trial that failed for reasons of infrastructure is replaced.
            max_cost: the run stops when it is spent, and can go on later; every model needs a price, of the suite or
                the table.
            freeze: selectors such as ``external``; needs ``source``.
            source: the run whose trials are the recorded worlds.
            on_miss: what happens where no recording answers.
            ignore: paths of arguments that do not count in a match (see `replay.ignoring`), here and in ``verify``.
            seed: from which each trial's ``seed`` is made.
            home: the home folder.
            origin: where the suite was loaded from, so that ``verify`` can load it again.
            progress: told of each trial that ends.

        Raises:
            BadInput: the arguments do not go together, or the run exists under another configuration.
            BudgetReached: ``max_cost`` is spent.
        """
        plan = Plan(
            name=name,
            trials=trials,
            concurrency=concurrency,
            timeout=timeout,
            retries=retries,
            max_cost=max_cost,
            freeze=() if freeze is None else (freeze,) if isinstance(freeze, str) else tuple(freeze),
            source=source,
            on_miss=on_miss,
            seed=seed,
            origin=origin,
            ignore=checked_rules(ignore),
            redact=self.redact,
        )
        prices = PriceList(self.prices) if self.prices or max_cost is not None else {}
        return carry_out(plan, self.tasks, self.agent, self.scorers, prices, home, progress)
