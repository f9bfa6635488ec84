"""Two runs, or two scorers, compared: drawn for a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from rich.table import Table

from replay.analysis.moved import MovedTask
from replay.analysis.run_compare import RunComparison
from replay.analysis.score_compare import ScoreComparison
from replay.analysis.task_pairs import TaskChange
from replay.plural import number
from replay.stats import FixedDifference, Paired
from replay.stats.intervals import FEW_TASKS

__all__ = ["compared_head", "compared_notes", "compared_table", "moved_lines", "scores_head", "scores_notes"]

_MOST_TASKS = 20
_MOST_TRIALS = 6
_SURE = 0.05


def compared_head(found: RunComparison) -> Iterator[str]:
    """What is compared with what, and what else differs."""
    score = found.score[0] if found.score[0] == found.score[1] else f"{found.score[0]} → {found.score[1]}"
    yield (
        f"{found.a} → {found.b}: {number(found.paired.tasks, 'task')} paired, "
        f"{found.trials_a} and {found.trials_b} trials counted, score {score}"
    )
    for change in found.settings:
        yield f"  {'changed' if change.named else 'differs too'}: {change}"
    for name in found.not_changed:
        yield f"  not changed: {name} was named, but is the same in both runs as far as they tell"
    yield from _left_out(found)
    for run, trials in zip((found.a, found.b), found.dependent, strict=True):
        if trials:
            yield f"  NOT INDEPENDENT: {number(trials, 'trial')} of {run} show something of another trial"
    yield from _worlds(found)
    if found.unknown_tasks:
        yield f"  {number(found.unknown_tasks, 'task')} without digests: that they are the same is taken on trust"
    for task in found.unpaired:
        yield f"  not paired: {_change(task)}"


def compared_table(names: tuple[str, str], paired: Paired, fixed: tuple[FixedDifference, ...] = ()) -> Table:
    """The difference for each k, with what luck alone may do."""
    percent = f"{paired.level:.0%}"
    made = Table(box=None, pad_edge=False, header_style="bold")
    for heading in ("k", *names, "difference", f"on other tasks like these\n{percent}", "p", "p, all k"):
        made.add_column(heading, justify="right")
    if fixed:
        made.add_column(f"if you rerun this suite\n{percent}", justify="right")
    on_these = {row.k: row for row in fixed}
    for row in paired.rows:
        made.add_row(
            str(row.k),
            f"{row.a:.3f}",
            f"{row.b:.3f}",
            f"{row.difference:+.3f}",
            _interval(row.low, row.high),
            _p(row.p),
            _p(row.p_adjusted),
            *([_interval(on_these[row.k].low, on_these[row.k].high)] if fixed else []),
        )
    return made


def compared_notes(found: RunComparison) -> Iterator[str]:
    """How to read the table, and what tasks that are in no pair do."""
    for row in found.whole:
        yield (
            f"over all tasks of each run pass^{row.k} goes from {row.a:.3f} to {row.b:.3f} ({row.whole:+.3f}), "
            f"{row.effect:+.3f} of it because of tasks that changed, came or went"
        )
    yield from _mode_notes(found)
    yield from _paired_notes(found.paired, found.fixed)
    if found.worlds is not None and found.fixed:
        yield "the last column takes the runs as independent; in the same worlds it is wider than need be"


def moved_lines(found: RunComparison) -> Iterator[str]:
    """The tasks that moved, with the trials to look at."""
    down = sum(task.change < 0 for task in found.moved)
    if not found.moved:
        yield "no task moved"
        return
    up = len(found.moved) - down
    yield f"{len(found.moved)} of {number(found.paired.tasks, 'task')} moved: {down} down, {up} up"
    for task in found.moved[:_MOST_TASKS]:
        yield f"  {_moved(task)}"
    if len(found.moved) > _MOST_TASKS:
        yield f"  and {len(found.moved) - _MOST_TASKS} more (--json has all)"


def scores_head(found: ScoreComparison) -> Iterator[str]:
    """On how many trials the scorers agree."""
    first, second = found.scores
    agreed = found.both_passed + found.both_failed
    yield f"{found.run}: {first} → {second} on {number(found.trials, 'trial')} of {number(found.tasks, 'task')}"
    yield f"  alike on {agreed}: {found.both_passed} passed, {found.both_failed} failed"
    if found.left_out:
        yield f"  left out: {_counts(found.left_out)}"


def scores_notes(found: ScoreComparison) -> Iterator[str]:
    """The trials on which they disagree, and whether that leans to one side."""
    first, second = found.scores
    tested = found.mcnemar
    if not found.flips:
        yield "no verdict flips"
        yield from _no_width(found.paired)
        return
    yield (
        f"{number(len(found.flips), 'verdict')} of {found.trials} flip: {tested.only_first} passed by {first} only, "
        f"{tested.only_second} by {second} only"
    )
    leans = "" if tested.statistic is None else f"chi-square {tested.statistic:.2f}, "
    yield f"clustered McNemar test, {number(tested.clusters, 'task')} with a flip: {leans}p = {_p(tested.p)}"
    for flip in found.flips[:_MOST_TASKS]:
        yield f"  {flip.trial}   passed by {first if flip.a else second} only"
    if len(found.flips) > _MOST_TASKS:
        yield f"  and {len(found.flips) - _MOST_TASKS} more (--json has all)"
    yield from _paired_notes(found.paired)


def _mode_notes(found: RunComparison) -> Iterator[str]:
    """What another mode of the dialogue does, as the other one less the default."""
    change = next((setting for setting in found.settings if setting.name == "mode"), None)
    if change is None or "default" not in {change.a, change.b}:
        return
    other, sign = (change.b, 1) if change.a == "default" else (change.a, -1)
    rows = found.paired.rows[:1] + found.paired.rows[1:][-1:]
    told = ", ".join(f"pass^{row.k} {sign * row.difference:+.3f}" for row in rows)
    yield f"delta {other} - default: {told}"


def _left_out(found: RunComparison) -> Iterator[str]:
    for run, left_out in ((found.a, found.left_out_a), (found.b, found.left_out_b)):
        if left_out:
            yield f"  left out of {run}: {_counts(left_out)}   (--errors fail counts them as failed)"


def _worlds(found: RunComparison) -> Iterator[str]:
    if found.shared_worlds:
        yield "  trials share recorded worlds: only pass^1 is compared, and nothing is told of these tasks run again"
    for run, source in zip((found.a, found.b), found.given, strict=True):
        if source is not None and found.worlds is None:
            yield f"  {run} is given the recorded worlds of {source}: not the same number as a live run's"
    if found.worlds is not None:
        yield f"  paired by world, given the recorded worlds of {found.worlds}"
    if any(found.other_worlds):
        one, other = found.other_worlds
        yield f"  left out: {one} and {other} trials whose world has no counted trial in the other run"


def _paired_notes(paired: Paired, fixed: tuple[FixedDifference, ...] = ()) -> Iterator[str]:
    last = paired.rows[-1]
    if last.p is None:
        yield "one task says nothing about other tasks: no such interval, no p"
        yield from _no_width(paired, fixed)
        return
    sure = [row.k for row in paired.rows if row.p_adjusted is not None and row.p_adjusted <= _SURE]
    if sure:
        yield f"more than luck, at {_SURE} over all k of the table: k = {', '.join(map(str, sure))}"
    else:
        yield f"no k shows more than luck, at {_SURE} over all k of the table; that is no proof that nothing changed"
    yield from _no_width(paired, fixed)
    if paired.tasks < FEW_TASKS:
        yield f"few events (fewer than {FEW_TASKS} tasks): the intervals may cover less than they say"
    if paired.thinned:
        yield (
            f"n differs in {number(paired.thinned, 'pair')}: for interval and p the larger arm was thinned, averaged "
            f"over {paired.thinnings} thinnings; the estimates are of all trials"
        )
    yield f"p by {paired.flips} sign flips over tasks, seed {paired.seed}"


def _no_width(paired: Paired, fixed: tuple[FixedDifference, ...] = ()) -> Iterator[str]:
    """That an interval which is printed as one number is no certainty, whether or not tasks moved."""
    told = [(row.k, row.low, row.high) for row in paired.rows] + [(row.k, row.low, row.high) for row in fixed]
    ks = {k for k, low, high in told if low is not None and high is not None and f"{low:+.3f}" == f"{high:+.3f}"}
    if ks:
        which = f"k = {', '.join(map(str, sorted(ks)))}"
        yield f"an interval of width 0 is no certainty ({which}): all pairs are alike, and tell nothing of others"


def _moved(task: MovedTask) -> str:
    parts = [f"{task.task}   {task.a}/{task.n_a} → {task.b}/{task.n_b}"]
    failed = task.failed_b if task.change < 0 else task.failed_a
    if failed:
        others = [f"#{trial.rpartition('#')[2]}" for trial in failed[1:_MOST_TRIALS]]
        parts.append(", ".join([f"failed: {failed[0]}", *others, *(["..."] if len(failed) > _MOST_TRIALS else [])]))
    return "   ".join(parts)


def _change(change: TaskChange) -> str:
    sides = " → ".join("nothing counted" if side is None else f"{side[0]}/{side[1]}" for side in (change.a, change.b))
    parts = f" ({', '.join(change.parts)})" if change.parts else ""
    return f"{change.task} {change.change}{parts}, {sides}"


def _counts(left_out: Mapping[str, int]) -> str:
    return ", ".join(f"{n} {reason}" for reason, n in left_out.items())


def _interval(low: float | None, high: float | None) -> str:
    return "undefined" if low is None or high is None else f"[{low:+.3f}, {high:+.3f}]"


def _p(p: float | None) -> str:
    return "undefined" if p is None else f"{p:.4f}"
