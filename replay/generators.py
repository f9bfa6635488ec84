"""The random number generators that a process shares: of `random`, and numpy's legacy one."""

from __future__ import annotations

import random
import sys
from importlib import import_module
from typing import Any

from attrs import frozen

__all__ = ["GeneratorState", "generator_state", "restore_generators", "seed_generators"]


@frozen
class GeneratorState:
    """Where the shared generators are.

    Attributes:
        python: of `random`: version, words, next gaussian.
        numpy: of `numpy.random`, or None if numpy was not imported.
    """

    python: list[Any]
    numpy: list[Any] | None

    def plain(self) -> list[Any]:
        """Its fields, of lists and numbers only."""
        return [self.python, self.numpy]


def generator_state() -> GeneratorState:
    """The state now."""
    version, words, gauss = random.getstate()
    numpy = _numpy_random()
    if numpy is None:
        return GeneratorState([version, list(words), gauss], None)
    name, keys, place, has_gauss, cached = numpy.get_state()
    return GeneratorState([version, list(words), gauss], [str(name), keys.tolist(), place, has_gauss, cached])


def restore_generators(state: GeneratorState) -> None:
    """Go back to ``state``; numpy's part only where numpy is imported."""
    version, words, gauss = state.python
    random.setstate((version, tuple(words), gauss))
    numpy = _numpy_random()
    if numpy is not None and state.numpy is not None:
        numpy.set_state(tuple(state.numpy))


def seed_generators() -> None:
    """Begin anew, with a seed of the system's."""
    random.seed()
    numpy = _numpy_random()
    if numpy is not None:
        numpy.seed()


def _numpy_random() -> Any:
    """The part of numpy, where numpy is imported; numpy itself imports that part only when it is first used."""
    return import_module("numpy.random") if "numpy" in sys.modules else None
