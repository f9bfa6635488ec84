"""A stated threshold on a score's value, such as ``>=2``: from numbers on a scale to yes and no."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable
from typing import Final

from attrs import frozen

from cassettes.errors import BadInput

__all__ = ["Threshold"]

_FORM: Final = re.compile(r"\s*(?P<sign>>=|<=|>|<)\s*(?P<at>-?\d+(\.\d+)?|-?\.\d+)\s*")
_SIGNS: Final[dict[str, Callable[[float, float], bool]]] = {
    ">=": operator.ge,
    "<=": operator.le,
    ">": operator.gt,
    "<": operator.lt,
}
_ALMOST: Final = 1e-9  # a threshold of 0.8 is reached by a sum that should be 0.8


@frozen
class Threshold:
    """``>=2``: which values count."""

    sign: str
    at: float

    @classmethod
    def parse(cls, text: str) -> Threshold:
        """Read a threshold.

        Raises:
            BadInput: it is none.
        """
        match = _FORM.fullmatch(text)
        if match is None:
            raise BadInput(f"{text!r} is no threshold: '>=2' and '<4' are")
        return cls(match["sign"], float(match["at"]))

    def holds(self, value: float) -> bool:
        """True if a value counts; one that differs from the threshold by rounding is the threshold."""
        return _SIGNS[self.sign](self.at if abs(value - self.at) <= _ALMOST else value, self.at)

    def __str__(self) -> str:
        return f"{self.sign}{self.at:g}"
