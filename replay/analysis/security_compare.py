"""Defences compared: the same tasks under the same attack texts, on two axes, paired task by task."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from math import comb, fsum
from typing import Any, Literal

from attrs import asdict, evolve, frozen

from cassettes.errors import BadInput
from replay.runs import load_run
from replay.stats import ClusteredDifference, clustered_difference, holm
from replay.store import Store

from .attack_rows import Sample, Wanted
from .reliability import Counted
from .run_settings import SETTINGS, SettingChange, changed_settings, refuse_unnamed, settings_of
from .security import RunSecurity, run_security
from .task_pairs import Definitions, TaskChange, definitions_of, refuse_other_tasks, unpaired_tasks

__all__ = ["AxisDifference", "DefenceComparison", "Defences", "compare_defences"]

Axis = Literal["safety", "helpfulness"]
_Pair = tuple[Sample, Sample]


@frozen
class AxisDifference:
    """One measure of a defence less that of the baseline, on the tasks that both have.

    Attributes:
        measure: ``attack success``, ``resisted in 4 of 4``, ``benign utility``, ...
        better: the sign of a difference that is an improvement, 1 or -1; 0 of a score that may mean either.
        found: the difference; its interval is cut to -1..1 for shares.
        p_adjusted: Holm's, over all differences of the table; None where there is no p.
    """

    axis: Axis
    measure: str
    better: int
    found: ClusteredDifference
    p_adjusted: float | None = None


@frozen
class DefenceComparison:
    """One run against the baseline.

    Attributes:
        settings: what else differs between the runs.
        unpaired: tasks that are in no pair, with the reason.
        unknown_tasks: pairs of which no digest tells that task and attack are the same.
    """

    run: str
    settings: tuple[SettingChange, ...]
    unpaired: tuple[TaskChange, ...]
    unknown_tasks: int
    differences: tuple[AxisDifference, ...]


@frozen
class Defences:
    """Several runs on two axes, and what each differs from the first.

    Attributes:
        against: the baseline.
        tests: of the table, for which p is adjusted.
    """

    against: str
    runs: tuple[RunSecurity, ...]
    comparisons: tuple[DefenceComparison, ...]
    tests: int

    def to_dict(self) -> dict[str, Any]:
        """The same as JSON-like data."""
        return {
            "against": self.against,
            "runs": [run.to_dict() for run in self.runs],
            "comparisons": [asdict(each) for each in self.comparisons],
            "tests": self.tests,
        }


def compare_defences(
    store: Store,
    runs: Sequence[str],
    against: str,
    wanted: Wanted,
    *,
    changed: Collection[str] = (),
    common: bool = False,
) -> Defences:
    """Compare runs with a baseline.

    Args:
        store: an index that is up to date.
        runs: at least two, the baseline among them.
        against: the baseline.
        wanted: which scores count, and how.
        changed: settings that are a part of a defence, of `replay.analysis.run_settings.SETTINGS`.
        common: pair the tasks that are the same, although others are not.

    Raises:
        BadInput: as `replay.analysis.security.run_security`; a run twice; the baseline is none of them; runs differ in
            their scores, in a decisive setting that is not named, or, without ``common``, in tasks or attack texts.
        CassetteError: a cassette cannot be read.
    """
    if len({*runs}) < len(runs):
        raise BadInput("a run is named twice; each is compared once")
    if against not in runs:
        raise BadInput(f"--against names {against!r}, which is none of the runs: {', '.join(runs)}")
    unknown = [name for name in changed if name not in SETTINGS]
    if unknown:
        raise BadInput(f"{unknown[0]!r} is no setting of a run; known are {', '.join(SETTINGS)}")
    found = {run: run_security(store, run, wanted) for run in (against, *(run for run in runs if run != against))}
    base, *others = found.values()
    comparisons = [_compared(store, base, other, changed, common=common) for other in others]
    ps = [row.found.p for each in comparisons for row in each.differences if row.found.p is not None]
    adjusted = iter(holm(ps))
    told = (evolve(each, differences=tuple(_adjusted(each.differences, adjusted))) for each in comparisons)
    return Defences(against, tuple(found.values()), tuple(told), len(ps))


def _adjusted(differences: Sequence[AxisDifference], ps: Iterator[float]) -> Iterator[AxisDifference]:
    for row in differences:
        yield row if row.found.p is None else evolve(row, p_adjusted=next(ps))


def _compared(
    store: Store, base: RunSecurity, other: RunSecurity, changed: Collection[str], *, common: bool
) -> DefenceComparison:
    definitions = definitions_of(store, base.run), definitions_of(store, other.run)
    settings = _settings(store, base, other, definitions, changed)
    unpaired = tuple(unpaired_tasks(*definitions, *(_counted(run) for run in (base, other))))
    if not common:
        refuse_other_tasks(base.run, other.run, unpaired)
    differing = {change.task for change in unpaired if change.change != "uncounted"}
    same = {*definitions[0]} & {*definitions[1]} - differing
    differences = tuple(_differences(base, other, same))
    if not differences:
        raise BadInput(
            f"runs {base.run!r} and {other.run!r} have no task in common that is the same and counts in both"
        )
    return DefenceComparison(
        run=other.run,
        settings=settings,
        unpaired=unpaired,
        unknown_tasks=sum(not any(definitions[0].get(task, {}).values()) for task in same),
        differences=differences,
    )


def _settings(
    store: Store,
    base: RunSecurity,
    other: RunSecurity,
    definitions: tuple[Definitions, Definitions],
    changed: Collection[str],
) -> tuple[SettingChange, ...]:
    if base.safety != other.safety and "scorer" not in changed:
        raise BadInput(
            f"runs {base.run!r} and {other.run!r} are judged by other scores: {base.safety} and {other.safety}; score "
            "both the same way (`trialtape score`), or say --changed scorer"
        )
    tasks = {*definitions[0]} & {*definitions[1]}
    first, second = (settings_of(store, load_run(store.home, run.run), run.helpful, tasks) for run in (base, other))
    differing = changed_settings(first, second, changed)
    refuse_unnamed((base.run, other.run), differing, changed, "a part of the defence")
    return differing


def _counted(run: RunSecurity) -> Counted:
    """The counts on either axis, as what tells of unpaired tasks takes them."""
    pairs: dict[str, tuple[int, int]] = {}
    for sample in run.samples.values():
        pairs = {**sample.counts, **pairs}
    c, n = zip(*pairs.values(), strict=True) if pairs else ((), ())
    return Counted(tuple(pairs), c, n, (), 0, 0, 0, 0, {}, 0, sum(n))


def _differences(base: RunSecurity, other: RunSecurity, tasks: Collection[str]) -> Iterator[AxisDifference]:
    def pair(kind: str) -> _Pair:
        return base.samples[kind].only(tasks), other.samples[kind].only(tasks)

    unsafe = pair("unsafe")
    yield from _of_share("safety", "attack success" if base.of_attacks else "unsafe", -1, unsafe)
    yield from _of_all_k("resisted" if base.of_attacks else "safe", (unsafe[0].opposite(), unsafe[1].opposite()))
    yield from _of_mean("safety", f"mean {base.safety}", 0, unsafe)
    yield from _of_share("helpfulness", "benign utility" if base.of_attacks else "helped", 1, pair("benign"))
    yield from _of_mean("helpfulness", f"mean {base.helpful}", 1, pair("benign"))
    if base.of_attacks:
        yield from _of_share("helpfulness", "utility under attack", 1, pair("attacked"))


def _of_all_k(word: str, safe: _Pair) -> Iterator[AxisDifference]:
    """As many trials as each task has: the chance that none goes wrong."""
    most = min((n for side in _both(safe) for _, n in side.values()), default=1)
    if most > 1:
        yield from _of_share("safety", f"{word} in {most} of {most}", 1, safe, most)


def _both(pair: _Pair) -> tuple[dict[str, tuple[int, int]], dict[str, tuple[int, int]]]:
    """The counts of the tasks that count in both."""
    first, second = (sample.counts for sample in pair)
    tasks = [task for task in first if task in second]
    return {task: first[task] for task in tasks}, {task: second[task] for task in tasks}


def _of_share(axis: Axis, measure: str, better: int, pair: _Pair, k: int = 1) -> Iterator[AxisDifference]:
    """pass^k of what is counted, where both have counted trials."""
    counts = _both(pair)
    if not counts[0]:
        return
    a, b = ([comb(c, k) / comb(n, k) for c, n in side.values()] for side in counts)
    found = clustered_difference(a, b, [pair[0].clusters[task] for task in counts[0]])
    if found.low is not None and found.high is not None:
        found = evolve(found, low=max(-1.0, found.low), high=min(1.0, found.high))
    uneven = any(counts[0][task][1] != counts[1][task][1] for task in counts[0])
    if k > 1 and uneven:  # then a difference is lopsided even if the arms do not differ, and its sign is no coin
        found = evolve(found, p=None)
    yield AxisDifference(axis, measure, better, found)


def _of_mean(axis: Axis, measure: str, better: int, pair: _Pair) -> Iterator[AxisDifference]:
    """The means of each task's values, where both have some and they are a matter of degree."""
    first, second = (sample.values for sample in pair)
    tasks = [task for task in first if task in second]
    if not tasks or not any(sample.is_graded for sample in pair):
        return
    a, b = ([fsum(side[task]) / len(side[task]) for task in tasks] for side in (first, second))
    yield AxisDifference(axis, measure, better, clustered_difference(a, b, [pair[0].clusters[task] for task in tasks]))
