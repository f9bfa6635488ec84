"""What the live calls of a run cost, and when its money is spent."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from cassettes.errors import BudgetReached
from cassettes.model import Interaction
from replay.spending import Price, cost_of

__all__ = ["Budget"]


class Budget:
    """The money of runs that are carried out together.

    Args:
        runs: their names.
        limit: in the currency of ``prices``; None for no limit.
        prices: by model; empty if costs are not told.
        before: the calls of each recording that earlier sessions of these runs made.

    Attributes:
        cost: of this session; None without prices.

    Raises:
        BadInput: the cost of an earlier call is unknown.
    """

    def __init__(
        self,
        runs: Sequence[str],
        limit: float | None,
        prices: Mapping[str, Price],
        before: Iterable[Iterable[Interaction]],
    ) -> None:
        self.cost = 0.0 if prices else None
        self._runs = runs
        self._limit = limit
        self._prices = prices
        self._spent = 0.0 if limit is None else sum(cost_of(calls, prices) for calls in before)

    def spend(self, calls: Iterable[Interaction]) -> None:
        """Count these calls.

        Raises:
            BadInput: the cost of one is unknown.
            BudgetReached: the money is spent.
        """
        if self.cost is None:
            return
        cost = cost_of(calls, self._prices)
        self.cost += cost
        self._spent += cost
        if self._limit is not None and self._spent >= self._limit:
            raise BudgetReached(
                f"{self._name}: {self._spent:.4f} of {self._limit:.4f} is spent; "
                "the same command with a higher --max-cost goes on"
            )

    @property
    def _name(self) -> str:
        return f"run{'s' if len(self._runs) > 1 else ''} {' and '.join(map(repr, self._runs))}"
