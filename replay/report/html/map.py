"""The task × trial map: which trials of which task passed, as cells, as a bar per task, or as one histogram."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterable, Sequence
from typing import Final, Literal

from attrs import frozen

from replay.analysis.reliability import Counted

from .facts import TrialFacts
from .shown import one_line, shown
from .signs import SIGNS, Sign

__all__ = ["MOST_CELLS", "MOST_TASKS", "Bin", "Cell", "Group", "TaskRow", "TrialMap", "trial_map"]

MOST_CELLS: Final = 5_000
MOST_TASKS: Final = 5_000

_MOST_BINS: Final = 20
_PITCHES: Final = (140, 180, 230, 320, 350)  # px; the style sheet knows the same

_GROUPS: Final = (
    ("always", "always pass", "every counted trial passed"),
    ("flips", "flip", "some counted trials passed, some did not"),
    ("never", "never pass", "no counted trial passed"),
    ("uncounted", "without a counted trial", "nothing is known of them"),
)


@frozen
class Cell:
    """One trial; ``linked`` if the page tells more of it."""

    number: int
    sign: Sign
    title: str
    linked: bool


@frozen
class TaskRow:
    """One task: ``passed`` of ``counted`` trials, by the convention of the numbers; ``cells`` if there is room."""

    task: str
    passed: int
    counted: int
    cells: tuple[Cell, ...]

    @property
    def share(self) -> float:
        """Of its counted trials that passed, 0 to 1."""
        return self.passed / self.counted if self.counted else 0.0


@frozen
class Group:
    """Tasks that ended alike, those that pass most often first."""

    name: str
    heading: str
    told: str
    rows: tuple[TaskRow, ...]


@frozen
class Bin:
    """How many tasks pass so often; ``share`` is that number against the largest one."""

    name: str
    tasks: int
    share: float


@frozen
class TrialMap:
    """The map.

    Attributes:
        form: of very many trials one ``bars`` per task, of very many tasks one ``histogram``.
        legend: the signs that occur.
        bins: of a histogram.
        pitch: how wide a column of tasks must be, as a class of the style sheet.
    """

    form: Literal["cells", "bars", "histogram"]
    groups: tuple[Group, ...]
    legend: tuple[tuple[Sign, int], ...]
    bins: tuple[Bin, ...] = ()
    pitch: str = ""


def trial_map(trials: Sequence[TrialFacts], counted: Counted, linked: Container[int]) -> TrialMap:
    """The map of a run.

    Args:
        trials: all, by task and index.
        counted: what the numbers rest on.
        linked: the numbers of the trials of which the page tells more.
    """
    numbers = dict(zip(counted.tasks, zip(counted.successes, counted.trials, strict=True), strict=True))
    form: Literal["cells", "bars", "histogram"] = "cells" if len(trials) <= MOST_CELLS else "bars"
    by_task: dict[str, list[TrialFacts]] = {}
    for trial in trials:
        by_task.setdefault(trial.task, []).append(trial)
    legend = tuple((sign, n) for sign in SIGNS.values() if (n := sum(t.sign is sign for t in trials)))
    if form == "bars" and len(by_task) > MOST_TASKS:
        return TrialMap("histogram", (), legend, tuple(_bins(list(numbers.values()))))
    rows = [
        TaskRow(shown(task), *numbers.get(task, (0, 0)), _cells(found, linked) if form == "cells" else ())
        for task, found in by_task.items()
    ]
    return TrialMap(form, tuple(_grouped(rows)), legend, pitch=_pitch(rows))


def _pitch(rows: Iterable[TaskRow]) -> str:
    """The narrowest column in which the names and cells of all tasks have room; long ones are broken."""
    most = max((min(len(row.task), 24) * 7.4 + 44 + (min(len(row.cells), 10) * 19 or 90) for row in rows), default=0)
    return next((f"pitch-{width}" for width in _PITCHES if most <= width), f"pitch-{_PITCHES[-1]}")


def _bins(passed: Sequence[tuple[int, int]]) -> Iterable[Bin]:
    """Tasks by how many of n trials passed; if n is large, or differs, by the share of them in ten steps."""
    sizes = {n for _, n in passed}
    if len(sizes) == 1 and (n := next(iter(sizes))) <= _MOST_BINS:
        names = ["never", *(f"{c} of {n}" for c in range(1, n)), "always"]
        places = [c for c, _ in passed]
    else:
        names = ["never", *(f"{low} to {low + 10}%" for low in range(0, 100, 10)), "always"]
        places = [0 if c == 0 else 11 if c == n else 1 + min(9, c * 10 // n) for c, n in passed]
    counts = Counter(places)
    most = max(counts.values(), default=1)
    return [Bin(name, counts[place], counts[place] / most) for place, name in enumerate(names)]


def _cells(trials: Iterable[TrialFacts], linked: Container[int]) -> tuple[Cell, ...]:
    return tuple(Cell(t.number, t.sign, _title(t), t.number in linked) for t in trials)


def _title(trial: TrialFacts) -> str:
    more = "" if trial.ending in {"completed", trial.sign.name} else f" ({trial.ending})"
    return f"{one_line(trial.task, 60)}#{trial.index}: {trial.sign.name}{more}"


def _grouped(rows: Iterable[TaskRow]) -> Iterable[Group]:
    found: dict[str, list[TaskRow]] = {}
    for row in rows:
        found.setdefault(_group_of(row), []).append(row)
    for name, heading, told in _GROUPS:
        if name in found:
            yield Group(name, heading, told, tuple(sorted(found[name], key=lambda row: -row.share)))


def _group_of(row: TaskRow) -> str:
    if not row.counted:
        return "uncounted"
    return "always" if row.passed == row.counted else "flips" if row.passed else "never"
