"""Progress over the continuations from several steps of a trial."""

from __future__ import annotations

from typing import Self

from .run_bar import TrialBar, trial_bars

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
        self._bar = trial_bars(quiet=quiet)

    def __enter__(self) -> Self:
        self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.stop()

    def next_point(self, at: int, run: str) -> TrialBar:  # noqa: ARG002  # the run is named when it is done
        """The bar of the next step."""
        self._started += 1
        several = f" ({self._started}/{self._points})" if self._points > 1 else ""
        return TrialBar(self._bar, f"from step {at}{several}")
