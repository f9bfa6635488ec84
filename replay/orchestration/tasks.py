"""A task: one problem with its check, and what of it is kept in every cassette."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from attrs import evolve, field, frozen

from cassettes.canonical import digest
from cassettes.errors import BadInput, UnkeepableValue
from replay.injecting import Injection, injection_from

__all__ = ["Task", "attacked", "definition_of", "digests_of", "fresh_state", "task_from"]

GOAL: Final = ("tool", "arguments", "state", "said")
"""What an attacker's goal may name; all that it names must hold."""


def _texts(value: Iterable[str]) -> tuple[str, ...]:
    return tuple(value)


def _injections(value: Iterable[Any]) -> tuple[Injection, ...]:
    return tuple(each if isinstance(each, Injection) else injection_from(each) for each in value)


def _names(value: Iterable[str]) -> frozenset[str]:
    return frozenset(value)


@frozen
class Task:
    """One problem with its check.

    Attributes:
        id: unique in its suite; any text without a line break.
        instruction: what the (simulated) user wants.
        state: makes the fresh initial state of a trial (called once per trial), or None.
        expected: the keys of the final state that matter, nested, with their values; None for no check.
        outputs: texts that the agent must have told the user.
        forbidden_tools: tools that may not be called.
        tags: for grouping, such as ``{"domain": "orders"}``.
        injections: texts that are put into results of tools: an attack. Each an `Injection`, or a map of its
            attributes.
        attack_goal: what the attacker wants, as `replay.scoring.attack_success` checks it; None without an attack, or
            if a scorer of the suite tells it.
    """

    id: str
    instruction: str = ""
    state: Callable[[], Any] | None = None
    expected: Mapping[str, Any] | None = None
    outputs: tuple[str, ...] = field(default=(), converter=_texts)
    forbidden_tools: frozenset[str] = field(default=frozenset(), converter=_names)
    tags: Mapping[str, str] = field(factory=dict)
    injections: tuple[Injection, ...] = field(default=(), converter=_injections)
    attack_goal: Mapping[str, Any] | None = None

    def __attrs_post_init__(self) -> None:
        if not self.id or "\n" in self.id or self.id.startswith("#"):
            raise BadInput(f"{self.id!r} is no id for a task: it may not be empty, start with # or hold a line break")
        if self.attack_goal is not None:
            _check_goal(self.id, self.attack_goal)


def _check_goal(task: str, goal: Any) -> None:
    """See that a goal says what it is.

    Raises:
        BadInput: it says nothing, or something unknown.
    """
    said = {*goal} if isinstance(goal, Mapping) else set()
    if not said or said - {*GOAL} or ("arguments" in said and "tool" not in said):
        raise BadInput(
            f"task {task}: attack_goal is a map with tool (and arguments of its call), state (keys of the final state) "
            f"or said (a text), and not {goal!r}"
        )


def attacked(
    task: Task,
    name: str,
    injections: Iterable[Any],
    goal: Mapping[str, Any] | None = None,
    *,
    attack: str | None = None,
) -> Task:
    """The same task under an attack: a task of its own, whose tags tell where it comes from.

    Args:
        task: without an attack.
        name: of the attack and its goal, such as ``direct/send-money``; the new id is ``<task's id>/<name>``.
        injections: as of `Task`.
        goal: the attacker's, as ``attack_goal`` of `Task`.
        attack: the kind of attack, by which numbers are grouped; None: what of ``name`` stands before the first slash.

    Raises:
        BadInput: the task is attacked already.
    """
    if task.injections:
        raise BadInput(f"task {task.id} is attacked already")
    tags = {**task.tags, "user_task": task.id, "attack": attack or name.partition("/")[0]}
    return evolve(task, id=f"{task.id}/{name}", injections=injections, attack_goal=goal, tags=tags)


def fresh_state(task: Task) -> Any:
    """The initial state of one trial, made anew; None if the task has none.

    Raises:
        BadInput: the task's ``state`` raised.
    """
    try:
        return None if task.state is None else task.state()
    except Exception as error:
        raise BadInput(f"task {task.id}: its state() raised {type(error).__name__}: {error}") from error


def digests_of(task: Task, initial: Any) -> dict[str, str | None]:
    """Digests of what makes a task this task, so that runs can be compared on the tasks that did not change.

    Raises:
        BadInput: a part has no lossless form.
    """
    expected = {
        "expected": None if task.expected is None else dict(task.expected),
        "outputs": list(task.outputs),
        "forbidden_tools": sorted(task.forbidden_tools),
    }
    attack = _attack_of(task)
    try:
        return {
            "instruction": digest(task.instruction),
            "expected": digest(expected),
            "state": None if task.state is None else digest(initial),
            **{part: digest(value) for part, value in attack.items()},
        }
    except UnkeepableValue as error:
        raise BadInput(f"task {task.id}: {error}") from error


def _attack_of(task: Task) -> dict[str, Any]:
    """What a task says of its attack; nothing without one."""
    goal = task.attack_goal
    return {
        **({"injections": [each.to_dict() for each in task.injections]} if task.injections else {}),
        **({"attack_goal": dict(goal)} if goal is not None else {}),
    }


def definition_of(task: Task, digests: Mapping[str, str | None]) -> dict[str, Any]:
    """What a cassette keeps of its task."""
    return {
        "id": task.id,
        "instruction": task.instruction,
        "expected": None if task.expected is None else dict(task.expected),
        "outputs": list(task.outputs),
        "forbidden_tools": sorted(task.forbidden_tools),
        "tags": dict(task.tags),
        **_attack_of(task),
        "digests": dict(digests),
    }


def task_from(definition: Mapping[str, Any] | None, fallback_id: str) -> Task:
    """The task that a cassette keeps, without its initial state."""
    kept = definition or {}
    injections = kept.get("injections")
    return Task(
        id=kept.get("id", fallback_id),
        instruction=kept.get("instruction", ""),
        expected=kept.get("expected"),
        outputs=kept.get("outputs", ()),
        forbidden_tools=kept.get("forbidden_tools", ()),
        tags=kept.get("tags", {}),
        injections=injections if isinstance(injections, list | tuple) else (),  # an import keeps texts by their place
        attack_goal=kept.get("attack_goal"),
    )
