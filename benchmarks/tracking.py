"""Noticing what a write changed in a large state."""

from __future__ import annotations

import copy
import time
from typing import Any

from cassettes.redact import Redactor
from cassettes.values import pack
from replay.state import StateTracker

from .airline import read
from .rows import Row, Target
from .timing import median

__all__ = ["rows"]


def rows(rounds: int = 7) -> list[Row]:
    """Change one reservation of the airline database in each round.

    Raises:
        Skipped: the database is not there.
    """
    state = {name: copy.deepcopy(read(f"airline-{name}.json")) for name in ("flights", "reservations", "users")}
    tracker = StateTracker(state, Redactor(b"k" * 32))
    reservations = list(state["reservations"])
    turn = iter(range(1_000_000))

    def ours() -> float:
        _write(state, reservations[next(turn) % len(reservations)])
        began = time.perf_counter()
        patch = tracker.change()
        seconds = time.perf_counter() - began
        assert patch is not None
        assert len(patch.changes) == 1
        return seconds

    def plain() -> float:
        began = time.perf_counter()
        copy.deepcopy(state)
        return time.perf_counter() - began

    found = median({"ours": ours, "plain": plain}, rounds)
    return [
        Row(
            f"track a write on the airline database ({len(pack(state)) / 1e6:.1f} MB packed)",
            found["ours"] * 1e3,
            "ms",
            found["plain"] * 1e3,
            "deep copy",
            Target("<", 20),
            note="one reservation changed; the deep copy alone, before anything is compared",
        )
    ]


def _write(state: dict[str, Any], reservation: str) -> None:
    state["reservations"][reservation]["total_baggages"] = (
        state["reservations"][reservation].get("total_baggages", 0) + 1
    )
