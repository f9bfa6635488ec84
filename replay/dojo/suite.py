"""AgentDojo's suites, run and recorded as any other suite: the environment of a task is the trial's tracked state."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any

from attrs import frozen

from cassettes.errors import BadInput
from replay.orchestration.suite import Suite
from replay.orchestration.tasks import Task
from replay.trial import Trial

from .library import (
    LATEST,
    AbortAgentError,
    FunctionsRuntime,
    fresh_environment,
    load_attack,
    suite_named,
    task_named,
)
from .scoring import SAID, attack_success, conversation, utility

__all__ = ["agentdojo_suite"]

_TRIES = 3  # the library asks again, in the same environment, if the model said nothing


@frozen
class _Case:
    """A task of the library, maybe under attack."""

    task: Any
    injection: Any = None
    attack: str | None = None
    injections: tuple[tuple[str, str], ...] = ()


def agentdojo_suite(
    name: str,
    pipeline: Any,
    *,
    benchmark_version: str = LATEST,
    attack: str | None = None,
    user_tasks: Iterable[str] | None = None,
    injection_tasks: Iterable[str] | None = None,
) -> Suite:
    """A suite of AgentDojo as a `replay.orchestration.suite.Suite`, with the scores ``utility`` and ``attack_success``.

    Args:
        name: ``banking``, ``slack``, ``travel`` or ``workspace``.
        pipeline: of AgentDojo, or a function that makes one for a task of it.
        benchmark_version: of the benchmark, such as ``v1.2.2``.
        attack: a registered attack, such as ``direct``; each user task is then tried with each injection task.
        user_tasks: only these.
        injection_tasks: only these; of an attack that only denies service, AgentDojo takes a single one.

    Raises:
        BadInput: there is no such suite, attack or task, or agentdojo is not installed.
    """
    suite = suite_named(name, benchmark_version)
    cases = list(_cases(suite, pipeline, attack, user_tasks, injection_tasks))
    by_id = {_task_id(suite, case): case for case in cases}
    tasks = [_task(suite, identity, case, benchmark_version) for identity, case in by_id.items()]
    agent = partial(_try, suite=suite, cases=by_id, pipeline=pipeline)
    return Suite(tasks=tasks, agent=agent, scorers=[utility, attack_success])


def _cases(
    suite: Any, pipeline: Any, attack: str | None, users: Iterable[str] | None, goals: Iterable[str] | None
) -> Iterator[_Case]:
    tasks = [task_named(suite, name) for name in (suite.user_tasks if users is None else users)]
    if attack is None:
        if goals is not None:
            raise BadInput("injection_tasks go with an attack: name one, such as attack='direct'")
        yield from (_Case(task) for task in tasks)
        return
    try:
        made = load_attack(attack, suite, _chosen(pipeline, tasks[0]))
    except (KeyError, ValueError) as error:
        raise BadInput(f"AgentDojo makes no attack {attack!r} on this pipeline: {error}") from error
    wanted = list(suite.injection_tasks) if goals is None else list(goals)
    for task in tasks:
        for goal in wanted[:1] if made.is_dos_attack else wanted:
            injection = task_named(suite, goal)
            yield _Case(task, injection, made.name, tuple(sorted(made.attack(task, injection).items())))


def _task_id(suite: Any, case: _Case) -> str:
    under = () if case.injection is None else (str(case.attack), case.injection.ID)
    return "/".join((suite.name, case.task.ID, *under))


def _task(suite: Any, identity: str, case: _Case, benchmark_version: str) -> Task:
    attacked = case.injection is not None
    tags = {
        "suite": suite.name,
        "kind": "attacked" if attacked else "injection task" if hasattr(case.task, "GOAL") else "benign",
        "user_task": case.task.ID,
        **({"attack": str(case.attack), "injection_task": case.injection.ID} if attacked else {}),
        "benchmark_version": benchmark_version,
    }
    state = partial(fresh_environment, suite, case.task, dict(case.injections))
    return Task(id=identity, instruction=_prompt(case.task), state=state, tags=tags)


def _prompt(task: Any) -> str:
    return str(task.GOAL if hasattr(task, "GOAL") else task.PROMPT)


def _chosen(pipeline: Any, task: Any) -> Any:
    """The pipeline, or the one that is made for this task."""
    is_one = hasattr(pipeline, "query") and not isinstance(pipeline, type)
    return pipeline if is_one else pipeline(task)


def _try(trial: Trial, *, suite: Any, cases: dict[str, _Case], pipeline: Any) -> None:
    """One trial, as the library runs a task; the environment that the tools act on must stay the tracked one."""
    case = cases[trial.task.id]
    chosen = _chosen(pipeline, case.task)
    runtime = FunctionsRuntime(suite.tools)
    query: Callable[..., tuple[Any, ...]] = chosen.query
    messages: list[Any] = []
    for _ in range(_TRIES):
        try:
            _, _, environment, messages, _ = query(_prompt(case.task), runtime, trial.state)
        except AbortAgentError as abort:
            environment, messages = abort.task_environment, abort.messages
        if environment is not trial.state:
            raise BadInput(
                f"{trial.id}: the pipeline gave another environment back than it was given, so what it changed is not "
                "recorded; let it act on the one that it is given"
            )
        if messages and messages[-1]["role"] == "assistant" and messages[-1]["content"] is not None:
            break
    trial.session.journal.mark("annotation", {"from": SAID, "data": conversation(messages)})
