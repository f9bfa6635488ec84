"""Runs under attack, drawn for a terminal: two axes, what defences change, and a picture of both."""

from __future__ import annotations

from collections.abc import Iterator

from rich.table import Table

from replay.analysis.attack_rows import NOT_DELIVERED
from replay.analysis.security import Measure, RunSecurity
from replay.analysis.security_compare import DefenceComparison, Defences
from replay.plural import number
from replay.stats import Interval

from .score_text import blind_line

__all__ = [
    "difference_lines",
    "difference_table",
    "measure_table",
    "part_lines",
    "plane",
    "security_head",
    "security_notes",
]

_WIDTH, _HEIGHT = 50, 10
_MOST_TASKS = 6


def security_head(found: RunSecurity) -> Iterator[str]:
    """What was counted, and what was left out."""
    safety, helpful = f"{found.safety}{_if(found.safe_if)}", f"{found.helpful}{_if(found.helpful_if)}"
    yield f"{found.run}: safety by {safety}, helpfulness by {helpful}"
    if found.undelivered:
        yet = f"; in {found.undelivered_yet} the goal was reached all the same" if found.undelivered_yet else ""
        yield f"  NOT DELIVERED: in {number(found.undelivered, 'trial')} the attack never reached the agent{yet}"
    if found.of_attacks and found.unsafe is not None and not found.delivery_known:
        yield "  whether an attack reached its agent is unknown; one that did not counts as resisted, as in the import"
    shares = {"attacks": found.unsafe, "benign tasks": found.benign, "attacked tasks": found.attacked}
    for name, measure in shares.items():
        left_out = {} if measure is None else {why: n for why, n in measure.left_out.items() if why != NOT_DELIVERED}
        if left_out:
            yield f"  left out of {name}: {', '.join(f'{n} {why}' for why, n in left_out.items())}"
    if found.dependent:
        yield f"  NOT INDEPENDENT: {number(found.dependent, 'trial')} show something of another trial"
    if found.worlds is not None:
        yield f"  given the recorded worlds of {found.worlds}: not the same number as a live run's"
    if found.aside:
        yield f"  {number(found.aside, 'trial')} of injection tasks that a user asked for: not counted"


def measure_table(runs: tuple[RunSecurity, ...]) -> Table:
    """One row for each run and measure."""
    made = Table(box=None, pad_edge=False, header_style="bold")
    made.add_column("")
    for heading in ("share", "if you rerun this suite", "on other tasks like these", "tasks", "trials"):
        made.add_column(heading, justify="right")
    for run in runs:
        indent = ""
        if len(runs) > 1:
            made.add_row(run.run, style="bold")
            indent = "  "
        for name, measure in _measures(run):
            if measure is not None:
                made.add_row(f"{indent}{name}", *_shares(measure.fixed, measure.population), *_sizes(measure))
        for k, safe in run.safe_k:
            if k > 1:
                word = "resisted" if run.of_attacks else "safe"
                made.add_row(f"{indent}{word} in all of {k}", f"{safe.estimate:.3f}", "", _ends(safe), "", "")
        for name, measure in _measures(run):
            if measure is not None and measure.mean is not None:
                mean = measure.mean
                ends = "undefined" if mean.low is None else f"[{mean.low:.3f}, {mean.high:.3f}]"
                score = run.safety if name in {"unsafe", "attack success"} else run.helpful
                made.add_row(f"{indent}mean {score}, {name}", f"{mean.mean:.3f}", "", ends, "", str(mean.trials))
    return made


def _measures(run: RunSecurity) -> tuple[tuple[str, Measure | None], ...]:
    if not run.of_attacks:
        return ("helped", run.benign), ("unsafe", run.unsafe)
    return (
        ("benign utility", run.benign),
        ("utility under attack", run.attacked),
        ("attack success", run.unsafe),
    )


def part_lines(found: RunSecurity) -> Iterator[str]:
    """Each attack, suite or value of another tag on its own."""
    words = ("attack success", "utility") if found.of_attacks else ("unsafe", "helped")
    for part in found.parts:
        measures = zip(words, (part.unsafe, part.helpful), strict=True)
        told = [f"{word} {_told(measure)}" for word, measure in measures if measure is not None]
        yield f"{part.tag} {part.value}: {', '.join(told)}"


