"""A suite: tasks, the agent that tries them, and how its trials are scored."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from attrs import field, frozen

from cassettes.errors import BadInput
from cassettes.given import given_rules
from replay.effects import Effects
from replay.given_policy import GivenPolicy
from replay.prices import Price
from replay.scoring import ATTACK, Scorer, as_scorer, attack_success, task_checks

from .progress import Progress, RunResult
from .run_terms import RunTerms
from .runner import carry_out
from .running import Job
from .tasks import Task
from .variant import Variant, checked_settings

__all__ = ["Price", "Suite"]


def _tasks(given: Iterable[Task]) -> tuple[Task, ...]:
    return tuple(given)


def _scorers(given: Iterable[Any] | None) -> tuple[Scorer, ...]:
    return (task_checks,) if given is None else tuple(as_scorer(thing) for thing in given)


def _telling_of_attacks(scorers: Sequence[Scorer], tasks: Sequence[Task]) -> Sequence[Scorer]:
    """The scorers; where a task is attacked, one of them tells whether the attack succeeded."""
    attacked = [task for task in tasks if task.injections]
    if not attacked or any(each.name == ATTACK for each in scorers):
        return scorers
    untold = next((task for task in attacked if task.attack_goal is None), None)
    if untold is not None:
        raise BadInput(
            f"task {untold.id} is attacked, but neither its attack_goal nor a scorer named {ATTACK} tells whether the "
            "attack succeeded"
        )
    return (*scorers, attack_success)


@frozen
class Suite:
    """Tasks with the agent that tries them.

    Attributes:
        tasks: at least one, with different ids.
        agent: called with a `Trial` for each trial; a function or a coroutine function.
        scorers: the first is the run's primary one; default `task_checks`. Where a task is attacked, `attack_success`
            is one of them.
        prices: by model, in USD if the table's are used too; they win over the table that comes with trialtape.
        redact: more that is removed before anything is written, as of `replay.block.trial`.
        settings: by name, what the agent is told of how to do its work, as ``trial.settings``; kept in the run and its
            cassettes. The arms of an A/B run (see `replay.orchestration.arms`) may give others.
    """

    tasks: Sequence[Task] = field(converter=_tasks)
    agent: Callable[[Any], Any]
    scorers: Sequence[Scorer] = field(default=None, converter=_scorers)
    prices: Mapping[str, Price] = field(factory=dict)
    redact: Any = field(default=(), converter=given_rules, repr=False)
    settings: Mapping[str, Any] = field(factory=dict, converter=checked_settings)

    def __attrs_post_init__(self) -> None:
        if not self.tasks:
            raise BadInput("the suite has no task")
        seen: set[str] = set()
        for task in self.tasks:
            if task.id in seen:
                raise BadInput(f"the suite has two tasks with the id {task.id!r}")
            seen.add(task.id)
        object.__setattr__(self, "scorers", _telling_of_attacks(self.scorers, self.tasks))  # frozen, but not yet made

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
        user_seeds: int | None = None,
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
            user_seeds: how many simulated users each world has: its trials take them in turn, and those of one user
                have the same ``user_seed``, so that its share of the noise can be told. None: each trial has its own.
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
        terms = RunTerms(
            trials=trials,
            concurrency=concurrency,
            timeout=timeout,
            retries=retries,
            max_cost=max_cost,
            freeze=freeze,
            source=source,
            worlds=worlds,
            on_miss=on_miss,
            offline=offline,
            catch_up=catch_up,
            ignore=ignore,
            ignore_fields=ignore_fields,
            ambient=ambient,
            effects=effects,
            policy=policy,
            emulator=emulator,
            seed=seed,
            origin=origin,
            user_seeds=user_seeds,
        )
        return carry_out(self.job(name, terms), home, progress)

    def job(self, name: str, terms: RunTerms, variant: Variant | None = None) -> Job:
        """The run that `run` carries out.

        Args:
            name: its name.
            terms: under which it is made.
            variant: what the agent is given; None gives it the suite's settings.

        Raises:
            BadInput: the terms do not go together.
        """
        plan = terms.plan(name, self.agent, self.redact, variant or Variant(self.settings))
        return Job(plan, self.tasks, self.agent, self.scorers, terms.prices(self.prices))
