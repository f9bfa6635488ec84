"""One trial as the debugger reads it: a step when it is asked for, and a glance at it kept."""

from __future__ import annotations

from collections import OrderedDict
from typing import Final

from cassettes.errors import CorruptCassette
from cassettes.model import Interaction
from replay.view import View

from .glances import Glance, glance_at, unreadable

__all__ = ["Side"]

_KEPT_WHOLE: Final = 64


class Side:
    """A trial whose steps are counted by place: 0, 1, 2, ... also where a killed trial lacks a step's number.

    Args:
        view: the trial. Its own cache of steps is not used: that of a long trial would hold every history.
    """

    def __init__(self, view: View) -> None:
        self.view = view
        self.numbers = view.cassette.step_numbers
        self._glances: dict[int, Glance] = {}
        self._whole: OrderedDict[int, Interaction] = OrderedDict()

    def __len__(self) -> int:
        return len(self.numbers)

    @property
    def name(self) -> str:
        """The trial's id."""
        return str(self.view.id)

    def place_of(self, number: int) -> int | None:
        """Where the step with this number stands; None if there is none."""
        numbers = self.numbers
        if isinstance(numbers, range):
            return number if number in numbers else None
        return numbers.index(number) if number in numbers else None

    def step(self, place: int) -> Interaction:
        """The whole step.

        Raises:
            CorruptCassette: the file is damaged there.
        """
        known = self._whole.get(place)
        if known is None:
            known = self._whole[place] = self.view.cassette.step(self.numbers[place])
            self._glances.setdefault(place, glance_at(known))
            while len(self._whole) > _KEPT_WHOLE:
                self._whole.popitem(last=False)
        return known

    def glance(self, place: int) -> Glance:
        """The step at a glance; one that the file no longer tells is told as such."""
        known = self._glances.get(place)
        if known is None:
            number = self.numbers[place]
            try:
                known = glance_at(self.view.cassette.step(number))
            except CorruptCassette as error:
                known = unreadable(number, str(error))
            self._glances[place] = known
        return known

    def glances(self) -> list[Glance]:
        """All steps at a glance."""
        return [self.glance(place) for place in range(len(self))]

    def inside(self, place: int) -> list[int]:
        """The places of the steps that happened directly inside this one."""
        outer, found = self.step(place), []
        for later in range(place + 1, len(self)):
            glance = self.glance(later)
            if glance.parent == outer.step:
                found.append(later)
            elif glance.parent is None and glance.at > outer.at + outer.duration:
                break
        return found
