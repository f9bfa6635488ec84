"""One attempt at one trial of a run: made from the plan, carried out in this process."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

from attrs import define, field

from cassettes.errors import BadInput, RecordingFailed, Refused
from cassettes.model import Ending, Interaction, TrialId
from replay.agents import is_running, run_agent
from replay.home import Home
from replay.setup import Setup
from replay.sources import Pool, extensions_of, world_of
from replay.trial import Trial
from replay.worlds import World

from .plan import Plan, trial_config
from .tasks import Task
from .throttle import Throttle

__all__ = ["Attempt", "attempted", "trial_of"]


@define
class Attempt:
    """What came of an attempt.

    Attributes:
        calls: its live model calls, to be paid.
        escaped: what it started whose calls are not seen, by name.
        caught_up: frozen writes that were carried out before live calls, with how often.
        misdeclared: tools that are declared reads, and changed the tracked state, with how often.
        lingering: the agent was given up, and goes on.
    """

    ending: Ending
    calls: list[Interaction] = field(factory=list)
    escaped: Counter[str] = field(factory=Counter)
    lingering: bool = False
    misdeclared: Counter[str] = field(factory=Counter)
    caught_up: Counter[str] = field(factory=Counter)


def trial_of(
    plan: Plan,
    home: Home,
    task: Task,
    identity: TrialId,
    pool: Pool,
    digests: Mapping[str, str | None],
    throttle: Throttle | None,
) -> Trial:
    """The trial, ready to begin.

    Raises:
        BadInput: its initial state is another than that of the task's first trial.
    """
    setup = Setup(
        id=identity,
        path=home.cassette(identity),
        home=home,
        policy=plan.policy,
        task=task,
        source=_world(plan, home, identity, pool) if pool else None,
        config=trial_config(plan, identity, len(pool)),
        environ={**os.environ, **plan.variant.env},
        throttle=throttle,
        redact=plan.redact,
        emulator=plan.given.emulator,
        ambient=plan.ambient,
    )
    trial = Trial(setup if plan.fork is None else plan.fork.applied(setup))
    if trial.digests != digests:
        raise BadInput(
            f"task {task.id}: its state() does not make a fresh state: that of trial {identity.index} is another "
            "than the first; each trial needs its own copy, so that trials are independent"
        )
    return trial


def _world(plan: Plan, home: Home, identity: TrialId, pool: Pool) -> World:
    """The world of a trial, with what earlier trials of the run, and of those beside it, called live in it."""
    number = plan.world_of(identity.index, len(pool))
    runs = plan.beside or ((plan.name,) if plan.worlds is not None else ())
    return world_of(pool, number, extensions_of(home, identity, number, plan.policy, runs))


def attempted(trial: Trial, agent: Callable[[Any], Any], timeout: float | None) -> Attempt:
    """Run the agent in a trial that has begun, and end it.

    Raises:
        KeyboardInterrupt: the user interrupted.
        RecordingFailed: the cassette could not be written.
    """
    raised: BaseException | None = None
    try:
        raised = run_agent(agent, trial, timeout)
    finally:
        leaving = trial.end(raised)
        trial.session.stop(Refused(f"{trial.id} has ended"))  # an agent that was given up may call nothing more
    if isinstance(leaving, KeyboardInterrupt | RecordingFailed):
        raise leaving
    if trial.ending is None:
        raise AssertionError("a trial that was ended has an ending")
    session = trial.session
    lingering = is_running(trial)
    return Attempt(
        trial.ending,
        session.live_model_calls,
        session.escaped_work.counts,
        lingering,
        session.misdeclared,
        session.catch_up.counts,
    )
