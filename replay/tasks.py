"""A task: one problem with its check, and what of it is kept in every cassette."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from attrs import field, frozen

from cassettes.canonical import digest
from cassettes.errors import BadInput, UnkeepableValue

__all__ = ["Task", "definition_of", "digests_of", "fresh_state", "task_from"]


def _texts(value: Iterable[str]) -> tuple[str, ...]:
    return tuple(value)


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
    """

    id: str
    instruction: str = ""
    state: Callable[[], Any] | None = None
    expected: Mapping[str, Any] | None = None
    outputs: tuple[str, ...] = field(default=(), converter=_texts)
    forbidden_tools: frozenset[str] = field(default=frozenset(), converter=_names)
    tags: Mapping[str, str] = field(factory=dict)

    def __attrs_post_init__(self) -> None:
        if not self.id or "\n" in self.id or self.id.startswith("#"):
            raise BadInput(f"{self.id!r} is no id for a task: it may not be empty, start with # or hold a line break")


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
    try:
        return {
            "instruction": digest(task.instruction),
            "expected": digest(expected),
            "state": None if task.state is None else digest(initial),
        }
    except UnkeepableValue as error:
        raise BadInput(f"task {task.id}: {error}") from error


def definition_of(task: Task, digests: Mapping[str, str | None]) -> dict[str, Any]:
    """What a cassette keeps of its task."""
    return {
        "id": task.id,
        "instruction": task.instruction,
        "expected": None if task.expected is None else dict(task.expected),
        "outputs": list(task.outputs),
        "forbidden_tools": sorted(task.forbidden_tools),
        "tags": dict(task.tags),
        "digests": dict(digests),
    }


def task_from(definition: Mapping[str, Any] | None, fallback_id: str) -> Task:
    """The task that a cassette keeps, without its initial state."""
    kept = definition or {}
    return Task(
        id=kept.get("id", fallback_id),
        instruction=kept.get("instruction", ""),
        expected=kept.get("expected"),
        outputs=kept.get("outputs", ()),
        forbidden_tools=kept.get("forbidden_tools", ()),
        tags=kept.get("tags", {}),
    )
