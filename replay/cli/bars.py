"""Progress on stderr, where that is a terminal."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from .output import messages

__all__ = ["counting_bar"]


@contextmanager
def counting_bar(what: str, total: int, *, quiet: bool) -> Iterator[Callable[[], None]]:
    """A bar that what is given moves on by one; none if ``quiet``, or if stderr is no terminal."""
    progress = Progress(
        TextColumn(what, markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        console=messages(),
        transient=True,
        disable=quiet or not sys.stderr.isatty(),
    )
    with progress:
        task = progress.add_task("", total=total)
        yield lambda: progress.advance(task)
