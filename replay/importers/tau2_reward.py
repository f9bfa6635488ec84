"""What tau2 made of a simulation: its reward, and the components that the reward is the product of."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, Final

from replay.scoring import Score

from .findings import Rated
from .reading import as_dict, as_list, number_in, text_in

__all__ = ["REWARD", "is_success", "rated"]

REWARD: Final = ("reward", "tau2")

_ALMOST: Final = 1e-6  # tau2 takes 1 - 1e-6 to 1 + 1e-6 for a success
_COMPLETE: Final = {"user_stop", "agent_stop"}


def is_success(reward: float) -> bool:
    """As tau2 decides it."""
    return 1 - _ALMOST <= reward <= 1 + _ALMOST


def rated(simulation: Mapping[str, Any]) -> tuple[tuple[Rated, ...], list[str]]:
    """The reward first, then each component that is known as a score of its own; and what is odd about them.

    The components are kept beside the reward with the basis (which of them count), so that it can be recombined without
    running anything: a reward is the product over its basis.
    """
    told = simulation.get("reward_info")
    if not isinstance(told, dict):
        why = "tau2 did not score it" if told is None else f"reward_info is a {type(told).__name__}, no object"
        return (Rated(*REWARD, Score(None, evidence={"why": why})),), [] if told is None else [why]
    remarks: list[str] = []
    components = _components(told, remarks)
    basis = told.get("reward_basis")
    counted = [name for name in as_list(basis) if isinstance(name, str)]
    evidence = {"components": components, "basis": basis, **{n: v for n, v in told.items() if n != "reward_basis"}}
    reward = number_in(told, "reward")
    if reward is None:
        remarks.append("its reward is no number; left unscored")
    elif counted and all(name in components for name in counted) and _ended_well(simulation):
        product = math.prod(components[name] for name in counted)
        if not math.isclose(product, reward, abs_tol=_ALMOST):
            remarks.append(f"its reward is {reward:g}, but the product of {', '.join(counted)} is {product:g}")
    whole = Score(reward, passed=None if reward is None else is_success(reward), evidence=evidence)
    parts = [Rated(name.lower(), "tau2", Score(value, passed=is_success(value))) for name, value in components.items()]
    return (Rated(*REWARD, whole), *parts), remarks


def _ended_well(simulation: Mapping[str, Any]) -> bool:
    """tau2 gives 0 to whatever ended in another way, whatever its components."""
    return text_in(simulation, "termination_reason") in _COMPLETE


def _components(told: Mapping[str, Any], remarks: list[str]) -> dict[str, float]:
    """By tau2's name; the breakdown counts more than the checks that it was made from."""
    breakdown = as_dict(told.get("reward_breakdown"))
    given = {name: value for name in breakdown if (value := number_in(breakdown, name)) is not None and name in _CHECKS}
    checked = {name: value for name, check in _CHECKS.items() if (value := check(told)) is not None}
    remarks.extend(
        f"{name} is {given[name]:g} in the breakdown, but its checks say {checked[name]:g}"
        for name in sorted(given.keys() & checked.keys())
        if not math.isclose(given[name], checked[name], abs_tol=_ALMOST)
    )
    return {name: given.get(name, checked.get(name, 0.0)) for name in _CHECKS if name in given or name in checked}


def _database(told: Mapping[str, Any]) -> float | None:
    return number_in(as_dict(told.get("db_check")), "db_reward")


def _all(field: str, verdict: str) -> Callable[[Mapping[str, Any]], float | None]:
    def check(told: Mapping[str, Any]) -> float | None:
        made = [as_dict(item).get(verdict) for item in as_list(told.get(field))]
        return float(all(made)) if made and all(isinstance(met, bool) for met in made) else None

    return check


_CHECKS: Final[Mapping[str, Callable[[Mapping[str, Any]], float | None]]] = {
    "DB": _database,
    "ENV_ASSERTION": _all("env_assertions", "met"),
    "COMMUNICATE": _all("communicate_checks", "met"),
    "NL_ASSERTION": _all("nl_assertions", "met"),
    "ACTION": _all("action_checks", "action_match"),
}
