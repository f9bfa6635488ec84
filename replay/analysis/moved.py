"""Tasks that moved between two runs, with the trials to look at."""

from __future__ import annotations

from collections.abc import Sequence

from attrs import frozen

from .outcomes import Outcomes
from .reliability import Errors, count

__all__ = ["MovedTask", "Numbers", "moved_tasks"]

Numbers = tuple[list[int], list[int]]
"""Passed and counted trials per task."""


@frozen
class MovedTask:
    """A task whose share of passed trials differs between the runs.

    Attributes:
        a: passed trials in the first run, of ``n_a``.
        b: passed trials in the second run, of ``n_b``.
        failed_a: ids of the first run's failed trials.
        failed_b: ids of the second run's.
    """

    task: str
    a: int
    n_a: int
    b: int
    n_b: int
    failed_a: tuple[str, ...]
    failed_b: tuple[str, ...]

    @property
    def change(self) -> float:
        """Of the share of passed trials, -1 to 1."""
        return self.b / self.n_b - self.a / self.n_a


def moved_tasks(
    tasks: Sequence[str], pair: Sequence[Numbers], both: Sequence[Outcomes], errors: Errors
) -> list[MovedTask]:
    """The paired tasks whose share of passed trials differs, the largest move first.

    Args:
        tasks: ids.
        pair: passed and counted trials per task, of the first and the second run.
        both: the outcomes that were counted.
        errors: the convention for trials without a verdict.
    """
    failed = [_failed(found, errors) for found in both]
    (c_a, n_a), (c_b, n_b) = pair
    moved = [
        MovedTask(task, a, of_a, b, of_b, *(tuple(by_task.get(task, ())) for by_task in failed))
        for task, a, of_a, b, of_b in zip(tasks, c_a, n_a, c_b, n_b, strict=True)
        if a * of_b != b * of_a
    ]
    return sorted(moved, key=lambda task: -abs(task.change))


def _failed(found: Outcomes, errors: Errors) -> dict[str, list[str]]:
    by_task: dict[str, list[str]] = {}
    for name, outcome in sorted(found.trials.items(), key=lambda item: item[1].index):
        alone = count([outcome], errors)
        if alone.tasks and not alone.successes[0]:
            by_task.setdefault(outcome.task, []).append(name)
    return by_task
