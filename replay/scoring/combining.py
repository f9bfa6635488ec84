"""A reward as a stated combination of component scores; it can be made anew from kept scores, without running anything.

A rule is a sum of products of names and numbers, such as ``final_state * outputs`` or ``0.7*final_state + 0.3*polite``.
A name with ``?`` is left out of its product where there is no such component; a product of which nothing is left is
unknown. So tau-bench's reward, of which the files store one component or the other, is
``reward.r_actions? * reward.r_outputs?``.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from typing import Any, Final

from attrs import frozen

from cassettes.canonical import digest
from cassettes.errors import BadInput
from replay.view import View

from .score import Score, Scorer, as_scorer

__all__ = ["Rule", "combination", "rule_of"]

_FACTOR: Final = re.compile(r"(?P<number>\d+(?:\.\d+)?|\.\d+)|(?P<name>[A-Za-z_][\w.@-]*)(?P<optional>\?)?")


@frozen
class _Factor:
    name: str
    optional: bool


@frozen
class _Product:
    weight: float
    factors: tuple[_Factor, ...]

    def of(self, values: Mapping[str, float | None]) -> float | None:
        """None if a factor is unknown, unless another one is 0: then so is the product."""
        found = [(factor, values.get(factor.name)) for factor in self.factors]
        there = [value for factor, value in found if value is not None or not factor.optional]
        if any(value == 0 for value in there):
            return 0.0
        known = [value for value in there if value is not None]
        if len(known) < len(there) or (self.factors and not there):
            return None
        return self.weight * math.prod(known)


@frozen
class Rule:
    """How component scores make a reward.

    Attributes:
        text: as it was written, in one form.
    """

    text: str
    products: tuple[_Product, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """The components, each once."""
        return tuple(dict.fromkeys(factor.name for product in self.products for factor in product.factors))

    @property
    def version(self) -> str:
        """Another rule is another version: 8 hex digits."""
        return digest(self.text)[:8]

    def apply(self, values: Mapping[str, float | None]) -> Score:
        """The reward, with its components as evidence; unscored if a component that decides is unknown."""
        parts = [product.of(values) for product in self.products]
        known = [part for part in parts if part is not None]
        components = {name: values.get(name) for name in self.names}
        evidence: dict[str, Any] = {"rule": self.text, "components": components}
        return Score(math.fsum(known) if len(known) == len(parts) else None, evidence=evidence)


def rule_of(text: str) -> Rule:
    """Read a rule.

    Raises:
        BadInput: it is none.
    """
    products = [_product(part, text) for part in text.split("+")]
    return Rule(" + ".join(_told(product) for product in products), tuple(products))


def combination(name: str, rule: str, *scorers: Any) -> Scorer:
    """A scorer that combines others: its components are kept as evidence.

    Args:
        name: of the reward.
        rule: such as ``"final_state * outputs"``; its names are those of the scorers.
        scorers: each name of the rule needs one.

    Raises:
        BadInput: the rule is none, or names a scorer that is not given.
    """
    read = rule_of(rule)
    parts = {part.name: part for part in map(as_scorer, scorers)}
    missing = [wanted for wanted in read.names if wanted not in parts]
    if missing:
        raise BadInput(
            f"the rule {rule!r} names {', '.join(missing)}, but the scorers are {', '.join(parts) or 'none'}"
        )
    used = [parts[wanted] for wanted in read.names]
    text = f"{read.text}; {'; '.join(part.id for part in used)}"
    return Scorer(name, digest(text)[:8], _combined(read, used), _common(used))


def _combined(rule: Rule, parts: list[Scorer]) -> Callable[[View], Score]:
    def score(view: View) -> Score:
        scores = {part.name: part(view) for part in parts}
        made = rule.apply({name: part.value for name, part in scores.items()})
        return Score(made.value, evidence={**made.evidence, **{name: dict(s.evidence) for name, s in scores.items()}})

    return score


def _common(parts: list[Scorer]) -> tuple[str, ...]:
    """What none of the parts sees."""
    first, *others = parts
    return tuple(what for what in first.blind_to if all(what in other.blind_to for other in others))


def _product(part: str, whole: str) -> _Product:
    weight, factors = 1.0, []
    for piece in part.split("*"):
        found = _FACTOR.fullmatch(piece.strip())
        if found is None:
            raise BadInput(f"{whole!r} is no rule: {piece.strip()!r} is no number and no name; write for example a * b")
        if found["number"] is not None:
            weight *= float(found["number"])
        else:
            factors.append(_Factor(found["name"], found["optional"] is not None))
    return _Product(weight, tuple(factors))


def _told(product: _Product) -> str:
    names = [factor.name + ("?" if factor.optional else "") for factor in product.factors]
    return " * ".join([*([] if product.weight == 1 and names else [f"{product.weight:g}"]), *names])
