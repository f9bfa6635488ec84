"""What a run was asked for, and the configuration that follows from it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from attrs import field, frozen

from cassettes.errors import BadInput
from cassettes.given import GivenRule

from .effects import AS_DECLARED
from .forking import Fork
from .given_policy import GivenPolicy
from .policy import Policy
from .runs import RunFile, git_state, packages
from .scoring import Scorer
from .sources import Pool
from .tasks import Task, digests_of, fresh_state

__all__ = ["Plan", "check_worlds", "run_file", "trial_config"]


@frozen
class Plan:
    """What `Suite.run` was asked for.

    Attributes:
        trials: per task; of a run with ``worlds``, per task and world.
        command: the program that is the agent, if it is one.
        worlds: how many worlds of each task; None gives each trial a world of its own.
        given: how calls are answered, as the user says it.
        fork: all trials go on from there, instead of from the beginning.
        settings: of the agent, as a `replay.dialogue.Dialogue` tells them.
        policy_told: the name, digest and content of the policy that was given as one, if one was.
    """

    name: str
    trials: int
    concurrency: int
    timeout: float | None
    retries: int
    max_cost: float | None
    source: str | None
    seed: int
    origin: str | None
    given: GivenPolicy = field(factory=GivenPolicy)
    redact: tuple[GivenRule, ...] = ()
    ambient: tuple[str, ...] = ()
    fork: Fork | None = None
    worlds: int | None = None
    command: tuple[str, ...] = ()
    policy_told: Mapping[str, Any] = field(factory=dict)
    settings: Mapping[str, Any] = field(factory=dict)

    def __attrs_post_init__(self) -> None:
        if self.trials < 1 or self.concurrency < 1 or self.retries < 0:
            raise BadInput("trials and concurrency are at least 1, retries at least 0")
        if self.timeout is not None and self.timeout <= 0:
            raise BadInput("timeout is in seconds and above 0")
        if self.fork is None and bool(self.given.freeze) != (self.source is not None):
            raise BadInput("freeze and source go together: what is frozen, and from which run it is answered")
        if self.given.catch_up and not self.given.freeze and self.fork is None:
            raise BadInput("catch_up carries out frozen writes, and nothing is frozen: name what is, with freeze")
        if self.worlds is not None and (self.source is None or self.worlds < 1):
            raise BadInput("worlds, at least 1, belong to a frozen run: name what is frozen and its source")
        if self.needs_its_process and self.concurrency > 1 and self.origin is None:
            raise BadInput(
                "trials that record or freeze random numbers each need a process of their own: concurrency 1, or the "
                "suite in a file and `trialtape run FILE.py`, which starts one for each"
            )

    @property
    def per_task(self) -> int:
        """How many trials each task gets."""
        return self.trials * (self.worlds or 1)

    def world_of(self, index: int, recordings: int) -> int:
        """In which world trial ``index`` lives, of a task with so many recordings."""
        return index % (self.worlds or recordings)

    @property
    def needs_its_process(self) -> bool:
        """True if its trials follow the random generators that a process shares."""
        return "random" in {*self.ambient, *self.policy.ambient}

    @property
    def policy(self) -> Policy:
        """How calls are answered; of a fork those after it."""
        return self.given.policy if self.fork is None else self.fork.policy


def check_worlds(plan: Plan, pools: Mapping[str, Pool]) -> None:
    """See that there are as many worlds as are asked for: each trial has one of its own, or shares one of ``worlds``.

    Raises:
        BadInput: a task has fewer recordings.
    """
    wanted = plan.worlds or plan.trials
    for task, pool in pools.items():
        if wanted > len(pool):
            what = f"{wanted} worlds" if plan.worlds else f"{wanted} trials, each in a world of its own,"
            raise BadInput(
                f"{what} are asked for, but run {plan.source!r} has {len(pool)} finished trials of task {task!r} as "
                f"worlds; ask for at most {min(len(found) for found in pools.values())}, or let trials share worlds: "
                "--worlds R --trials n"
            )


def run_file(
    plan: Plan,
    tasks: Sequence[Task],
    scorers: Sequence[Scorer],
    pools: Mapping[str, Pool],
    prices: Mapping[str, Any],
) -> RunFile:
    """The run's own file: what must be the same whenever the run goes on, and what is only told."""
    config: dict[str, Any] = {
        "mode": plan.policy.mode,
        "seed": plan.seed,
        "timeout": plan.timeout,
        "tasks": {task.id: digests_of(task, fresh_state(task)) for task in tasks},
    }
    given = plan.given
    if plan.source is not None:
        config |= {"freeze": list(given.freeze), "source": plan.source, "on_miss": given.missed.to_list()}
        if plan.worlds is not None:
            config |= {"worlds": plan.worlds}
    config |= _options(plan)
    config |= plan.settings
    if plan.policy_told:
        config |= {"policy": dict(plan.policy_told)}
    if plan.fork is not None:
        config |= plan.fork.config
    about = {
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        "packages": packages(),
        "git": git_state(Path.cwd()),
        "suite": plan.origin,
        "command": list(plan.command),
        "prices": prices,
    }
    pool = {str(recording.trial): digest for recordings in pools.values() for recording, digest in recordings}
    return RunFile(plan.name, config, about, pool, scorers[0].id if scorers else None)


def trial_config(plan: Plan, index: int, worlds: int) -> dict[str, Any]:
    """What the cassette of trial ``index`` says of its making; ``worlds`` is 0 where nothing is frozen."""
    config: dict[str, Any] = {"mode": plan.policy.mode, "seed": plan.seed, "timeout": plan.timeout}
    config |= _options(plan)
    if plan.policy_told:
        config |= {"policy": {name: plan.policy_told[name] for name in ("name", "digest")}}
    if worlds:
        config |= {
            "freeze": list(plan.given.freeze),
            "source": plan.source,
            "world": plan.world_of(index, worlds),
            "worlds": plan.worlds or worlds,
            "on_miss": plan.given.missed.to_list(),
        }
    return config


def _options(plan: Plan) -> dict[str, Any]:
    """What both the run and its cassettes say; only what was asked for."""
    given = plan.given
    options = {
        "live": list(given.live),
        "emulate": list(given.emulate),
        "refuse": list(given.refuse),
        "catch_up": list(given.catch_up),
        "ignore": list(given.ignore),
        "ignore_fields": list(given.ignore_fields),
        "redact": [rule.name for rule in plan.redact],
        "ambient": list(plan.ambient),
    }
    effects = {} if given.effects is AS_DECLARED else {"effects": given.effects.to_dict()}
    emulator = {} if given.emulator is None else {"emulator": given.emulator}
    return {**{name: said for name, said in options.items() if said}, **effects, **emulator}
