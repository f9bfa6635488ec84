"""The sufficient statistic: how many tasks have n trials of which c passed."""

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, TypeAlias, TypeGuard

import numpy as np
import numpy.typing as npt
from attrs import field, frozen

Counts: TypeAlias = Sequence[int] | npt.NDArray[np.integer[Any]]
"""One whole number per task."""

Floats: TypeAlias = npt.NDArray[np.float64]

_INT64 = np.iinfo(np.int64)


@frozen(order=True)
class Cell:
    """The tasks that share one outcome.

    Attributes:
        trials: n, trials of each of these tasks, at least 1.
        successes: c, passed trials of each of them, 0 to n.
        tasks: how many tasks these are, at least 1.
    """

    trials: int
    successes: int
    tasks: int

    def __attrs_post_init__(self) -> None:
        if not (self.trials >= 1 and 0 <= self.successes <= self.trials and self.tasks >= 1):
            raise ValueError(f"impossible cell: {self}")


def _ascending(_tally: object, _attribute: object, cells: tuple[Cell, ...]) -> None:
    keys = [(cell.trials, cell.successes) for cell in cells]
    if not keys or keys != sorted(set(keys)):
        raise ValueError("a tally needs one cell or more, ascending by trials, then successes, none twice")


@frozen
class Tally:
    """Counts of tasks by (trials, successes); everything in this package is computed from it.

    Only outcomes that occur are kept, so the cost of a statistic depends neither on the number of tasks
    nor on the number of trials, and the order of the tasks cannot matter.

    Attributes:
        cells: ascending by trials, then successes; at least one.
    """

    cells: tuple[Cell, ...] = field(validator=_ascending)

    @classmethod
    def of(cls, successes: Counts, trials: int | Counts, *, k: int = 1) -> "Tally":
        """Count tasks.

        Args:
            successes: passed trials, one int per task.
            trials: trials, one int for all tasks or one per task.
            k: trials that every task must have, because a statistic about k of them follows.

        Raises:
            ValueError: no tasks; different lengths; something that is not a whole number (a float, NaN, a
                verdict); successes outside 0..trials; k below 1; a task with fewer than k trials. The
                message names the first such task by its index.
        """
        whole_k(k)
        passed = _whole_numbers("successes", successes)
        if np.ndim(trials) == 0:
            tried = np.broadcast_to(_whole_numbers("trials", [trials]), passed.shape)
        else:
            tried = _whole_numbers("trials", trials)
        if tried.shape != passed.shape:
            raise ValueError(f"successes of {len(passed)} tasks, but trials of {len(tried)}")
        _refuse_where(tried < 1, "task {index} has {n} trials: a task needs at least 1", passed, tried)
        _refuse_where(passed < 0, "task {index} has {c} successes: that is below 0", passed, tried)
        _refuse_where(passed > tried, "task {index} has {c} successes in {n} trials", passed, tried)
        _refuse_where(
            tried < k,
            f"k = {k}, but task {{index}} has {{n}} trials: every task needs k or more",
            passed,
            tried,
        )
        return cls(tuple(_cells(passed, tried)))

    @property
    def tasks(self) -> int:
        """Number of tasks, T."""
        return sum(cell.tasks for cell in self.cells)

    @property
    def trials(self) -> int:
        """Number of trials, over all tasks."""
        return sum(cell.tasks * cell.trials for cell in self.cells)

    @property
    def successes(self) -> int:
        """Number of passed trials, over all tasks."""
        return sum(cell.tasks * cell.successes for cell in self.cells)

    @property
    def min_trials(self) -> int:
        """Smallest number of trials of a task: the largest k that has an answer."""
        return self.cells[0].trials

    @property
    def max_trials(self) -> int:
        """Largest number of trials of a task."""
        return self.cells[-1].trials

    @property
    def always(self) -> int:
        """Number of tasks that passed every trial."""
        return sum(cell.tasks for cell in self.cells if cell.successes == cell.trials)

    @property
    def never(self) -> int:
        """Number of tasks that passed no trial."""
        return sum(cell.tasks for cell in self.cells if cell.successes == 0)

    @property
    def weights(self) -> Floats:
        """Tasks per cell, in the order of the cells."""
        return np.array([cell.tasks for cell in self.cells], dtype=np.float64)

    def mirrored(self) -> "Tally":
        """The same trials with passes and failures exchanged."""
        flipped = (Cell(cell.trials, cell.trials - cell.successes, cell.tasks) for cell in self.cells)
        return Tally(tuple(sorted(flipped)))


def is_whole(value: object) -> TypeGuard[int]:
    """True if a value is a whole number that fits 64 bits; a verdict (bool) is none."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer):
        return False
    return bool(_INT64.min <= value <= _INT64.max)


def whole_k(k: object) -> None:
    """Check k where a task's trials are not at hand.

    Raises:
        ValueError: k is not a whole number of at least 1.
    """
    if not is_whole(k) or k < 1:
        raise ValueError(f"k must be a whole number of at least 1, got {k!r}")


def require(tally: Tally, k: int) -> None:
    """Check that every task of a tally has k trials.

    Raises:
        ValueError: k is below 1, or a task has fewer trials.
    """
    whole_k(k)
    if k > tally.min_trials:
        raise ValueError(f"k = {k}, but a task has {tally.min_trials} trials: every task needs k or more")


def require_level(level: float) -> None:
    """Check a confidence level.

    Raises:
        ValueError: it is not strictly between 0 and 1.
    """
    if not 0 < level < 1 or math.isnan(level):
        raise ValueError(f"level must be between 0 and 1, both excluded, got {level!r}")


def _whole_numbers(name: str, values: object) -> npt.NDArray[np.int64]:
    try:
        array = np.asarray(values)
    except ValueError:  # rows of different lengths
        array = np.empty(())
    if array.ndim != 1:
        raise ValueError(f"{name} must be a sequence with one whole number per task")
    if array.size == 0:
        raise ValueError(f"{name} is empty: there are no tasks")
    if array.dtype.kind == "b" or not np.can_cast(array.dtype, np.int64):
        # numpy has made one type of all by now, so the culprit is looked for in what was passed.
        assert isinstance(values, Iterable)
        _refuse_first_oddity(name, values)
    return array.astype(np.int64)


def _refuse_first_oddity(name: str, values: Iterable[object]) -> None:
    for index, value in enumerate(values):
        if not is_whole(value):
            hint = " (counts per task are needed, not verdicts)" if isinstance(value, bool | np.bool_) else ""
            raise ValueError(f"task {index}: {name} must be a whole number, got {value!r}{hint}")


def _refuse_where(
    wrong: npt.NDArray[np.bool_], message: str, passed: npt.NDArray[np.int64], tried: npt.NDArray[np.int64]
) -> None:
    if wrong.any():
        index = int(np.argmax(wrong))
        raise ValueError(message.format(index=index, c=passed[index], n=tried[index]))


def _cells(passed: npt.NDArray[np.int64], tried: npt.NDArray[np.int64]) -> Iterator[Cell]:
    for trials in np.unique(tried):
        successes, tasks = np.unique(passed[tried == trials], return_counts=True)
        for c, count in zip(successes.tolist(), tasks.tolist(), strict=True):
            yield Cell(int(trials), c, count)
