"""Watchlists of a run, and a later run held against them."""

from __future__ import annotations

from typing import Any

from attrs import asdict, frozen

from cassettes.errors import BadInput
from replay.runs import load_run
from replay.stats import WatchTest, watch_test, watchlist
from replay.store import Store

from .outcomes import outcomes_of, refuse_shared_worlds, refuse_unanswered
from .reliability import Counted, Errors, NotCounted, count
from .task_pairs import definitions_of

__all__ = ["Watched", "WatchedList", "watched"]


@frozen
class WatchedList:
    """One list, and what a later run did on it.

    Attributes:
        tasks: ids.
        test: None if no later run is held against it, or it has no trial of these tasks.
        fallen: tasks of which trials failed in the later run, with passed and counted trials.
        missing: tasks of the list of which the later run has no counted trial.
        changed: tasks of the list that are not the same in the later run.
    """

    tasks: tuple[str, ...]
    test: WatchTest | None = None
    fallen: tuple[tuple[str, int, int], ...] = ()
    missing: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()


@frozen
class Watched:
    """Two lists of tasks of a run.

    Attributes:
        not_counted: trials and tasks of the run that say nothing here.
    """

    run: str
    score: str
    later: str | None
    seed: int
    guards: WatchedList
    flaky: WatchedList
    not_counted: NotCounted

    def to_dict(self) -> dict[str, Any]:
        """The same as JSON-like data."""
        return asdict(self)


def watched(
    store: Store,
    run: str,
    *,
    size: int = 20,
    seed: int = 0,
    later: str | None = None,
    score: str | None = None,
    errors: Errors = "exclude",
) -> Watched:
    """Choose the lists, and test a later run on each.

    Args:
        store: an index that is up to date.
        run: that tells which tasks always pass, and which flip.
        size: tasks on both lists together.
        seed: of the draw of guards; another one guards other tasks.
        later: a run of these tasks, or of more; None only chooses.
        score: which score counts; None takes the primary one of each run.
        errors: the convention for trials without a verdict.

    Raises:
        BadInput: nothing counts; too many trials ended unanswered; the scores of both runs differ; the later run has
            none of the tasks.
    """
    file = load_run(store.home, run)
    found = outcomes_of(store, file, score)
    refuse_shared_worlds(file, found)
    refuse_unanswered(found, errors, "which tasks always pass, and which flip, cannot be told")
    before = count(found.trials.values(), errors)
    if not before.tasks:
        raise BadInput(f"run {run!r}: no trial can be counted by {found.score}")
    try:
        lists = watchlist(before.successes, before.trials, size, seed=seed)
    except ValueError as error:
        raise BadInput(str(error)) from error
    places = (lists.guards, lists.flaky)
    if later is None:
        guards, flaky = (WatchedList(tuple(before.tasks[place] for place in chosen)) for chosen in places)
        return Watched(run, found.score, None, seed, guards, flaky, before.not_counted)
    later_file = load_run(store.home, later)
    other = outcomes_of(store, later_file, score)
    refuse_shared_worlds(later_file, other)
    refuse_unanswered(other, errors, f"it cannot be held against the lists; `trialtape stats {later}` tells bounds")
    if other.score != found.score:
        raise BadInput(f"{run!r} is scored by {found.score}, {later!r} by {other.score}; name one with --score")
    after = count(other.trials.values(), errors)
    definitions = definitions_of(store, run), definitions_of(store, later)
    same = {task for task in after.tasks if definitions[0].get(task) == definitions[1].get(task)}
    guards, flaky = (_tested(before, after, same, chosen, seed) for chosen in places)
    if guards.test is None and flaky.test is None:
        raise BadInput(f"run {later!r} has no counted trial of a listed task that is the same as in {run!r}")
    return Watched(run, found.score, later, seed, guards, flaky, before.not_counted)


def _tested(before: Counted, after: Counted, same: set[str], chosen: tuple[int, ...], seed: int) -> WatchedList:
    at = {task: place for place, task in enumerate(after.tasks)}
    tasks = tuple(before.tasks[place] for place in chosen)
    usable = [(place, at[task]) for place, task in zip(chosen, tasks, strict=True) if task in at and task in same]
    test = None
    if usable:
        now_passed, now_trials = [after.successes[j] for _, j in usable], [after.trials[j] for _, j in usable]
        test = watch_test(before.successes, before.trials, [i for i, _ in usable], now_passed, now_trials, seed=seed)
    return WatchedList(
        tasks,
        test,
        tuple(
            (after.tasks[j], after.successes[j], after.trials[j])
            for _, j in usable
            if after.successes[j] < after.trials[j]
        ),
        tuple(task for task in tasks if task not in at),
        tuple(task for task in tasks if task in at and task not in same),
    )
