"""Runs over nights: the same tasks, and how pass^k moves."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any

from attrs import asdict, frozen

from cassettes.errors import BadInput
from replay.plural import number
from replay.runs import RunFile, load_run
from replay.stats import Tally, Trend, WithinModel, pass_hat_k, trend
from replay.store import Store

from .outcomes import outcomes_of, refuse_shared_worlds
from .reliability import MOST_UNANSWERED, Counted, Errors, count
from .run_settings import served_models
from .task_pairs import Definitions, definitions_of

__all__ = ["LeftOut", "Night", "Nights", "matching_runs", "nights_of"]


@frozen
class Night:
    """One run.

    Attributes:
        created: when it began, as its file says; None if unknown.
        models: that answered the agent, as replies name them; as they were asked where a reply names none.
        trials: counted, of the tasks that all nights have.
        left_out: trials of any task that are not counted, by reason.
    """

    run: str
    created: str | None
    models: tuple[str, ...]
    trials: int
    left_out: Mapping[str, int]


@frozen
class LeftOut:
    """A run that is no night of the chart, and why."""

    run: str
    why: str


@frozen
class Nights:
    """A chart over nights.

    Attributes:
        tasks: that are the same in all nights and have k counted trials in each.
        other_tasks: tasks of some night that are not among them.
        trend: one point per night.
    """

    k: int
    score: str
    tasks: tuple[str, ...]
    other_tasks: tuple[str, ...]
    nights: tuple[Night, ...]
    left_out: tuple[LeftOut, ...]
    trend: Trend

    def to_dict(self) -> dict[str, Any]:
        """The same as JSON-like data."""
        return asdict(self)


def matching_runs(store: Store, patterns: Sequence[str]) -> list[str]:
    """The runs whose names match, oldest first by their files, then by name.

    Raises:
        BadInput: none does.
    """
    names = [name for name in store.home.runs() if any(fnmatchcase(name, pattern) for pattern in patterns)]
    if not names:
        raise BadInput(f"no run matches {' or '.join(map(repr, patterns))}; `trialtape ls` lists them")
    files = [load_run(store.home, name) for name in names]
    return [file.name for file in sorted(files, key=lambda file: (str(file.about.get("created") or ""), file.name))]


def nights_of(
    store: Store,
    runs: Sequence[str],
    *,
    k: int = 1,
    apart: float = 1_000.0,
    score: str | None = None,
    errors: Errors = "exclude",
) -> Nights:
    """Chart runs over nights.

    Args:
        store: an index that is up to date.
        runs: oldest first.
        k: of pass^k.
        apart: nights between false alarms, on average at least, on each side.
        score: which score counts; None takes the primary one of each run.
        errors: the convention for trials without a verdict.

    Raises:
        BadInput: scores differ between runs; no task is in all of them with k counted trials.
    """
    counted: list[tuple[RunFile, Counted, Definitions]] = []
    left_out: list[LeftOut] = []
    scores: dict[str, str] = {}
    for name in runs:
        file = load_run(store.home, name)
        found = outcomes_of(store, file, score)
        refuse_shared_worlds(file, found)
        one = count(found.trials.values(), errors)
        if errors == "exclude" and one.unanswered > MOST_UNANSWERED * one.total:
            left_out.append(LeftOut(name, f"{one.unanswered} of {number(one.total, 'trial')} ended unanswered"))
        elif not one.tasks:
            left_out.append(LeftOut(name, "no trial counts"))
        else:
            scores.setdefault(found.score, name)
            counted.append((file, one, definitions_of(store, name)))
    if not counted:
        raise BadInput(f"no run can be charted: {'; '.join(f'{one.run}: {one.why}' for one in left_out)}")
    if len(scores) > 1:
        told = ", ".join(f"{name} in {run}" for name, run in scores.items())
        raise BadInput(f"the runs are scored differently ({told}); name one score with --score")
    tasks, others = _common(counted, k)
    numbers = [_of_tasks(one, tasks) for _, one, _ in counted]
    values = [pass_hat_k(c, n, k) for c, n in numbers]
    errors_of = [math.sqrt(WithinModel.fit(Tally.of(c, n), k).variance_sum(k)) / len(tasks) for c, n in numbers]
    return Nights(
        k=k,
        score=next(iter(scores)),
        tasks=tuple(tasks),
        other_tasks=tuple(others),
        nights=tuple(
            Night(
                file.name,
                file.about.get("created"),
                served_models(store, file.name),
                sum(n),
                one.left_out,
            )
            for (file, one, _), (_, n) in zip(counted, numbers, strict=True)
        ),
        left_out=tuple(left_out),
        trend=trend(values, errors_of, apart=apart),
    )


def _common(counted: Sequence[tuple[RunFile, Counted, Definitions]], k: int) -> tuple[list[str], list[str]]:
    newest = counted[-1][2]
    seen = dict.fromkeys(task for _, one, _ in counted for task in one.tasks)

    sizes = [dict(zip(one.tasks, one.trials, strict=True)) for _, one, _ in counted]

    def everywhere(task: str) -> bool:
        return all(
            n.get(task, 0) >= k and definitions.get(task) == newest.get(task)
            for n, (_, _, definitions) in zip(sizes, counted, strict=True)
        )

    tasks = [task for task in seen if everywhere(task)]
    if not tasks:
        raise BadInput(
            f"no task is the same in all {number(len(counted), 'run')} with {number(k, 'counted trial')} in each"
        )
    return tasks, [task for task in seen if task not in tasks]


def _of_tasks(counted: Counted, tasks: Sequence[str]) -> tuple[list[int], list[int]]:
    at = {task: place for place, task in enumerate(counted.tasks)}
    return [counted.successes[at[task]] for task in tasks], [counted.trials[at[task]] for task in tasks]
