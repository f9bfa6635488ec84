"""Ways in which tasks' chances to pass may be spread, each with its exact pass^k."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from attrs import frozen
from scipy.special import betaln, expit

__all__ = ["HELD_OUT", "SPREADS", "Spread"]

_NODES, _WEIGHTS = np.polynomial.hermite_e.hermegauss(200)


@frozen
class Spread:
    """How tasks differ: `draw(random, tasks)` gives their chances, `pass_hat_k(k)` the mean of p^k over all of them."""

    name: str
    draw: Callable[[np.random.Generator, int], np.ndarray]
    pass_hat_k: Callable[[int], float]


def _beta(a: float, b: float) -> Spread:
    return Spread(
        f"Beta({a:g}, {b:g})",
        lambda random, tasks: random.beta(a, b, tasks),
        lambda k: float(np.exp(betaln(a + k, b) - betaln(a, b))),
    )


def _points(name: str, chances: list[float], shares: list[float]) -> Spread:
    return Spread(
        name,
        lambda random, tasks: random.choice(chances, tasks, p=shares),
        lambda k: float(np.dot(shares, np.array(chances) ** k)),
    )


def _mixed(name: str, first: Spread, second: Spread, share: float) -> Spread:
    return Spread(
        name,
        lambda random, tasks: np.where(
            random.random(tasks) < share, first.draw(random, tasks), second.draw(random, tasks)
        ),
        lambda k: share * first.pass_hat_k(k) + (1 - share) * second.pass_hat_k(k),
    )


def _logit_normal(mean: float, spread: float) -> Spread:
    return Spread(
        f"logit-normal({mean:g}, {spread:g})",
        lambda random, tasks: expit(random.normal(mean, spread, tasks)),
        lambda k: float(_WEIGHTS @ expit(mean + spread * _NODES) ** k / _WEIGHTS.sum()),
    )


SPREADS = {
    "a": _beta(0.5, 0.5),
    "b": _beta(2, 1),
    "c": _points("35% always, 25% never, 40% coin flips", [1.0, 0.0, 0.5], [0.35, 0.25, 0.40]),
    "d": _mixed("90% Beta(30, 1), 10% Beta(0.5, 0.5)", _beta(30, 1), _beta(0.5, 0.5), 0.9),
    "e": _points("60% at 0.99, 40% at 0.3", [0.99, 0.3], [0.6, 0.4]),
    "f": _beta(1, 3),
    "g": _logit_normal(1.5, 2),
    "h": _points("all at 0.98", [0.98], [1.0]),
    "i": _points("95% at 0.995, 5% at 0.1", [0.995, 0.1], [0.95, 0.05]),
}

HELD_OUT = {  # the methods were chosen on the nine above; these had no part in it
    "A": _beta(5, 0.5),
    "B": _beta(1, 1),
    "C": _points("all at 0.9", [0.9], [1.0]),
    "D": _points("80% at 0.97, 20% never", [0.97, 0.0], [0.8, 0.2]),
    "E": _points("half at 0.999, half at 0.6", [0.999, 0.6], [0.5, 0.5]),
    "F": _logit_normal(3, 1),
    "G": _points("all at 0.995", [0.995], [1.0]),
}
