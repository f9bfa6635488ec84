"""A suite: tasks, the agent that tries them, and how its trials are scored."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from attrs import field, frozen

from cassettes.errors import BadInput
from cassettes.given import given_rules

from .commands import Command
from .dialogue import Dialogue
from .effects import Effects
from .given_policy import GivenPolicy, settled
from .plan import Plan
from .prices import Price, PriceList
from .progress import Progress, RunResult
from .readings import ambient_kinds
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
        worlds: int | None = None,
        on_miss: str | Iterable[str] | None = None,
        offline: bool = False,
        catch_up: str | Iterable[str] = (),
        ignore: str | Iterable[str] = (),
        ignore_fields: str | Iterable[str] = (),
        ambient: str | Iterable[str] = (),
        effects: str | Path | Effects | None = None,
        policy: str | Path | GivenPolicy | None = None,
        emulator: str | None = None,
        seed: int = 0,
        home: str | Path | None = None,
        origin: str | None = None,
        progress: Progress | None = None,
    ) -> RunResult:
        """Run every task ``trials`` times, interleaved; go on where an earlier call of the same name stopped.

        Args:
            name: the run's name.
            trials: per task; of a run with ``worlds``, per task and world.
            concurrency: trials at the same time, in threads.
            timeout: seconds per trial; a trial that takes longer ends ``capped``.
            retries: how often a trial that failed for reasons of infrastructure is replaced.
            max_cost: the run stops when it is spent, and can go on later; every model needs a price, of the suite or
                the table.
            freeze: selectors such as ``external``; needs ``source``.
            source: the run whose trials are the recorded worlds.
            worlds: how many recorded worlds of each task; trial i lives in world i mod ``worlds``. None gives each
                trial a world of its own.
            on_miss: what happens where no recording answers (see `replay.on_miss`): ``ACTION`` or
                ``SELECTOR=ACTION``, several of them too.
            offline: no frozen call goes live, whatever is missed.
            catch_up: selectors of tools, each by its name: such frozen writes are carried out before a live call that
                would notice their absence, and their outcomes compared.
            ignore: paths of arguments that do not count in a match (see `replay.ignoring`), here and in ``verify``.
            ignore_fields: paths below the outcomes of what ``catch_up`` carries out: fields that do not count.
            ambient: what else is recorded: ``clock``, ``random`` or both; a replay hands it out again. Trials that
                record or freeze ``random`` run one at a time, or, of a suite with an ``origin``, in processes.
            effects: what tools do, declared in a file (see `replay.effects`), besides what they say themselves.
            policy: all of freeze, on_miss, offline, ignore and effects in one file or value, and what is live or
                refused (see `replay.given_policy`). What both the policy and an argument say is refused.
            emulator: the model that plays tools where on-miss is ``emulate``, asked by the openai SDK.
            seed: from which each trial's ``seed`` is made.
            home: the home folder.
            origin: where the suite was loaded from, so that ``verify`` can load it again.
            progress: told of each trial that ends.

        Raises:
            BadInput: the arguments do not go together, or the run exists under another configuration.
            BudgetReached: ``max_cost`` is spent.
        """
        options = GivenPolicy(
            freeze=() if freeze is None else freeze,
            on_miss=on_miss,
            offline=offline,
            catch_up=catch_up,
            ignore=ignore,
            ignore_fields=ignore_fields,
            effects=effects,
            emulator=emulator,
        )
        given = settled(policy, options)
        plan = Plan(
            name=name,
            trials=trials,
            concurrency=concurrency,
            timeout=timeout,
            retries=retries,
            max_cost=max_cost,
            source=source,
            seed=seed,
            origin=origin,
            given=given,
            redact=self.redact,
            ambient=ambient_kinds(ambient),
            policy_told=given.told if policy is not None else {},
            worlds=worlds,
            command=self.agent.words if isinstance(self.agent, Command) else (),
            settings=self.agent.settings if isinstance(self.agent, Dialogue) else {},
        )
        prices = PriceList(self.prices) if self.prices or max_cost is not None else {}
        return carry_out(plan, self.tasks, self.agent, self.scorers, prices, home, progress)
