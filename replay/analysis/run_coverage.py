"""How the frozen calls of a run were answered, from the index."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from attrs import asdict, frozen

__all__ = ["Coverage", "coverage_by_task", "coverage_of_rows"]

_EXACT = ("own", "borrowed", "repeated")  # the recorded world gave this answer to this call after these writes


@frozen
class Coverage:
    """How the frozen calls of a run, or of one task in it, were answered.

    Attributes:
        verdicts: calls by verdict.
        whole: trials all of whose frozen calls were answered, of ``trials`` with frozen calls.
        whole_with_write, with_write: the same among trials that wrote.
        emulator: the model that played tools, if one did.
    """

    verdicts: Mapping[str, int]
    trials: int
    whole: int
    with_write: int
    whole_with_write: int
    emulator: str | None = None

    @property
    def calls(self) -> int:
        """Frozen calls."""
        return sum(self.verdicts.values())

    @property
    def exact(self) -> int:
        """Calls that the recorded world itself answered."""
        return sum(self.verdicts.get(name, 0) for name in _EXACT)

    @property
    def others(self) -> dict[str, int]:
        """The verdicts of the rest."""
        return {name: number for name, number in self.verdicts.items() if name not in _EXACT}

    def to_dict(self) -> dict[str, Any]:
        """The same as JSON-like data."""
        return {"calls": self.calls, "exact": self.exact, **asdict(self)}


def coverage_of_rows(rows: Sequence[Mapping[str, Any]], emulator: str | None = None) -> Coverage | None:
    """The coverage of trials, each with its ``ending``, ``coverage`` and ``writes``; None if nothing was frozen."""
    verdicts: Counter[str] = Counter()
    trials = whole = with_write = whole_with_write = 0
    for row in rows:
        covered = json.loads(row["coverage"] or "{}")
        if not covered and row["ending"] != "unanswered":
            continue
        verdicts.update(covered)
        wrote = bool(row["writes"])
        answered = row["ending"] != "unanswered" and not covered.get("stale") and not covered.get("missed")
        trials += 1
        whole += answered
        with_write += wrote
        whole_with_write += wrote and answered
    if not trials:
        return None
    played = emulator if verdicts["emulated"] else None
    return Coverage(dict(verdicts), trials, whole, with_write, whole_with_write, played)


def coverage_by_task(rows: Iterable[Mapping[str, Any]]) -> dict[str, Coverage]:
    """The coverage of each task that has frozen calls, in order of name."""
    tasks: dict[str, list[Mapping[str, Any]]] = {}
    for row in rows:
        tasks.setdefault(row["task"], []).append(row)
    found = ((task, coverage_of_rows(of)) for task, of in sorted(tasks.items()))
    return {task: coverage for task, coverage in found if coverage is not None}
