"""Progress of trials on stderr."""

from __future__ import annotations

import sys
from typing import Self

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from cassettes.model import Ending, TrialId

from .output import messages

__all__ = ["RunBar", "TrialBar", "trial_bars"]


def trial_bars(*, quiet: bool) -> Progress:
    """Where bars of trials are drawn; nowhere if ``quiet``, or if stderr is no terminal."""
    return Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("[green]{task.fields[passed]} passed[/] [red]{task.fields[other]} other[/]"),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
        console=messages(),
        transient=True,
        disable=quiet or not sys.stderr.isatty(),
    )


class TrialBar:
    """One bar; see `replay.orchestration.progress.Progress`."""

    def __init__(self, bars: Progress, description: str) -> None:
        self._bars = bars
        self._task = bars.add_task(description, total=None, passed=0, other=0)
        self._told = {"passed": 0, "other": 0}

    def planned(self, total: int, done: int) -> None:
        """There are ``total`` trials, ``done`` of them from before."""
        self._bars.update(self._task, total=total, completed=done)

    def finished(self, trial: TrialId, ending: Ending, passed: bool | None) -> None:  # noqa: ARG002, FBT001
        """A trial has ended."""
        self._told["passed" if passed else "other"] += 1
        self._bars.update(self._task, advance=1, passed=self._told["passed"], other=self._told["other"])

    def replaced(self, trial: TrialId, ending: Ending) -> None:
        """A trial is tried again."""
        self._bars.console.print(f"{trial} is tried again: {ending.reason}", markup=False)

    def describe(self, description: str) -> None:
        """Say something else in front of the bar."""
        self._bars.update(self._task, description=description)


class RunBar(TrialBar):
    """The only bar, drawn inside a block."""

    def __init__(self, description: str, *, quiet: bool) -> None:
        super().__init__(trial_bars(quiet=quiet), description)

    def __enter__(self) -> Self:
        self._bars.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._bars.stop()
