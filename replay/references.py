"""Which trial to compare with: passing trials of the same task, the nearest first."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from cassettes.model import TrialId

from .aligning import similarity
from .home import Home
from .store import Store
from .view import View
from .writes import acts_of, ignored_by, matched_steps, write_prefix

__all__ = ["expected_actions", "references", "references_in"]

_PASSED: Final = """
SELECT t.id, t.run, t.digests FROM trials t JOIN runs r ON r.name = t.run
JOIN scores s ON s.trial = t.id AND s.scorer || '@' || s.version = r.primary_score
WHERE t.task = ? AND t.ending = 'completed' AND s.passed = 1 ORDER BY t.run, t.idx
"""


def references(home: Home, view: View) -> list[View]:
    """The passing trials of the same task, as far as this home holds them.

    Those of the same run come first, then those of other runs under which the task was the same: same instruction,
    same check, same initial state, by digest. Among each the nearest is first: it has the longest common prefix of
    writes, then the most calls in common.

    Args:
        home: where to look.
        view: the trial that is looked at; never among the result.

    Returns:
        Trials that completed and passed by the primary score of their run; maybe none.

    Raises:
        CassetteError: one of them cannot be read.
    """
    with Store(home) as store:
        store.refresh()
        return references_in(store, view)


def references_in(store: Store, view: View) -> list[View]:
    """The same from an index that is up to date.

    Raises:
        CassetteError: one of them cannot be read.
    """
    home = store.home
    digests = (view.cassette.header.task_definition or {}).get("digests", {})
    rows = store.rows(_PASSED, [view.id.task])
    found = [View(home.cassette(TrialId.parse(row["id"])), home) for row in rows if _is_comparable(row, view, digests)]
    ranked = [(_rank(view, other), place, other) for place, other in enumerate(found)]
    return [other for _, _, other in sorted(ranked, key=lambda entry: entry[:2])]


def expected_actions(view: View) -> list[Any] | None:
    """The actions that the task expects, as tau-bench tells them; None if it tells none."""
    actions = (view.cassette.header.task_definition or {}).get("actions")
    return actions if isinstance(actions, list) else None


def _is_comparable(row: Mapping[str, Any], view: View, digests: Mapping[str, Any]) -> bool:
    if row["id"] == str(view.id):
        return False
    return row["run"] == view.id.run or (bool(digests) and json.loads(row["digests"] or "{}") == digests)


def _rank(view: View, other: View) -> tuple[bool, int, float]:
    """Small is near."""
    ignore = (*ignored_by(view), *ignored_by(other))
    mine, theirs = acts_of(matched_steps(view)), acts_of(matched_steps(other))
    alike = similarity([step.call for step in mine], [step.call for step in theirs], ignore)
    return other.id.run != view.id.run, -write_prefix(mine, theirs, ignore), -alike
