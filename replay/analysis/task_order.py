"""The order in which evidence goes through tasks: drawn by a seed, and the same whichever of them are there."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable
from itertools import takewhile

__all__ = ["begun_in_order", "drawn_order"]


def drawn_order(tasks: Iterable[str], seed: int) -> list[str]:
    """Tasks in a random order; a task that is added or taken away leaves the order of the others as it is."""
    return sorted(tasks, key=lambda task: hashlib.sha256(f"{seed}/{task}".encode()).digest())


def begun_in_order(planned: Iterable[str], begun: Collection[str], seed: int) -> list[str]:
    """The tasks that evidence may go through: in the drawn order of all planned ones, up to the first without a trial.

    So what is seen of a run that is not finished is a beginning of what will be seen, and one may look again later.
    """
    return list(takewhile(lambda task: task in begun, drawn_order({*planned, *begun}, seed)))
