"""Assertions on the final environment: functions of the state; one that raises is an error of the assertion."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from cassettes.errors import BadInput
from replay.view import View

from .score import Score, Scorer, configured

__all__ = ["state_assertions"]

_BLIND: Final = ("what the agent said", "the way to the state (calls, order, consent)", "what is not asserted")


def state_assertions(*checks: Callable[[Any], Any], version: str = "1") -> Scorer:
    """A scorer: each function finds the final state right, as in ``lambda state: state["line"] == "connected"``.

    A function that raises is an assertion error, told with its name: the trial is then unscored, unless another
    assertion fails, and everything else goes on.

    Args:
        checks: functions of the final state that return a truth value; each gets a state of its own.
        version: of the functions; raise it whenever they change.

    Raises:
        BadInput: there is none.
    """
    if not checks:
        raise BadInput("state_assertions needs at least one function of the final state")
    names = [getattr(check, "__name__", repr(check)) for check in checks]

    def score(view: View) -> Score:
        if not view.tracks_state:
            return Score(None, evidence={"why": "the trial tracked no state"})
        failed, errors = [], []
        for name, check in zip(names, checks, strict=True):
            try:
                if not check(view.state()):
                    failed.append(name)
            except Exception as error:  # noqa: BLE001  # the user's code; told, and no reason to stop
                errors.append(f"{name}: {type(error).__name__}: {error}")
        evidence: dict[str, Any] = {"assertions": len(checks), "failed": failed}
        if errors:
            evidence["assertion errors"] = errors
        return Score(0.0 if failed else None if errors else 1.0, evidence=evidence)

    return configured(score, name="state_assertions", version=version, settings={"checks": names}, blind_to=_BLIND)
