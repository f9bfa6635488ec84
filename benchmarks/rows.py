"""What a measurement says: ours, the other side in the same run, and the target."""

from __future__ import annotations

from typing import Literal

from attrs import frozen

__all__ = ["Row", "Skipped", "Target", "shown"]


class Skipped(Exception):
    """A group cannot be measured here; says why."""


@frozen
class Target:
    """A limit from the design, of our own figure or of its ratio to the other side's."""

    sign: Literal["<=", "<", ">="]
    limit: float
    of: Literal["ours", "ratio"] = "ours"

    def met(self, value: float) -> bool:
        """True if ``value`` keeps to it."""
        if self.sign == ">=":
            return value >= self.limit
        return value <= self.limit if self.sign == "<=" else value < self.limit


@frozen
class Row:
    """One line of the table.

    Attributes:
        what: was measured.
        ours: our figure, in ``unit``.
        other: the peer's or the baseline's, called ``other_name``.
        more_is_better: of a rate.
        note: the conditions, and what is not real in them.
    """

    what: str
    ours: float
    unit: str
    other: float | None = None
    other_name: str = ""
    target: Target | None = None
    more_is_better: bool = False
    note: str = ""

    @property
    def ratio(self) -> float | None:
        """How many times better ours is; below 1 it is worse."""
        if self.other is None or not self.ours or not self.other:
            return None
        return self.ours / self.other if self.more_is_better else self.other / self.ours

    @property
    def met(self) -> bool | None:
        """Whether the target is met; None without one."""
        if self.target is None:
            return None
        value = self.ours if self.target.of == "ours" else self.ratio
        return value is not None and self.target.met(value)

    def cells(self) -> tuple[str, str, str, str, str, str]:
        """What, ours, other, ratio, target, verdict: as the table shows them."""
        other = "" if self.other is None else f"{shown(self.other)} {self.unit}".strip()
        limit = ""
        if self.target is not None:
            unit = self.unit if self.target.of == "ours" else "x"
            limit = f"{self.target.sign} {shown(self.target.limit)} {unit}".strip()
        return (
            self.what,
            f"{shown(self.ours)} {self.unit}".strip(),
            f"{other} ({self.other_name})".strip() if self.other_name else other,
            "" if self.ratio is None else f"{shown(self.ratio)}x",
            limit,
            {None: "", True: "met", False: "NOT met"}[self.met],
        )


def shown(number: float) -> str:
    """Three significant digits, without an exponent."""
    if number == 0 or abs(number) >= 100:
        return f"{number:,.0f}"
    digits = 2
    while abs(number) < 10 ** (2 - digits) and digits < 6:
        digits += 1
    text = f"{number:.{digits}f}" if abs(number) < 10 else f"{number:.1f}"
    return text.rstrip("0").rstrip(".") if "." in text else text
