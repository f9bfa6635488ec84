"""Costs of the trials of a run, from the index."""

from __future__ import annotations

from replay.prices import PriceList
from replay.spending import Cost, Spent, priced
from replay.store import Store

__all__ = ["costs_of_trials"]

_SPENT = """
SELECT i.trial, i.name, i.actor, COUNT(*) AS calls, SUM(COALESCE(i.input_tokens, 0)) AS input,
       SUM(COALESCE(i.output_tokens, 0)) AS output, SUM(COALESCE(i.cached_tokens, 0)) AS cached,
       SUM(COALESCE(i.written_tokens, 0)) AS written,
       MAX(COALESCE(i.input_tokens, 0)) AS largest, SUM(i.input_tokens IS NULL OR i.output_tokens IS NULL) AS untold
FROM trials t JOIN interactions i ON i.trial = t.id
WHERE t.run = ? AND i.billed = 1
GROUP BY i.trial, i.name, i.actor
"""


def costs_of_trials(store: Store, run: str, prices: PriceList) -> tuple[dict[str, Cost], Cost]:
    """The costs of a run's trials that have live model calls, by trial, and of all of them together."""
    spent: dict[str, list[Spent]] = {}
    for row in store.rows(_SPENT, [run]):
        numbers = {name: row[name] for name in ("calls", "input", "output", "cached", "written", "largest", "untold")}
        spent.setdefault(row["trial"], []).append(Spent(row["name"], row["actor"], **numbers))
    by_trial = {trial: priced(parts, prices) for trial, parts in spent.items()}
    return by_trial, priced((part for parts in spent.values() for part in parts), prices)
