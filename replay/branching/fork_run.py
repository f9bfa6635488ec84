"""Carry out a fork: n continuations of one recorded trial, each in a cassette of its own."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from attrs import evolve, frozen

from cassettes.canonical import digest_bytes
from cassettes.errors import BadInput, BudgetReached
from cassettes.model import Interaction, TrialId
from replay.home import Home
from replay.orchestration.leftovers import calls_in
from replay.orchestration.plan import Plan
from replay.orchestration.progress import Progress, RunResult
from replay.orchestration.runner import carry_out
from replay.orchestration.running import Job
from replay.orchestration.suite import Suite
from replay.orchestration.tasks import Task, digests_of, fresh_state
from replay.orchestration.variant import variant_of_trial
from replay.prices import Price, PriceList
from replay.spending import cost_of
from replay.view import View

from .forking import Fork, Wish, fork_name, fork_of

__all__ = ["Continued", "Terms", "continue_from"]


@frozen
class Terms:
    """Under which terms continuations are run.

    Attributes:
        trials: how many of each fork.
        concurrency: how many at the same time, in threads.
        timeout: seconds for each; one that takes longer ends ``capped``.
        max_cost: of all forks that are asked for together.
        name: of the run; None takes one that tells trial and step. Of several forks each adds its step.
        origin: where the suite was loaded from.
    """

    trials: int = 8
    concurrency: int = 1
    timeout: float | None = None
    retries: int = 2
    max_cost: float | None = None
    name: str | None = None
    origin: str | None = None


@frozen
class Continued:
    """A fork that was carried out.

    Attributes:
        name: of its run.
        result: of the run.
    """

    fork: Fork
    name: str
    result: RunResult

    @property
    def trials(self) -> list[TrialId]:
        """The continuations."""
        return [TrialId(self.name, self.fork.parent.task, index) for index in range(self.result.trials)]


def continue_from(
    view: View,
    points: Mapping[int, Wish],
    suite: Suite,
    home: Home,
    terms: Terms,
    progress: Callable[[int, str], Progress | None],
) -> Iterator[Continued]:
    """Run what is missing of the continuations from each point, one point after the other; yields each when it is done.

    Args:
        view: the trial that is forked.
        points: the steps to fork at, with what is asked for at each.
        suite: its agent goes on, its scorers score.
        home: where cassettes go.
        terms: how many, how fast, for how much.
        progress: of a point's step and run, who is told of its trials.

    Raises:
        BadInput: a point cannot be forked at, or the suite has not the task that was recorded.
        BudgetReached: ``max_cost`` is spent; the same call with more goes on.
    """
    task = _task_of(view, suite)
    forks = [_with_agent(fork_of(view, at, wish), suite, terms) for at, wish in points.items()]
    _check_alone(forks, terms)
    names = [_name(fork, points[fork.at], terms, several=len(forks) > 1) for fork in forks]
    prices = PriceList(suite.prices) if suite.prices or terms.max_cost is not None else {}
    for fork, name in zip(forks, names, strict=True):
        plan = Plan(
            name=name,
            trials=terms.trials,
            concurrency=terms.concurrency,
            timeout=terms.timeout,
            retries=terms.retries,
            max_cost=_left(terms, home, [other for other in names if other != name], prices),
            source=None,
            seed=fork.seed,
            origin=terms.origin,
            given=points[fork.at].given,
            policy_told=points[fork.at].policy_told,
            redact=suite.redact,
            ambient=tuple(view.cassette.header.config.get("ambient", ())),
            fork=fork,
            variant=variant_of_trial(view.cassette.header, suite.settings),
        )
        told = progress(fork.at, name)
        result = carry_out(Job(plan, [task], suite.agent, suite.scorers, prices), home.root, told)
        yield Continued(fork, name, result)


def _task_of(view: View, suite: Suite) -> Task:
    task = next((task for task in suite.tasks if task.id == view.id.task), None)
    if task is None:
        raise BadInput(
            f"the suite has no task {view.id.task!r}, which {view.id} is a trial of; name its suite: --suite"
        )
    recorded = (view.cassette.header.task_definition or {}).get("digests", {})
    now = digests_of(task, fresh_state(task))
    changed = [name for name in ("instruction", "state") if name in recorded and recorded[name] != now[name]]
    if changed:
        raise BadInput(
            f"task {task.id!r} is another than when {view.id} was recorded (its {' and '.join(changed)} changed), so "
            "nothing can go on from it; record it again"
        )
    return task


def _with_agent(fork: Fork, suite: Suite, terms: Terms) -> Fork:
    """The fork with what tells one agent from another, so that continuations of two are never counted together."""
    made = {**fork.config["fork"], "agent": _digest_of(suite.agent) or terms.origin}
    return evolve(fork, config={**fork.config, "fork": made})


def _digest_of(agent: Callable[[Any], Any]) -> str | None:
    """Of the file that defines the agent; None if nobody knows which."""
    try:
        file = inspect.getsourcefile(inspect.unwrap(agent))
        return None if file is None else digest_bytes(Path(file).read_bytes())
    except (OSError, TypeError):
        return None


def _check_alone(forks: list[Fork], terms: Terms) -> None:
    readings = [fork.recording.readings for fork in forks]
    if terms.concurrency > 1 and any(read is not None and "random" in read.kinds for read in readings):
        raise BadInput(
            "the trial recorded random numbers, whose generators belong to the whole process, so its continuations run "
            "one after the other: --concurrency 1"
        )


def _name(fork: Fork, wish: Wish, terms: Terms, *, several: bool) -> str:
    if terms.name is None:
        return fork_name(fork.parent, fork.at, wish, fork.edit)
    return f"{terms.name}-at{fork.at}" if several else terms.name


def _left(terms: Terms, home: Home, others: list[str], prices: Mapping[str, Price]) -> float | None:
    """What of the money the other forks of the same call have left.

    Raises:
        BudgetReached: nothing.
    """
    if terms.max_cost is None:
        return None
    calls: list[list[Interaction]] = [calls_in(path) for other in others for path in home.recordings(other)]
    spent = sum(cost_of(made, prices) for made in calls)
    if spent and spent >= terms.max_cost:
        raise BudgetReached(
            f"{spent:.4f} of {terms.max_cost:.4f} is spent; the same command with a higher --max-cost goes on"
        )
    return terms.max_cost - spent
