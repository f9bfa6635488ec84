"""Progress over the continuations from several steps of a trial."""

from __future__ import annotations

import sys
from typing import Self

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from cassettes.model import Ending, TrialId

from .output import messages

__all__ = ["ForkBar"]


class ForkBar:
    """A progress bar on stderr for each step that is forked at; nothing where that is no terminal.

    Args:
        points: how many steps.
        quiet: show nothing.
    """

    def __init__(self, points: int, *, quiet: bool) -> None:
        self._points = points
        self._started = 0
        self._bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("[green]{task.fields[passed]} passed[/] [red]{task.fields[other]} other[/]"),
            TimeElapsedColumn(),
            TimeRemainingColumn(),
            console=messages(),
            transient=True,
            disable=quiet or not sys.stderr.isatty(),
        )

    def __enter__(self) -> Self:
        self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.stop()

    def next_point(self, at: int, run: str) -> _PointBar:  # noqa: ARG002  # the run is named when it is done
        """The bar of the next step."""
        self._started += 1
        several = f" ({self._started}/{self._points})" if self._points > 1 else ""
        return _PointBar(self._bar, f"from step {at}{several}")


class _PointBar:
    """Of one step; see `replay.progress.Progress`."""

    def __init__(self, bar: Progress, description: str) -> None:
        self._bar = bar
        self._task = bar.add_task(description, total=None, passed=0, other=0)
        self._told = {"passed": 0, "other": 0}

    def planned(self, total: int, done: int) -> None:
        """There are ``total`` trials, ``done`` of them from before."""
        self._bar.update(self._task, total=total, completed=done)

    def finished(self, trial: TrialId, ending: Ending, passed: bool | None) -> None:  # noqa: ARG002, FBT001
        """A trial has ended."""
        self._told["passed" if passed else "other"] += 1
        self._bar.update(self._task, advance=1, passed=self._told["passed"], other=self._told["other"])

    def replaced(self, trial: TrialId, ending: Ending) -> None:
        """A trial is tried again."""
        self._bar.console.print(f"{trial} is tried again: {ending.reason}", markup=False)
