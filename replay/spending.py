"""What live model calls used, and what that costs.

Answers from recordings cost nothing. A cost that is not known is never told as 0.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import Any

from attrs import define, evolve, field, frozen

from cassettes.errors import BadInput
from cassettes.model import Call, Error, Interaction

from .prices import CURRENCY, Price, PriceList

__all__ = ["Cost", "Price", "Spent", "billed_part", "cost_of", "is_billed", "merged", "money", "priced", "spent_by"]


_UNKNOWN = "unknown"  # the name that importers give a model of which a file does not tell


@define
class Spent:
    """What the billed calls of one model used, on behalf of one actor.

    Attributes:
        untold: calls that did not tell their usage.
        largest: the longest prompt.
    """

    model: str
    actor: str = "agent"
    calls: int = 0
    input: int = 0
    output: int = 0
    cached: int = 0
    written: int = 0
    largest: int = 0
    untold: int = 0

    def add(self, other: Spent) -> None:
        """Count ``other`` in."""
        self.calls += other.calls
        self.input += other.input
        self.output += other.output
        self.cached += other.cached
        self.written += other.written
        self.largest = max(self.largest, other.largest)
        self.untold += other.untold

    def at(self, price: Price) -> float:
        """What the tokens that were told cost."""
        cached = price.input if price.cached is None else price.cached
        written = price.input if price.written is None else price.written
        plain = self.input - self.cached - self.written
        parts = (plain * price.input, self.cached * cached, self.written * written, self.output * price.output)
        return sum(parts) / 1e6


@frozen
class Cost:
    """What live model calls used and cost.

    Attributes:
        calls: that are billed; ``input`` and ``output`` are their tokens, as far as they were told.
        amount: None if anything in it is unknown.
        at_least: what is known of it; None if nothing is.
        unknown: the models whose cost is not known, and why.
        date: of the table's prices that were used, the oldest; None if none was.
        own: some prices are the user's own.
        shares: of it, by actor; empty if all of it is one's.
    """

    calls: int = 0
    input: int = 0
    output: int = 0
    amount: float | None = 0.0
    at_least: float | None = 0.0
    unknown: Mapping[str, str] = field(factory=dict)
    date: str | None = None
    own: bool = False
    shares: Mapping[str, Cost] = field(factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """The same as JSON-like data."""
        return {
            "amount": self.amount,
            "at_least": self.at_least,
            "currency": None if self.date is None else CURRENCY,
            "prices_date": self.date,
            "own_prices": self.own,
            "unknown": dict(self.unknown),
            "calls": self.calls,
            "input_tokens": self.input,
            "output_tokens": self.output,
            "by_actor": {actor: share.to_dict() for actor, share in self.shares.items()},
        }

    def __str__(self) -> str:
        if not self.calls:
            return "cost 0: no live model call"
        if self.amount is not None:
            return f"cost {self._money(self.amount)}, {self._source()}"
        known = "" if self.at_least is None else f"; at least {self._money(self.at_least)}, {self._source()}"
        unlisted = [model for model, why in self.unknown.items() if why == _unlisted(model)]
        others = [why for model, why in self.unknown.items() if model not in unlisted]
        whys = [_unlisted(", ".join(unlisted)), *others] if unlisted else others
        return f"cost unknown: {'; '.join(whys)}{known}"

    def line(self) -> str:
        """Tokens and cost on one line."""
        if not self.calls:
            return "live model calls: none, so cost 0"
        if not self.input and not self.output:
            return f"live model calls: {self}"
        shares = "; ".join(f"{actor} {share.share()}" for actor, share in self.shares.items())
        used = f"{self.input} tokens in, {self.output} out" + (f" ({shares})" if shares else "")
        return f"live model calls: {used}, {self}"

    def share(self) -> str:
        """What one actor used, and cost where that is known, in short."""
        used = f"{self.input} in, {self.output} out" if self.input or self.output else f"{self.calls} calls"
        return used if self.amount is None else f"{used}, {self._money(self.amount)}"

    def _money(self, amount: float) -> str:
        return money(amount) if self.date is None else f"{money(amount)} {CURRENCY}"

    def _source(self) -> str:
        if self.date is None:
            return "by the suite's own prices"
        return f"prices of {self.date}" + (" and the suite's own" if self.own else "")


def money(amount: float) -> str:
    """An amount as text; a small one is not rounded to 0."""
    return f"{amount:.4f}" if not amount or amount >= 0.01 else f"{Decimal(f'{amount:.3g}'):f}"


def is_billed(interaction: Interaction) -> bool:
    """True for a live model call, unless it was refused or reached nobody."""
    if interaction.call.kind != "model" or not interaction.origin.live:
        return False
    reply = interaction.reply
    failed = isinstance(interaction.outcome, Error) or (reply is not None and reply.error is not None)
    return not (failed and _used(interaction).untold)


def billed_part(interaction: Interaction) -> Interaction:
    """A model call less its arguments, for who keeps many: each holds the whole conversation so far."""
    call = interaction.call
    return evolve(interaction, call=Call(call.kind, call.name, {}, actor=call.actor))


def spent_by(interactions: Iterable[Interaction]) -> list[Spent]:
    """What the billed ones among ``interactions`` used, by model."""
    return merged(_used(interaction) for interaction in interactions if is_billed(interaction))


def merged(spent: Iterable[Spent]) -> list[Spent]:
    """One of each model and actor."""
    found: dict[tuple[str, str], Spent] = {}
    for part in spent:
        found.setdefault((part.model, part.actor), Spent(part.model, part.actor)).add(part)
    return list(found.values())


def priced(spent: Iterable[Spent], prices: PriceList) -> Cost:
    """What it costs by these prices; if it is of several actors, each one's share too."""
    parts = list(spent)
    whole = _priced(parts, prices)
    actors = sorted({part.actor for part in parts})
    if len(actors) < 2:
        return whole
    return evolve(whole, shares={a: _priced([part for part in parts if part.actor == a], prices) for a in actors})


