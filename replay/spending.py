"""What live model calls cost, by prices that the user gives."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from attrs import frozen

from cassettes.errors import BadInput
from cassettes.model import Error, Interaction

__all__ = ["Price", "cost_of"]


@frozen
class Price:
    """Of one model, per million tokens; ``cached`` input tokens cost as much as others unless said."""

    input: float
    output: float
    cached: float | None = None


def cost_of(interactions: Iterable[Interaction], prices: Mapping[str, Price]) -> float:
    """The cost of the live model calls among ``interactions``.

    Raises:
        BadInput: a model has no price, or a call told no usage: the cost is unknown, which is not 0.
    """
    total = 0.0
    for interaction in interactions:
        if interaction.call.kind != "model" or not interaction.origin.live:
            continue
        price = prices.get(interaction.call.name)
        if price is None:
            raise BadInput(
                f"the cost of model {interaction.call.name!r} is unknown; give its price to the suite: "
                f"Suite(prices={{{interaction.call.name!r}: tt.Price(input=..., output=...)}})"
            )
        reply = interaction.reply
        usage = None if reply is None else reply.usage
        if usage is None or usage.input is None or usage.output is None:
            if isinstance(interaction.outcome, Error) or (reply is not None and reply.error is not None):
                continue  # a call that was refused, or reached nobody, is not billed
            raise BadInput(f"a call of model {interaction.call.name!r} told no usage, so its cost is unknown")
        cached = usage.cached or 0
        cached_price = price.input if price.cached is None else price.cached
        total += ((usage.input - cached) * price.input + cached * cached_price + usage.output * price.output) / 1e6
    return total
