"""What a run was asked for, and the configuration that follows from it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from attrs import frozen

from cassettes.errors import BadInput
from cassettes.given import GivenRule

from .policy import RECORD, OnMiss, Policy
from .policy import freeze as freezing
from .runs import RunFile, git_state, packages
from .scoring import Scorer
from .sources import Pool
from .tasks import Task, digests_of, fresh_state

__all__ = ["Plan", "check_worlds", "run_file", "trial_config"]


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
    ignore: tuple[str, ...] = ()
    redact: tuple[GivenRule, ...] = ()

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
        return freezing(self.freeze, on_miss=self.on_miss, ignore=self.ignore) if self.freeze else RECORD


def check_worlds(plan: Plan, pools: Mapping[str, Pool]) -> None:
    """See that each trial of a frozen run has a world of its own.

    Raises:
        BadInput: there are fewer worlds than trials.
    """
    for task, pool in pools.items():
        if plan.trials > len(pool):
            raise BadInput(
                f"{plan.trials} trials are asked for, but run {plan.source!r} has {len(pool)} finished trials of task "
                f"{task!r} as worlds, and each trial needs a world of its own; ask for at most "
                f"{min(len(found) for found in pools.values())}"
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
    if plan.freeze:
        config |= {"freeze": list(plan.freeze), "source": plan.source, "on_miss": plan.on_miss}
    if plan.ignore:
        config |= {"ignore": list(plan.ignore)}
    if plan.redact:
        config |= {"redact": [rule.name for rule in plan.redact]}
    about = {
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        "packages": packages(),
        "git": git_state(Path.cwd()),
        "suite": plan.origin,
        "prices": prices,
    }
    pool = {str(recording.trial): digest for recordings in pools.values() for recording, digest in recordings}
    return RunFile(plan.name, config, about, pool, scorers[0].id if scorers else None)


def trial_config(plan: Plan, index: int, worlds: int) -> dict[str, Any]:
    """What the cassette of trial ``index`` says of its making; ``worlds`` is 0 where nothing is frozen."""
    config: dict[str, Any] = {"mode": plan.policy.mode, "seed": plan.seed, "timeout": plan.timeout}
    if plan.ignore:
        config |= {"ignore": list(plan.ignore)}
    if plan.redact:
        config |= {"redact": [rule.name for rule in plan.redact]}
    if worlds:
        config |= {
            "freeze": list(plan.freeze),
            "source": plan.source,
            "world": index % worlds,
            "worlds": worlds,
            "on_miss": plan.on_miss,
        }
    return config
