"""How far two labellers agree."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from attrs import frozen

from replay.stats import kappa_of_table

__all__ = ["Agreement", "agreement"]


@frozen
class Agreement:
    """The agreement of two labellers on things that both labelled.

    Attributes:
        n: how many things.
        observed: the share on which they agree, 0 to 1.
        expected: the share on which they would agree by chance, each with the frequencies that the labels have.
        kappa: Cohen's kappa, at most 1; 0 is as good as chance. None where ``expected`` is 1: undefined.
        low, high: the ends of its 95% interval; None where it is undefined.
        table: how often the first said this and the second that; pairs that did not occur are left out.
    """

    n: int
    observed: float
    expected: float
    kappa: float | None
    low: float | None
    high: float | None
    table: Mapping[tuple[str, str], int]

    def to_dict(self) -> dict[str, Any]:
        """The same as JSON-like data."""
        return {
            "trials": self.n,
            "observed": self.observed,
            "expected": self.expected,
            "kappa": self.kappa,
            "low": self.low,
            "high": self.high,
            "table": [[one, other, times] for (one, other), times in self.table.items()],
        }


def agreement(pairs: Iterable[tuple[str, str]]) -> Agreement:
    """Compute the raw agreement and Cohen's kappa.

    ``kappa = (p_o - p_e) / (1 - p_e)``, where ``p_o`` is the share of pairs that are alike and ``p_e`` the sum over all
    labels of the product of both labellers' shares of it. Source: J. Cohen, "A coefficient of agreement for nominal
    scales", Educational and Psychological Measurement 20 (1960), 37-46. The interval is that of `kappa_of_table`.

    Args:
        pairs: for each thing, the label of the first and that of the second labeller.

    Raises:
        ValueError: there is no pair.
    """
    table = Counter(pairs)
    n = table.total()
    if not n:
        raise ValueError("agreement needs at least one pair of labels")
    first: Counter[str] = Counter()
    second: Counter[str] = Counter()
    for (one, other), number in table.items():
        first[one] += number
        second[other] += number
    alike = sum(number for (one, other), number in table.items() if one == other)
    chance = sum(first[label] * second[label] for label in first)  # of n squared; whole numbers, so 1 is seen exactly
    kappa = None if chance == n * n else (alike * n - chance) / (n * n - chance)
    labels = sorted({*first, *second})
    bounds = kappa_of_table([[table[one, other] for other in labels] for one in labels]) if kappa is not None else None
    low, high = (None, None) if bounds is None else bounds[1:]
    return Agreement(n, alike / n, chance / (n * n), kappa, low, high, dict(sorted(table.items())))
