"""Prices of models: those that the user gives, then the table ``prices.toml``, which says from when it is.

A dated name takes the price of its base name (``gpt-4o-2024-08-06`` that of ``gpt-4o``) unless the table has it
itself. Names of clouds are mapped only where they settle the price: on Bedrock the global profiles. A regional one
and Vertex AI's ``MODEL@DATE``, whose location the name does not tell, may cost more than the list price, and an
application's profile does not even tell the model.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from functools import cache
from importlib import resources
from typing import Any, Final

from attrs import frozen

__all__ = ["CURRENCY", "Listed", "Price", "PriceList", "kept_prices", "names_of", "prices_of"]

CURRENCY: Final = "USD"  # of the table

_PARTS = ("input", "output", "cached", "up_to", "written")

_DATED = re.compile(r"(?P<base>.+)-(?:20\d{2}-[01]\d-[0-3]\d|20\d{2}[01]\d[0-3]\d)")
_GEMINI = re.compile(r"(?P<base>gemini-.+)-0\d{2}")
_BEDROCK = re.compile(
    r"(?:arn:aws:bedrock:[^:]*:[^:]*:inference-profile/)?global\.anthropic\.(?P<base>claude-.+?)(?:-v\d+(?::\d+)?)?"
)


@frozen
class Price:
    """Of one model, per million tokens.

    Attributes:
        cached: of input tokens that the provider's cache gave; they cost as much as others unless said.
        written: of input tokens that went to the provider's cache; the cost of a call that has some is unknown without.
        up_to: the price holds for prompts of at most so many tokens; the cost of a longer one is unknown.
    """

    input: float
    output: float
    cached: float | None = None
    up_to: int | None = None
    written: float | None = None


@frozen
class Listed:
    """A price that was found.

    Attributes:
        date: the table's day; None if the user gave the price.
    """

    price: Price
    date: str | None


class PriceList(Mapping[str, Price]):
    """Prices by model name.

    Args:
        own: what the user gave; it wins over the table.
    """

    def __init__(self, own: Mapping[str, Price] | None = None) -> None:
        self.own = {} if own is None else dict(own)

    def find(self, model: str) -> Listed | None:
        """The price of ``model``; None if it is unknown."""
        names = names_of(model)
        given = next((self.own[name] for name in names if name in self.own), None)
        if given is not None:
            return Listed(given, None)
        return next((_table()[name] for name in names if name in _table()), None)

    def __getitem__(self, model: str) -> Price:
        found = self.find(model)
        if found is None:
            raise KeyError(model)
        return found.price

    def __iter__(self) -> Iterator[str]:
        return iter({**_table(), **self.own})

    def __len__(self) -> int:
        return len({**_table(), **self.own})


def names_of(model: str) -> tuple[str, ...]:
    """The names under which the price of ``model`` may be listed, the most specific first."""
    names = [model]
    hosted = _BEDROCK.fullmatch(model)
    if hosted is not None:
        names.append(hosted["base"])
    for pattern in (_DATED, _GEMINI):
        dated = pattern.fullmatch(names[-1])
        if dated is not None:
            names.append(dated["base"])
    return tuple(names)


def kept_prices(prices: Mapping[str, Price]) -> dict[str, dict[str, float | None]]:
    """A suite's own prices, as its run keeps them."""
    own = prices.own if isinstance(prices, PriceList) else prices
    return {model: {part: getattr(price, part) for part in _PARTS} for model, price in own.items()}


def prices_of(about: Mapping[str, Any]) -> PriceList:
    """The prices that hold for a run, of what is told about it: its suite's own, then the table's."""
    kept: Mapping[str, Mapping[str, Any]] = about.get("prices") or {}
    parts: dict[str, dict[str, Any]] = {
        model: {part: price.get(part) for part in _PARTS} for model, price in kept.items()
    }
    return PriceList({model: Price(**price) for model, price in parts.items()})


@cache
def _table() -> dict[str, Listed]:
    text = resources.files(__package__).joinpath("prices.toml").read_text(encoding="utf-8")
    document: dict[str, Any] = tomllib.loads(text)
    return {
        name: Listed(Price(**price), entry["date"])
        for entry in document["list"]
        for name, price in entry["models"].items()
    }
