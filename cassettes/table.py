"""The step index of a cassette."""

from __future__ import annotations

import sys
from array import array
from collections.abc import Mapping
from typing import Final

__all__ = ["Table"]


MAX_STEPS: Final = 1 << 24  # a cassette is untrusted input


class Table:
    """Where steps, marks and messages stand: the columns of the step index, one row per frame of steps.

    Attributes:
        offsets: of each frame in the file.
        first_messages: the number of messages stored before each frame.
        restarts: the frames in which the zstd stream starts anew.
        frames_of_steps: by step, its frame; -1 for a step that has not been written.
        marks: the frames that hold a mark.
    """

    def __init__(self) -> None:
        self.offsets = array("Q")
        self.first_messages = array("I")
        self.restarts = array("I")
        self.frames_of_steps = array("i")
        self.marks = array("I")

    def add(self, offset: int, step: int | None, first_message: int, *, restart: bool) -> None:
        """Add a frame; ``step`` is None for a mark.

        Raises:
            ValueError: the step's number is out of bounds.
        """
        if step is not None and not 0 <= step < MAX_STEPS:
            raise ValueError(f"there can be no step {step}")
        frame = len(self.offsets)
        if restart:
            self.restarts.append(frame)
        self.offsets.append(offset)
        self.first_messages.append(first_message)
        if step is None:
            self.marks.append(frame)
            return
        missing = step + 1 - len(self.frames_of_steps)
        self.frames_of_steps.extend([-1] * missing)
        self.frames_of_steps[step] = frame

    def pack(self) -> dict[str, bytes]:
        """The columns as little-endian bytes."""
        return {name: _little(getattr(self, name)).tobytes() for name in self.__dict__}

    @classmethod
    def unpack(cls, packed: Mapping[str, bytes]) -> Table:
        """The inverse of `pack`.

        Raises:
            KeyError, TypeError, ValueError: a column is missing or of another shape.
        """
        table = cls()
        for name, column in table.__dict__.items():
            column.frombytes(packed[name])
            setattr(table, name, _little(column))
        if len(table.first_messages) != len(table.offsets):
            raise ValueError("its columns differ in length")
        return table


def _little(column: array[int]) -> array[int]:
    if sys.byteorder == "little":
        return column
    swapped = array(column.typecode, column)
    swapped.byteswap()
    return swapped