def _priced(spent: Iterable[Spent], prices: PriceList) -> Cost:
    parts = merged(evolve(part, actor="") for part in spent)
    total, unknown, dates, own, known = 0.0, {}, set(), False, not parts
    for part in parts:
        listed = prices.find(part.model)
        if listed is None:
            unknown[part.model] = _unlisted(part.model)
            continue
        price = listed.price
        if price.up_to is not None and part.largest > price.up_to:
            unknown[part.model] = f"no price for {part.model} with prompts of more than {price.up_to} tokens"
            continue
        if part.written and price.written is None:
            unknown[part.model] = f"no price for what {part.model} wrote to its provider's cache"
        if part.untold:
            unknown[part.model] = _untold(part)
            if part.untold == part.calls:
                continue
        known = True
        total += part.at(price)
        dates |= set() if listed.date is None else {listed.date}
        own = own or listed.date is None
    return Cost(
        calls=sum(part.calls for part in parts),
        input=sum(part.input for part in parts),
        output=sum(part.output for part in parts),
        amount=None if unknown else total,
        at_least=total if known else None,
        unknown=unknown,
        date=min(dates, default=None),
        own=own,
    )


def _unlisted(model: str) -> str:
    return f"no price for {model}" if model != _UNKNOWN else "which model answered is not known"


def _untold(part: Spent) -> str:
    if part.calls == 1:
        return f"a call of {part.model} told no usage"
    return f"{part.untold} of {part.calls} calls of {part.model} told no usage"


def cost_of(interactions: Iterable[Interaction], prices: Mapping[str, Price]) -> float:
    """The cost of the live model calls among ``interactions``.

    Raises:
        BadInput: a model has no price, or a call told no usage: the cost is unknown, which is not 0.
    """
    total = 0.0
    for interaction in interactions:
        if not is_billed(interaction):
            continue
        model, used = interaction.call.name, _used(interaction)
        price = prices.get(model)
        if price is None:
            raise BadInput(
                f"the cost of model {model!r} is unknown; give its price to the suite: "
                f"Suite(prices={{{model!r}: tt.Price(input=..., output=...)}})"
            )
        if price.up_to is not None and used.largest > price.up_to:
            raise BadInput(
                f"the cost of model {model!r} is unknown: its price holds for prompts of up to {price.up_to} tokens, "
                f"and one has {used.largest}; give the price of long prompts to the suite"
            )
        if used.written and price.written is None:
            raise BadInput(
                f"the cost of model {model!r} is unknown: it wrote to its provider's cache, which has no price; give "
                "it to the suite: tt.Price(..., written=...)"
            )
        if used.untold:
            raise BadInput(f"a call of model {model!r} told no usage, so its cost is unknown")
        total += used.at(price)
    return total


def _used(interaction: Interaction) -> Spent:
    usage = None if interaction.reply is None else interaction.reply.usage
    if usage is None:
        return Spent(interaction.call.name, interaction.call.actor, calls=1, untold=1)
    return Spent(
        interaction.call.name,
        interaction.call.actor,
        calls=1,
        input=usage.input or 0,
        output=usage.output or 0,
        cached=usage.cached or 0,
        written=usage.written or 0,
        largest=usage.input or 0,
        untold=int(usage.input is None or usage.output is None),
    )
