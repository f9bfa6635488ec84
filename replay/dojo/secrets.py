"""Made-up secrets of AgentDojo's data, put back in the place of the placeholders that a recording holds for them.

A banking task sets a password, and its check compares it. No password reaches the disk, so the recording holds a
placeholder, which tells one from another. What the library itself holds is no secret: where it makes the same
placeholder, it was that. Any other is none that a check expects.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from cassettes.redact import Redactor, secrets_of
from replay.view import View

from .library import fresh_environment

__all__ = ["placeholders_of", "restored"]


def placeholders_of(suite: Any, tasks: Iterable[Any], view: View) -> dict[str, str]:
    """What the suite's data and the expected calls hold, by the placeholders that stand for it in a trial."""
    home = view._home  # noqa: SLF001  # where the key of its placeholders lies
    if home is None:
        return {}
    redactor = Redactor(home.redaction_key(), secrets_of(os.environ))
    found: dict[str, str] = {}
    for task in tasks:
        start = fresh_environment(suite, task, {})
        calls = [dict(call.args) for call in task.ground_truth(start)]
        for named in _fields([start.model_dump(), calls]):
            for name, text in named.items():
                kept = redactor.value({name: text}, Counter())[name]
                if kept != text:
                    found[kept] = text
    return found


def _fields(node: Any) -> Iterator[dict[str, str]]:
    """The fields of all maps that hold texts."""
    if isinstance(node, dict):
        yield {str(name): value for name, value in node.items() if isinstance(value, str)}
        for value in node.values():
            yield from _fields(value)
    elif isinstance(node, list):
        for value in node:
            yield from _fields(value)


def restored(node: Any, known: Mapping[str, str]) -> Any:
    """The same with what the placeholders stand for; maps, lists and models are changed in place."""
    if isinstance(node, str):
        return known.get(node, node)
    if isinstance(node, list):
        node[:] = [restored(item, known) for item in node]
    elif known:
        fields = node if isinstance(node, dict) else vars(node) if hasattr(node, "model_fields_set") else {}
        for name, item in list(fields.items()):
            fields[name] = restored(item, known)
    return node
