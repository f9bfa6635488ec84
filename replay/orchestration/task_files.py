"""Tasks from a file: YAML, JSON, or one JSON object per line."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from pathlib import Path
from typing import Any, Final

import yaml

from cassettes.errors import BadInput
from replay.injecting import Injection, injection_from

from .tasks import Task

__all__ = ["read_tasks"]

_TEXTS: Final = ("outputs", "forbidden_tools")
_LISTS: Final = (*_TEXTS, "injections")
_KEYS: Final = ("id", "instruction", "state", "expected", *_LISTS, "tags", "attack_goal")


def read_tasks(path: str | Path) -> list[Task]:
    """The tasks that a file holds, in its order.

    A task is a map with the attributes of `Task`; only ``id`` is needed. ``state`` is the initial state as data: each
    trial gets a copy of its own. The file is a list of such maps (``.yaml``, ``.yml``, ``.json``), a map whose
    ``tasks`` is that list, or one map per line (``.jsonl``).

    Args:
        path: the file.

    Raises:
        BadInput: it cannot be read; a task lacks its id, has one that another has, or an attribute that no task has;
            an id, output, tool or tag is no text, such as ``no`` or 5.60 without quotes in YAML.
    """
    file = Path(path)
    found = [_task(file, place, item) for place, item in enumerate(_items(file))]
    if not found:
        raise BadInput(f"{file} holds no task")
    seen: set[str] = set()
    for task in found:
        if task.id in seen:
            raise BadInput(f"{file}: two tasks have the id {task.id!r}")
        seen.add(task.id)
    return found


def _items(file: Path) -> list[Any]:
    try:
        text = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(f"{file} cannot be read: {getattr(error, 'strerror', None) or error}") from error
    match file.suffix:
        case ".yaml" | ".yml":
            parsed = _parsed(file, text, yaml.safe_load)
        case ".json":
            parsed = _parsed(file, text, json.loads)
        case ".jsonl":
            lines = enumerate(text.splitlines(), 1)
            return [_parsed(file, line, json.loads, f", line {number}") for number, line in lines if line.strip()]
        case other:
            raise BadInput(
                f"{file}: tasks are read from .yaml, .yml, .json and .jsonl, not from {other or 'no suffix'}"
            )
    items = parsed.get("tasks") if isinstance(parsed, dict) else parsed
    if not isinstance(items, list):
        raise BadInput(f"{file} holds no list of tasks")
    return items


def _parsed(file: Path, text: str, parse: Callable[[str], Any], where: str = "") -> Any:
    try:
        return parse(text)
    except (ValueError, yaml.YAMLError, RecursionError) as error:
        raise BadInput(f"{file}{where} cannot be read: {' '.join(str(error).split())}") from error


def _task(file: Path, place: int, item: Any) -> Task:
    if not isinstance(item, Mapping) or item.get("id") is None:
        raise BadInput(f"{file}: task {place} (from 0) is no map with an id")
    name = _text(file, "the id", f"task {place} (from 0)", item["id"])
    unknown = [str(key) for key in item if key not in _KEYS]
    if unknown:
        raise BadInput(f"{file}: task {name} has {', '.join(unknown)}; a task has {', '.join(_KEYS)}")
    for key in _LISTS:
        if not isinstance(item.get(key) or [], list):
            raise BadInput(f"{file}: {key} of task {name} is no list")
    for key in ("expected", "tags"):
        if not isinstance(item.get(key) or {}, Mapping):
            raise BadInput(f"{file}: {key} of task {name} is no map")
    try:
        injections = [injection_from(each) for each in item.get("injections") or []]
    except BadInput as error:
        raise BadInput(f"{file}: task {name}: {error}") from error
    try:
        return _made(file, name, item, injections)
    except BadInput as error:
        raise BadInput(f"{file}: {error}") from error


def _made(file: Path, name: str, item: Mapping[str, Any], injections: Sequence[Injection]) -> Task:
    return Task(
        id=name,
        instruction=str(item.get("instruction") or ""),
        state=_fresh(item["state"]) if item.get("state") is not None else None,
        expected=item.get("expected"),
        outputs=[_text(file, "an output", f"task {name}", text) for text in item.get("outputs") or []],
        forbidden_tools=[_text(file, "a tool", f"task {name}", tool) for tool in item.get("forbidden_tools") or []],
        tags={
            _text(file, "a tag", f"task {name}", tag): _text(file, f"the tag {tag}", f"task {name}", value)
            for tag, value in (item.get("tags") or {}).items()
        },
        injections=injections,
        attack_goal=item.get("attack_goal"),
    )


def _text(file: Path, what: str, of: str, value: Any) -> str:
    """A text; a whole number is taken for one, but not what YAML made of it: ``no`` is false, 5.60 is 5.6."""
    if isinstance(value, str) or (isinstance(value, int) and not isinstance(value, bool)):
        return str(value)
    raise BadInput(f"{file}: {what} of {of} was read as {value!r}, which is no text; put it in quotes")


def _fresh(state: Any) -> Callable[[], Any]:
    return lambda: deepcopy(state)
