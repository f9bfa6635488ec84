"""Which step lost a trial: what comes of it if it is continued from each of several steps. Pure."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, Final

from attrs import asdict, field, frozen

__all__ = ["LEVEL", "Bar", "Blame", "Loss", "bar_of", "blame", "fisher", "lost_at", "wilson"]

LEVEL: Final = 0.05
"""The chance, at most, that some step is named although no pass rate fell."""

_Z: Final = 1.959963984540054  # the normal quantile of 0.975


@frozen
class Bar:
    """Continuations from just before one step.

    Attributes:
        step: where they fork; the number of steps if after the last one.
        label: what lies between here and the next bar, for people.
        steps: the steps of what lies there that count: writes, or the step itself.
        passed, counted: continuations.
        low, high: Wilson's 95% interval of the pass rate.
        left_out: continuations that are not counted, by reason.
    """

    step: int
    label: str
    passed: int
    counted: int
    low: float
    high: float
    left_out: Mapping[str, int] = field(factory=dict)
    steps: tuple[int, ...] = ()

    @property
    def rate(self) -> float | None:
        """The share that passed; None if none is counted."""
        return self.passed / self.counted if self.counted else None


def bar_of(
    step: int,
    label: str,
    passed: int,
    counted: int,
    left_out: Mapping[str, int] | None = None,
    steps: Sequence[int] = (),
) -> Bar:
    """A bar with its interval."""
    return Bar(step, label, passed, counted, *wilson(passed, counted), dict(left_out or {}), tuple(steps))


def wilson(passed: int, counted: int) -> tuple[float, float]:
    """Wilson's score interval of a proportion at 95% (Wilson 1927); (0, 1) of nothing.

    Args:
        passed: of ``counted``.
        counted: 0 or more.
    """
    if not counted:
        return 0.0, 1.0
    rate, z2 = passed / counted, _Z * _Z
    centre = (rate + z2 / (2 * counted)) / (1 + z2 / counted)
    half = _Z * math.sqrt(rate * (1 - rate) / counted + z2 / (4 * counted**2)) / (1 + z2 / counted)
    low = 0.0 if not passed else max(0.0, centre - half)
    return low, 1.0 if passed == counted else min(1.0, centre + half)


def fisher(before: Bar, after: Bar) -> float:
    """The chance of a fall as large as this, or larger, if both pass equally often: Fisher's exact test, one-sided.

    Given how many passed of both together, the number that passed of ``before`` is hypergeometric (Fisher 1935).
    """
    total, passed = before.counted + after.counted, before.passed + after.passed
    most = min(before.counted, passed)
    ways = sum(
        math.comb(before.counted, k) * math.comb(after.counted, passed - k) for k in range(before.passed, most + 1)
    )
    return ways / math.comb(total, passed)


@frozen
class Loss:
    """Where the pass rate falls.

    Attributes:
        first, last: the steps between the two bars, both included.
        steps: those of them that count: the writes, or all.
        label: what lies there, for people.
        p: of Fisher's test, as `blame` compares it.
    """

    first: int
    last: int
    steps: tuple[int, ...]
    label: str
    before: Bar
    after: Bar
    p: float


def lost_at(bars: Sequence[Bar]) -> tuple[Loss, ...]:
    """Where the pass rate falls from one bar to the next, so clearly that it is no chance.

    Each two neighbours are compared by Fisher's exact test, one-sided. By Holm's correction (1979) the chance that any
    step is named although no rate fell is at most `LEVEL`. Rates need not fall steadily, so nothing is bisected.

    Args:
        bars: in the order of their steps; those with no counted continuation say nothing and are passed over.

    Returns:
        the losses in the order of their steps; empty if none is clear.
    """
    told = [bar for bar in bars if bar.counted]
    pairs = [(fisher(before, after), before, after) for before, after in pairwise(told)]
    ordered = sorted(pairs, key=lambda pair: pair[0])
    clear = []
    for place, pair in enumerate(ordered):
        if pair[0] > LEVEL / (len(pairs) - place):
            break
        clear.append(pair)
    found = [_loss(bars, before, after, p) for p, before, after in clear]
    return tuple(sorted(found, key=lambda loss: loss.first))


def _loss(bars: Sequence[Bar], before: Bar, after: Bar, p: float) -> Loss:
    between = [bar for bar in bars if before.step <= bar.step < after.step]
    steps = tuple(step for bar in between for step in bar.steps)
    label = ", ".join(bar.label for bar in between)
    return Loss(before.step, after.step - 1, steps, label, before, after, p)


@frozen
class Blame:
    """What the bars say.

    Attributes:
        bars: in the order of their steps.
        losses: the clear falls.
        verdict: in one or two lines.
    """

    bars: tuple[Bar, ...]
    losses: tuple[Loss, ...]
    verdict: str

    def to_dict(self) -> dict[str, Any]:
        """The same as JSON-like data."""
        losses = [
            {"first": loss.first, "last": loss.last, "steps": loss.steps, "label": loss.label, "p": loss.p}
            for loss in self.losses
        ]
        return {
            "bars": [{**asdict(bar), "rate": bar.rate} for bar in self.bars],
            "lost": losses,
            "verdict": self.verdict,
        }


def blame(bars: Sequence[Bar]) -> Blame:
    """Read the bars of one trial."""
    ordered = tuple(sorted(bars, key=lambda bar: bar.step))
    losses = lost_at(ordered)
    return Blame(ordered, losses, _verdict(ordered, losses))


def _verdict(bars: Sequence[Bar], losses: Sequence[Loss]) -> str:
    told = [bar for bar in bars if bar.counted]
    if losses:
        return "\n".join(_loss_told(loss) for loss in losses)
    if len(told) < 2:
        return "not decided: fewer than two steps have a continuation that counts"
    first, last = told[0], told[-1]
    n = max(bar.counted for bar in told)
    if fisher(first, last) <= LEVEL:
        return (
            f"lost between step {first.step} and step {last.step - 1} ({_share(first)} to {_share(last)}); which is "
            f"not decided with n={n}; try -n {4 * n}"
        )
    if all(bar.low > 0.5 for bar in told):
        return f"not lost at any of these steps: most continuations pass even from step {last.step} ({_share(last)})"
    if all(bar.high < 0.5 for bar in told):
        return (
            f"lost before step {first.step} already, or never within reach ({_share(first)} pass from there); "
            "--at each-step looks at every step"
        )
    return f"not decided with n={n}: no fall is clear; try -n {4 * n}"


def _loss_told(loss: Loss) -> str:
    clear = "p < 0.0001" if loss.p < 1e-4 else f"p = {loss.p:.4f}"
    shares = f"{_share(loss.before)} pass from before it, {_share(loss.after)} from after it; {clear}"
    match loss.steps:
        case ():
            return f"lost between step {loss.first} and step {loss.last} ({shares})"
        case (step,):
            return f"lost at step {step}, {loss.label} ({shares})"
        case (*steps, step):
            return f"lost at steps {', '.join(map(str, steps))} and {step}: {loss.label} ({shares})"
    raise AssertionError(loss.steps)


def _share(bar: Bar) -> str:
    return f"{bar.passed}/{bar.counted}"
