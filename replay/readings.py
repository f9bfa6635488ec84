"""What a recorded trial read of the clock and of randomness, as its cassette's marks hold it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from attrs import frozen

from cassettes.errors import BadInput
from cassettes.model import Mark

from .generators import GeneratorState

__all__ = ["AMBIENT", "MARK", "Readings", "ambient_kinds", "readings_of"]

AMBIENT: Final = ("clock", "random")
MARK: Final = "ambient"  # the kind of the marks

_Place = tuple[int, int]  # strand and segment


def ambient_kinds(given: str | Iterable[str]) -> tuple[str, ...]:
    """The kinds that a user names, as ``"clock,random"`` or one by one.

    Raises:
        BadInput: one is neither ``clock`` nor ``random``.
    """
    named = [part.strip() for text in ([given] if isinstance(given, str) else given) for part in text.split(",")]
    for kind in named:
        if kind not in AMBIENT:
            raise BadInput(f"{kind!r} is no ambient source: name {' or '.join(AMBIENT)}")
    return tuple(kind for kind in AMBIENT if kind in named)


@frozen
class Readings:
    """What one recorded trial read.

    Attributes:
        kinds: which of ``clock`` and ``random`` it recorded.
        clock: by strand and segment, in nanoseconds since 1970.
        entropy: by strand and segment, the random bytes.
        states: of the shared generators, by the step after which they were so; -1 is the beginning.
        began: the first reading of the clock.
    """

    kinds: tuple[str, ...]
    clock: Mapping[_Place, list[int]]
    entropy: Mapping[_Place, list[bytes]]
    states: Mapping[int, GeneratorState]
    began: int


def readings_of(marks: Iterable[Mark]) -> Readings | None:
    """The readings that a cassette's marks hold; None if it recorded none."""
    found = [mark.data for mark in marks if mark.kind == MARK]
    if not found:
        return None
    clock: dict[_Place, list[int]] = {}
    entropy: dict[_Place, list[bytes]] = {}
    for data in found:
        if "segment" in data:
            place = (data["strand"], data["segment"])
            clock[place] = list(data["clock"])
            entropy[place] = [number.to_bytes(size) for size, number in data["entropy"]]
    states = {data["after"]: GeneratorState(*data["state"]) for data in found if "state" in data}
    start = next(data for data in found if "kinds" in data)
    return Readings(tuple(start["kinds"]), clock, entropy, states, start["began"])