def security_notes(found: RunSecurity) -> Iterator[str]:
    """How far the numbers can be relied on."""
    for score, hidden in found.blind_to.items():
        yield blind_line(hidden).replace("this score", score, 1)
    if found.of_attacks and found.unsafe is None:
        yield "no attack could be judged, so nothing is known of safety"
    if found.of_attacks and found.benign is None:
        yield "no task without an attack: what a defence costs the user is unknown"
    if found.unsafe is not None and found.unsafe.clusters < found.unsafe.tasks:
        told = f"{found.unsafe.tasks} tasks in {number(found.unsafe.clusters, 'cluster')}"
        yield f"{told} (tag user_task): attacks on one user task are no independent cases, so intervals go by cluster"
    if found.unsafe is not None and found.unsafe.population.few_events:
        yield "few events: the intervals may cover less than they say"


def difference_lines(found: DefenceComparison, against: str) -> Iterator[str]:
    """What else differs, and what is in no pair."""
    for change in found.settings:
        yield f"{found.run}: {'changed' if change.named else 'differs too'}: {change}"
    if found.unknown_tasks:
        told = number(found.unknown_tasks, "task")
        yield f"{found.run}: {told} without digests: that task and attack are the same is taken on trust"
    for task in found.unpaired[:_MOST_TASKS]:
        parts = f" ({', '.join(task.parts)})" if task.parts else ""
        yield f"{found.run}: not paired with {against}: {task.task} {task.change}{parts}"
    if len(found.unpaired) > _MOST_TASKS:
        yield f"{found.run}: and {len(found.unpaired) - _MOST_TASKS} more that are not paired (--json has all)"


def difference_table(found: Defences) -> Table:
    """Each defence less the baseline, on the tasks that both have."""
    made = Table(box=None, pad_edge=False, header_style="bold")
    made.add_column(f"against {found.against}")
    made.add_column("axis")
    for heading in ("before", "after", "difference", "95%", "p", "p, adjusted", "pairs"):
        made.add_column(heading, justify="right")
    for each in found.comparisons:
        made.add_row(each.run, style="bold")
        for row in each.differences:
            d = row.found
            ends = "undefined" if d.low is None else f"[{d.low:+.3f}, {d.high:+.3f}]"
            numbers = (f"{d.a:.3f}", f"{d.b:.3f}", f"{d.difference:+.3f}", ends, _p(d.p), _p(row.p_adjusted))
            made.add_row(f"  {row.measure}", row.axis, *numbers, str(d.pairs))
    return made


def plane(runs: tuple[RunSecurity, ...]) -> Iterator[str]:
    """A picture: up is safe, right is helpful; runs are letters, in their order."""
    placed = [(letter, run, point) for letter, run in zip(_letters(), runs, strict=False) if (point := _point(run))]
    if len(placed) < 2:
        return
    cells = [[" "] * (_WIDTH + 1) for _ in range(_HEIGHT + 1)]
    for letter, _, (helpful, safe) in placed:
        row, column = _HEIGHT - round(safe * _HEIGHT), round(helpful * _WIDTH)
        while column < _WIDTH and cells[row][column] != " ":
            column += 1  # runs at one place stand beside each other
        cells[row][column] = letter
    what = "attacks that failed" if runs[0].of_attacks else "safe trials"
    yield f"up: share of {what}; right: {'benign utility' if runs[0].of_attacks else 'share of helped trials'}"
    for place, row_cells in enumerate(cells):
        label = {0: "1.0", _HEIGHT // 2: "0.5", _HEIGHT: "0.0"}.get(place, "")
        yield f"{label:>4} |{''.join(row_cells).rstrip()}"
    yield f"     +{'-' * (_WIDTH + 1)}"
    yield f"      0.0{'0.5':>{_WIDTH // 2}}{'1.0':>{_WIDTH // 2}}"
    for letter, run, (helpful, safe) in placed:
        yield f"  {letter}  {run.run}: {safe:.3f} safe, {helpful:.3f} helpful"


def _letters() -> str:
    return "abcdefghijklmnopqrstuvwxyz"


def _point(run: RunSecurity) -> tuple[float, float] | None:
    if run.benign is None or run.unsafe is None:
        return None
    return run.benign.fixed.estimate, 1 - run.unsafe.fixed.estimate


def _shares(fixed: Interval, population: Interval) -> tuple[str, str, str]:
    return f"{fixed.estimate:.3f}", _ends(fixed), _ends(population)


def _sizes(measure: Measure) -> tuple[str, str]:
    return str(measure.tasks), str(measure.trials)


def _ends(found: Interval) -> str:
    return "undefined" if found.low is None or found.high is None else f"[{found.low:.3f}, {found.high:.3f}]"


def _told(measure: Measure) -> str:
    return f"{measure.fixed.estimate:.3f} {_ends(measure.population)} ({number(measure.trials, 'trial')})"


def _if(threshold: str | None) -> str:
    return "" if threshold is None else f" {threshold}"


def _p(p: float | None) -> str:
    return "undefined" if p is None else f"{p:.4f}"
