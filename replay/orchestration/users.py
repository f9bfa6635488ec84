"""Users that need no model: they say what is written down, or draw among it by the user's seed."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import Any

from attrs import field, frozen

from cassettes.canonical import digest
from cassettes.errors import BadInput
from replay.trial import Trial

from .dialogue import Act, Heard, Party

__all__ = ["scripted"]

Line = str | Sequence[str] | Act


@frozen
class _Script:
    """One trial's user."""

    lines: tuple[Line, ...]
    last: str
    yes: tuple[str, ...]
    dice: random.Random
    place: list[int] = field(factory=lambda: [0])

    def act(self, heard: Heard) -> Act:
        """The next line; behind the last one a yes to a question, else the stop phrase."""
        place = self.place[0]
        self.place[0] += 1
        if place >= len(self.lines):
            return Act(self.dice.choice(self.yes) if self.yes and "?" in (heard.text or "") else self.last)
        line = self.lines[place]
        if isinstance(line, Act):
            return line
        return Act(line if isinstance(line, str) else self.dice.choice(list(line)))


@frozen
class _Scripted:
    """Makes the user of each trial."""

    lines: Callable[[Trial], Sequence[Line]] | Sequence[Line]
    last: str
    yes: tuple[str, ...]

    @property
    def settings(self) -> dict[str, Any]:
        """What belongs to the run's configuration; what a function says is known by the version that it is given."""
        script = "of each trial" if callable(self.lines) else digest(repr([*self.lines]))[:8]
        return {"script": script, "last": self.last, **({"yes": [*self.yes]} if self.yes else {})}

    def __call__(self, trial: Trial) -> Party:
        """The user of this trial."""
        chosen = tuple(self.lines(trial) if callable(self.lines) else self.lines)
        if any(not isinstance(line, str | Act) and not line for line in chosen):
            raise BadInput(f"{trial.id}: a line of the script is an empty list; a text, or several, are needed")
        return _Script(chosen, self.last, self.yes, random.Random(trial.user_seed))  # noqa: S311  # a script, no secret


def scripted(
    lines: Callable[[Trial], Sequence[Line]] | Sequence[Line],
    last: str = "###STOP###",
    *,
    yes: Sequence[str] = (),
) -> Callable[[Trial], Party]:
    """A user who says one line after the other.

    Args:
        lines: of every trial, or a function of the trial, so that each task has its own. A line that is a list is one
            of several ways to say it: the user's seed draws. A line that is an `Act` calls the user's own tools.
        last: said when there is no line left.
        yes: said instead, one drawn by the user's seed, as often as the agent then asks something (a question mark).

    Raises:
        BadInput: in a trial: a line is an empty list.
    """
    return _Scripted(lines, last, tuple(yes))
