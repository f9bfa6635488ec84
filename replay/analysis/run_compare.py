"""Two runs compared, task by task: only what is comparable, and every other difference by name."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from attrs import asdict, evolve, frozen

from cassettes.errors import BadInput
from replay.leakfile import known_independence
from replay.runs import RunFile, load_run
from replay.stats import FixedDifference, Paired, fixed_differences, paired_differences, pass_hat_k
from replay.store import Store

from .moved import MovedTask, Numbers, moved_tasks
from .outcomes import Outcomes, outcomes_of, refuse_unanswered, shares_worlds
from .reliability import Counted, Errors, count
from .run_settings import SETTINGS, SettingChange, changed_settings, refuse_unnamed, settings_of
from .task_pairs import TaskChange, definitions_of, refuse_other_tasks, unpaired_tasks

__all__ = ["RunComparison", "WholeRow", "compare_runs"]


@frozen
class WholeRow:
    """What unpaired tasks do to the difference: pass^k over all tasks of each run.

    Attributes:
        whole: the difference over all tasks.
        effect: the part of it that is due to tasks that changed, came or went.
    """

    k: int
    a: float
    b: float
    whole: float
    effect: float


@frozen
class RunComparison:
    """The second run against the first.

    Attributes:
        score: that counts, of both runs; two, if scorers were named as changed.
        settings: what differs between the runs.
        not_changed: settings that were named as changed, and are the same.
        unknown_tasks: tasks of which no digest tells whether they are the same.
        unpaired: tasks that are in no pair, with the reason.
        given: of each run that is frozen, its source.
        worlds: of two runs frozen in the same worlds, their source: trials are paired by world.
        other_worlds: trials of either run without a counted partner in the same world, which are left out.
        tasks: that are paired, with passed and counted trials of each in the first (``counts_a``) and second run.
        dependent: trials of each run that showed something of another trial, as far as that was checked.
        left_out_a: trials of the first run that are not counted, by reason.
        paired: the differences on other tasks like these.
        fixed: the differences on these very tasks; none where trials share worlds, as they are not independent.
        shared_worlds: trials of a task share recorded worlds in one of the runs: only pass^1 is compared then.
        moved: tasks that moved, the largest move first.
        whole: one row per k that all tasks of both runs have trials for; empty if all tasks are paired.
    """

    a: str
    b: str
    score: tuple[str, str]
    errors: Errors
    settings: tuple[SettingChange, ...]
    not_changed: tuple[str, ...]
    unknown_tasks: int
    unpaired: tuple[TaskChange, ...]
    given: tuple[str | None, str | None]
    worlds: str | None
    other_worlds: tuple[int, int]
    tasks: tuple[str, ...]
    counts_a: tuple[tuple[int, int], ...]
    counts_b: tuple[tuple[int, int], ...]
    trials_a: int
    trials_b: int
    dependent: tuple[int, int]
    left_out_a: Mapping[str, int]
    left_out_b: Mapping[str, int]
    paired: Paired
    fixed: tuple[FixedDifference, ...]
    shared_worlds: bool
    moved: tuple[MovedTask, ...]
    whole: tuple[WholeRow, ...]

    def to_dict(self) -> dict[str, Any]:
        """The same as JSON-like data."""
        document = asdict(self)
        document["moved"] = [{**asdict(task), "change": task.change} for task in self.moved]
        return document


def compare_runs(
    store: Store,
    a: str,
    b: str,
    *,
    score: str | None = None,
    errors: Errors = "exclude",
    ks: Sequence[int] = (),
    changed: Collection[str] = (),
    common: bool = False,
    only: Collection[str] | None = None,
) -> RunComparison:
    """Compare run ``b`` with run ``a`` on the tasks that are the same in both, by digest.

    Args:
        store: an index that is up to date.
        a: the run that was before.
        b: the run that is new.
        score: ``NAME`` or ``NAME@VERSION``; None takes the primary one of each run.
        errors: whether trials without a verdict are left out or counted as failed.
        ks: which k are wanted; none means all.
        changed: settings that were changed on purpose, of `replay.analysis.run_settings.SETTINGS`.
        common: pair the tasks that are the same, although others are not.
        only: leave all but these tasks out, as if the runs had no others.

    Raises:
        BadInput: a run or score is not there; the runs differ in a decisive setting that is not named in ``changed``,
            or, without ``common``, in their tasks; no task can be paired; a task has fewer than k counted trials; too
            many trials ended unanswered.
        CassetteError: a cassette cannot be read.
    """
    unknown = [name for name in changed if name not in SETTINGS]
    if unknown:
        raise BadInput(f"{unknown[0]!r} is no setting of a run; known are {', '.join(SETTINGS)}")
    if a == b:
        raise BadInput(f"{a!r} is compared with itself; name two runs")
    files = load_run(store.home, a), load_run(store.home, b)
    both = [outcomes_of(store, file, score) for file in files]
    definitions = [definitions_of(store, file.name) for file in files]
    if only is not None:
        both = [_only(found, only) for found in both]
        definitions = [{task: told[task] for task in told if task in only} for told in definitions]
    differing = _comparable(store, files, both, changed, {*definitions[0]} & {*definitions[1]})
    for found in both:
        helps = f"`trialtape stats {found.run}` tells bounds, --errors fail counts them as failed"
        refuse_unanswered(found, errors, f"no difference can be told; {helps}")
    shared = any(shares_worlds(file, found) for file, found in zip(files, both, strict=True))
    wanted = _only_pass_1(ks) if shared else tuple(ks)
    worlds = _same_worlds(files)
    before = [len(found.trials) for found in both]
    if worlds is not None:
        both = list(_same_trials(both[0], both[1], errors))
    other_worlds = [number - len(found.trials) for number, found in zip(before, both, strict=True)]
    first, second = (count(found.trials.values(), errors) for found in both)
    unpaired = tuple(unpaired_tasks(definitions[0], definitions[1], first, second))
    if not common:
        refuse_other_tasks(a, b, unpaired)
    tasks = [task for task in first.tasks if task not in {change.task for change in unpaired}]
    if not tasks:
        raise BadInput(f"runs {a!r} and {b!r} have no task in common that is the same in both and has counted trials")
    pair = [_of_tasks(counted, tasks) for counted in (first, second)]
    _check_ks(wanted, tasks, pair, (a, b))
    numbers = (*pair[0], *pair[1])
    paired = paired_differences(*numbers, wanted or None)
    return RunComparison(
        a=a,
        b=b,
        score=(both[0].score, both[1].score),
        errors=errors,
        settings=differing,
        not_changed=tuple(name for name in changed if name not in {change.name for change in differing}),
        unknown_tasks=sum(not any(definitions[0].get(task, {}).values()) for task in tasks),
        unpaired=unpaired,
        given=(files[0].config.get("source"), files[1].config.get("source")),
        worlds=worlds,
        other_worlds=(other_worlds[0], other_worlds[1]),
        tasks=tuple(tasks),
        counts_a=tuple(zip(*pair[0], strict=True)),
        counts_b=tuple(zip(*pair[1], strict=True)),
        trials_a=sum(pair[0][1]),
        trials_b=sum(pair[1][1]),
        dependent=(_dependent(store, a), _dependent(store, b)),
        left_out_a=first.left_out,
        left_out_b=second.left_out,
        paired=paired,
        fixed=() if shared else fixed_differences(*numbers, wanted or None),
        shared_worlds=shared,
        moved=tuple(moved_tasks(tasks, pair, both, errors)),
        whole=tuple(_whole(paired, first, second)) if unpaired else (),
    )


def _comparable(
    store: Store,
    files: tuple[RunFile, RunFile],
    both: Sequence[Outcomes],
    changed: Collection[str],
    tasks: Collection[str],
) -> tuple[SettingChange, ...]:
    first, second = (settings_of(store, file, found.score, tasks) for file, found in zip(files, both, strict=True))
    differing = changed_settings(first, second, changed)
    refuse_unnamed((files[0].name, files[1].name), differing, changed, "what you want to try")
    return differing


def _dependent(store: Store, run: str) -> int:
    checked = known_independence(store.home, run)
    return 0 if checked is None else len({leak.trial for leak in checked.leaks})


def _only_pass_1(ks: Sequence[int]) -> tuple[int, ...]:
    if {*ks} - {1}:
        raise BadInput(
            "trials share recorded worlds, so they are not independent, and only pass^1 can be compared: -k 1"
        )
    return (1,)


def _only(found: Outcomes, tasks: Collection[str]) -> Outcomes:
    return evolve(found, trials={trial: o for trial, o in found.trials.items() if o.task in tasks})


def _same_worlds(files: tuple[RunFile, RunFile]) -> str | None:
    """The source, if both runs are frozen in the same recorded worlds."""
    source = files[0].config.get("source")
    return source if source and source == files[1].config.get("source") and files[0].pool == files[1].pool else None


def _same_trials(a: Outcomes, b: Outcomes, errors: Errors) -> tuple[Outcomes, Outcomes]:
    """Without the counted trials whose world has none in the other run."""
    counted = [{(o.task, o.index) for o in found.trials.values() if count([o], errors).tasks} for found in (a, b)]
    alone = counted[0] ^ counted[1]

    def kept(found: Outcomes, places: set[tuple[str, int]]) -> Outcomes:
        trials = {t: o for t, o in found.trials.items() if (o.task, o.index) not in alone & places}
        return evolve(found, trials=trials)

    return kept(a, counted[0]), kept(b, counted[1])


def _of_tasks(counted: Counted, tasks: Sequence[str]) -> Numbers:
    at = {task: place for place, task in enumerate(counted.tasks)}
    return [counted.successes[at[task]] for task in tasks], [counted.trials[at[task]] for task in tasks]


def _check_ks(ks: Sequence[int], tasks: Sequence[str], pair: Sequence[Numbers], runs: tuple[str, str]) -> None:
    for run, (_, trials) in zip(runs, pair, strict=True):
        task, n = min(zip(tasks, trials, strict=True), key=lambda item: item[1])
        if ks and max(ks) > n:
            raise BadInput(f"k = {max(ks)} needs as many counted trials of every task, but {task!r} has {n} in {run!r}")


def _whole(paired: Paired, first: Counted, second: Counted) -> Iterable[WholeRow]:
    most = min(*first.trials, *second.trials)
    for row in paired.rows:
        if row.k <= most:
            a, b = (pass_hat_k(counted.successes, counted.trials, row.k) for counted in (first, second))
            yield WholeRow(row.k, a, b, b - a, (b - a) - row.difference)
