"""The reliability of a run by group of tasks: by a tag such as ``domain``, or task by task."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

from attrs import asdict, frozen

from cassettes.errors import BadInput
from replay.stats import Interval, interval
from replay.store import Store

from .run_stats import RunStats

__all__ = ["Group", "Groups", "groups_of"]

_TAGS = "SELECT task, tags FROM trials WHERE run = ? AND tags IS NOT NULL GROUP BY task"
_TASK, _TAG = "task", "tag"


@frozen
class Group:
    """The tasks of one group.

    Attributes:
        name: the tag's value; ``name=value`` if grouped by all tags; None for tasks without the tag.
        tasks: ids.
        successes: passed trials, over all tasks.
        trials: counted trials, over all tasks.
        fixed: one per k: if these tasks are run again.
        population: one per k: on other tasks like these.
    """

    name: str | None
    tasks: tuple[str, ...]
    successes: int
    trials: int
    fixed: tuple[Interval, ...]
    population: tuple[Interval, ...]


@frozen
class Groups:
    """A run by group.

    Attributes:
        by: what it is grouped by.
        ks: of the intervals of each group, ascending.
        overlapping: a task may stand in several groups.
    """

    by: str
    ks: tuple[int, ...]
    overlapping: bool
    groups: tuple[Group, ...]

    def to_dict(self) -> dict[str, Any]:
        """The same as JSON-like data."""
        return asdict(self)


def groups_of(store: Store, stats: RunStats, by: str, ks: Sequence[int] = ()) -> Groups:
    """Group the counted trials of a run.

    Args:
        store: an index that is up to date.
        stats: of the run: its score and conventions say what counts.
        by: ``task``, a tag's name, or ``tag`` for every pair of tag and value.
        ks: which k are wanted; none means 1 and the largest that every task has trials for.

    Raises:
        BadInput: no task has such a tag (the message names those that there are), or no number holds.
    """
    counted = stats.counted
    if stats.summary is None:
        why = "trials share recorded worlds" if stats.shared is not None else "too many trials ended unanswered"
        raise BadInput(
            f"run {stats.run!r}: {why}, so no number by group holds; `trialtape stats` without --by tells more"
        )
    tags = {row["task"]: json.loads(row["tags"]) for row in store.rows(_TAGS, [stats.run])}
    members: dict[str | None, list[int]] = {}
    for place, task in enumerate(counted.tasks):
        for name in _names(task, tags.get(task, {}), by):
            members.setdefault(name, []).append(place)
    if set(members) <= {None}:
        known = ", ".join(sorted({name for found in tags.values() for name in found}))
        if not known:
            raise BadInput(f"no task of run {stats.run!r} has any tag; --by task tells each task")
        raise BadInput(f"no task of run {stats.run!r} has a tag {by!r} (known: {known}); --by task tells each task")
    most = min(counted.trials)
    wanted = tuple(sorted({*ks})) or tuple(sorted({1, most}))
    order = members if by == _TASK else sorted(members, key=lambda name: (name is None, name or ""))
    groups = []
    for name in order:
        places = members[name]
        c, n = ([numbers[place] for place in places] for numbers in (counted.successes, counted.trials))
        groups.append(
            Group(
                name,
                tuple(counted.tasks[place] for place in places),
                sum(c),
                sum(n),
                tuple(interval(c, n, k, "fixed") for k in wanted),
                tuple(interval(c, n, k, "population") for k in wanted),
            )
        )
    return Groups(by, wanted, by == _TAG, tuple(groups))


def _names(task: str, tags: dict[str, Any], by: str) -> Iterable[str | None]:
    if by == _TASK:
        return [task]
    if by == _TAG:
        return [f"{name}={value}" for name, value in sorted(tags.items())] or [None]
    return [str(tags[by]) if by in tags else None]
