"""What a run was asked for, and the configuration that follows from it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from zlib import crc32

from attrs import field, frozen

from cassettes.errors import BadInput
from cassettes.given import GivenRule
from cassettes.model import TrialId
from replay.branching.forking import Fork
from replay.effects import AS_DECLARED
from replay.given_policy import GivenPolicy
from replay.policy import Policy
from replay.runs import RunFile, git_state, packages
from replay.scoring import Scorer
from replay.sources import Pool

from .tasks import Task, digests_of, fresh_state
from .variant import Variant

__all__ = ["Plan", "check_worlds", "run_file", "trial_config"]


@frozen
class Plan:
    """What `Suite.run` was asked for.

    Attributes:
        trials: per task; of a run with ``worlds``, per task and world.
        command: the program that is the agent, if it is one.
        worlds: how many worlds of each task; None gives each trial a world of its own.
        given: how calls are answered, as the user says it.
        user_seeds: how many users each world has, whose trials share the user's seed; None gives each trial its own.
        fork: all trials go on from there, instead of from the beginning.
        settings: of the agent, as a `replay.orchestration.dialogue.Dialogue` tells them.
        variant: in what the agent differs from the suite's own.
        beside: the names of all runs that are made side by side in the same worlds: what a trial of one called live
            answers in that world of the others, too.
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
    user_seeds: int | None = None
    command: tuple[str, ...] = ()
    policy_told: Mapping[str, Any] = field(factory=dict)
    settings: Mapping[str, Any] = field(factory=dict)
    variant: Variant = field(factory=Variant)
    beside: tuple[str, ...] = ()

    def __attrs_post_init__(self) -> None:
        if self.trials < 1 or self.concurrency < 1 or self.retries < 0:
            raise BadInput("trials and concurrency are at least 1, retries at least 0")
        if self.timeout is not None and not 0 < self.timeout < math.inf:
            raise BadInput("timeout is in seconds, above 0 and finite")
        if self.fork is None and bool(self.given.freeze) != (self.source is not None):
            raise BadInput("freeze and source go together: what is frozen, and from which run it is answered")
        if self.given.catch_up and not self.given.freeze and self.fork is None:
            raise BadInput("catch_up carries out frozen writes, and nothing is frozen: name what is, with freeze")
        if self.worlds is not None and (self.source is None or self.worlds < 1):
            raise BadInput("worlds, at least 1, belong to a frozen run: name what is frozen and its source")
        if self.user_seeds is not None:
            _check_user_seeds(self.user_seeds, self.worlds, self.trials)
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

    def user_seed_of(self, trial: TrialId) -> int | None:
        """The seed of the user in ``trial``; None if the trial does not share it.

        The trials of a world take its users in turn. A user belongs to one world, so that trials in different worlds
        share nothing but their task.
        """
        if self.user_seeds is None or self.worlds is None:
            return None
        world, user = trial.index % self.worlds, trial.index // self.worlds % self.user_seeds
        return crc32(f"{self.seed}/{trial.task}/world {world}/user {user}".encode()) >> 1  # providers take 31 bits

    @property
    def needs_its_process(self) -> bool:
        """True if its trials follow the random generators that a process shares."""
        return "random" in {*self.ambient, *self.policy.ambient}

    @property
    def policy(self) -> Policy:
        """How calls are answered; of a fork those after it."""
        return self.given.policy if self.fork is None else self.fork.policy


def _check_user_seeds(users: int, worlds: int | None, trials: int) -> None:
    if worlds is None:
        raise BadInput("user seeds are shared by trials of one recorded world: name how many worlds there are")
    if users < 2 or trials < 2 * users:
        raise BadInput(
            f"{users} user seeds and {trials} trials in each world cannot tell the user apart: there are 2 seeds or "
            f"more, and 2 trials or more with each ({max(2, users)} seeds need at least {2 * max(2, users)} trials)"
        )


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
        if plan.user_seeds is not None:
            config |= {"user_seeds": plan.user_seeds}
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


def trial_config(plan: Plan, trial: TrialId, worlds: int) -> dict[str, Any]:
    """What the cassette of a trial says of its making; ``worlds`` is 0 where nothing is frozen."""
    config: dict[str, Any] = {"mode": plan.policy.mode, "seed": plan.seed, "timeout": plan.timeout}
    config |= plan.variant.config
    config |= _options(plan)
    if plan.policy_told:
        config |= {"policy": {name: plan.policy_told[name] for name in ("name", "digest")}}
    if worlds:
        config |= {
            "freeze": list(plan.given.freeze),
            "source": plan.source,
            "world": plan.world_of(trial.index, worlds),
            "worlds": plan.worlds or worlds,
            "on_miss": plan.given.missed.to_list(),
        }
    user_seed = plan.user_seed_of(trial)
    return config if user_seed is None else {**config, "user_seed": user_seed}


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
