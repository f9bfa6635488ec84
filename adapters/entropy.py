"""Random bytes of the operating system: os.urandom, and what is made of them.

That is `uuid.uuid4`, `secrets`, `random.SystemRandom`, numpy's `default_rng()`, and the seed of a `random.Random()`
that is made without one. The one generator that the functions of `random` share is not drawn from the system each
time; its state is kept by `replay.ambient`.
"""

from __future__ import annotations

import os
import random
from collections.abc import Callable
from typing import Any, Final

from cassettes.ambient import observer

from .patches import PatchingAdapter

__all__ = ["ENTROPY", "EntropyAdapter"]

_SEED_BYTES: Final = 32


class EntropyAdapter(PatchingAdapter):
    """Lets the trial of a context say which random bytes are drawn."""

    name = "random"

    def install(self) -> None:
        """Patch the sources. A second call does nothing."""
        if self._patches:
            return
        drawn = _drawing(os.urandom)
        self._patches.put(os, "urandom", drawn, "os")
        self._patches.put(random, "_urandom", drawn, "random")
        self._patches.put(random.Random, "seed", _seeding(random.Random.seed), "random.Random")
        self._patches.put(random, "seed", _seeding_all(random.seed), "random")


def _drawing(original: Callable[[int], bytes]) -> Callable[[int], bytes]:
    def urandom(size: int, /) -> bytes:
        listener = observer()
        return original(size) if listener is None else listener.entropy(size, original)

    return urandom


def _seeding(original: Any) -> Any:
    def seed(generator: random.Random, a: Any = None, version: int = 2) -> None:
        original(generator, _seed() if a is None and observer() is not None else a, version)

    return seed


def _seeding_all(original: Any) -> Any:
    def seed(a: Any = None, version: int = 2) -> None:
        original(_seed() if a is None and observer() is not None else a, version)

    return seed


def _seed() -> int:
    """In place of the seed that Python's own generator would take from the system, unseen."""
    return int.from_bytes(os.urandom(_SEED_BYTES))


ENTROPY: Final = EntropyAdapter()
