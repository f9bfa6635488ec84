"""A recorded trial as if some of it had not happened: what a negative control hands to scorers."""

from __future__ import annotations

from collections.abc import Container
from functools import cached_property
from pathlib import Path
from typing import Literal

from cassettes.model import Mark
from cassettes.reader import Cassette
from replay.home import Home
from replay.view import Step, Steps, View

__all__ = ["CONTROLS", "Altered", "Control", "altered", "last_write"]

Control = Literal["drop-last-write", "do-nothing"]
CONTROLS: tuple[Control, ...] = ("drop-last-write", "do-nothing")


class Altered(View):
    """A trial less some of its steps, and less what they did to the tracked state.

    Args:
        path: its cassette.
        home: where its initial state lies.
        without: the steps that are left out.
        silent: nothing was said, and nothing changed by itself either.
    """

    def __init__(self, path: Path, home: Home | None, without: Container[int], *, silent: bool = False) -> None:
        super().__init__(path, home)
        self._without = without
        self._silent = silent

    @cached_property
    def steps(self) -> Steps:
        """The steps that are left."""
        return _Left(self.cassette, self._without)

    @cached_property
    def marks(self) -> list[Mark]:
        """What belongs to the trial and is no call; of one that did nothing, its initial state alone."""
        marks = self.cassette.marks()
        return [mark for mark in marks if mark.kind == "state"] if self._silent else marks


class _Left(Steps):
    def __init__(self, cassette: Cassette, without: Container[int]) -> None:
        super().__init__(cassette)
        self._numbers = [number for number in self._numbers if number not in without]


def last_write(view: View) -> Step | None:
    """The last tool or HTTP call that is declared to write, and that is no part of another one's work."""
    writes = [s for s in view.steps if s.call.effect == "write" and s.call.may_write and s.interaction.parent is None]
    return max(writes, key=lambda step: step.interaction.ended, default=None)


def altered(view: View, home: Home, control: Control) -> Altered | None:
    """The trial under a control; None if it made no write that could be dropped."""
    if control == "do-nothing":
        return Altered(view.path, home, range(1 << 62), silent=True)
    last = last_write(view)
    if last is None:
        return None
    without = {last.number}
    for step in view.steps:  # in start order: what happened inside it goes with it
        if step.interaction.parent in without:
            without.add(step.number)
    return Altered(view.path, home, without)
