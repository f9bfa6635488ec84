"""Which tasks of two runs are the same, by digest, and what became of the others."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Literal

from attrs import frozen

from cassettes.errors import BadInput
from replay.store import Store

from .reliability import Counted

__all__ = ["Definitions", "TaskChange", "definitions_of", "refuse_other_tasks", "unpaired_tasks"]

Definitions = Mapping[str, Mapping[str, str | None]]
"""By task, the digests of its parts; none where no trial tells them."""

_DEFINITIONS = "SELECT DISTINCT task, digests FROM trials WHERE run = ? ORDER BY task, digests"


@frozen
class TaskChange:
    """A task that cannot be paired.

    Attributes:
        change: what became of it; ``uncounted`` where a run has no trial of it that counts.
        parts: of a changed task, what changed: ``instruction``, ``expected``, ``state``.
        a: passed and counted trials in the first run; None if there are none.
        b: the same in the second run.
    """

    task: str
    change: Literal["changed", "added", "removed", "uncounted"]
    parts: tuple[str, ...]
    a: tuple[int, int] | None
    b: tuple[int, int] | None


def definitions_of(store: Store, run: str) -> Definitions:
    """The digests of each task of a run, as its trials keep them.

    Raises:
        BadInput: a task changed within the run.
    """
    found: dict[str, dict[str, str | None]] = {}
    for row in store.rows(_DEFINITIONS, [run]):
        digests = json.loads(row["digests"] or "{}")
        if digests and found.get(row["task"], digests) != digests and found[row["task"]]:
            raise BadInput(f"run {run!r}: task {row['task']!r} is not the same in all of its trials")
        found[row["task"]] = digests or found.get(row["task"], {})
    return found


def unpaired_tasks(a: Definitions, b: Definitions, first: Counted, second: Counted) -> Iterator[TaskChange]:
    """The tasks that are not the same in both runs, or have no counted trial in one of them."""
    numbers = [dict(zip(c.tasks, zip(c.successes, c.trials, strict=True), strict=True)) for c in (first, second)]
    for task in [*a, *(task for task in b if task not in a)]:
        known = numbers[0].get(task), numbers[1].get(task)
        if task not in b:
            yield TaskChange(task, "removed", (), *known)
        elif task not in a:
            yield TaskChange(task, "added", (), *known)
        elif parts := tuple(part for part in sorted({*a[task], *b[task]}) if a[task].get(part) != b[task].get(part)):
            yield TaskChange(task, "changed", parts, *known)
        elif None in known:
            yield TaskChange(task, "uncounted", (), *known)


def refuse_other_tasks(a: str, b: str, unpaired: Sequence[TaskChange]) -> None:
    """See that both runs have the same tasks.

    Raises:
        BadInput: a task changed, came or went; the first six are named.
    """
    other = [change for change in unpaired if change.change != "uncounted"]
    if other:
        told = ", ".join(f"{change.task} {_how(change)}" for change in other[:6])
        more = f" and {len(other) - 6} more" if len(other) > 6 else ""
        raise BadInput(
            f"runs {a!r} and {b!r} have not the same tasks: {told}{more}; --common pairs those that are the same and "
            "lists the others with their effect"
        )


def _how(change: TaskChange) -> str:
    return f"{change.change} ({', '.join(change.parts)})" if change.parts else change.change
