"""Why a frozen call got no answer, as data and in words."""

from __future__ import annotations

from typing import Any

from cassettes.model import Call, Origin, Patch

from .difference import first_difference, shortened
from .ignoring import counting_arguments
from .state import paths_of
from .worlds import Missing, World

__all__ = ["misfit_report", "miss_report", "unknown_class_report"]


def miss_report(step: int, call: Call, missing: Missing, world: World) -> dict[str, Any]:
    """A call that no recording answers; its ``message`` has at most ten lines."""
    lines = [
        f"step {step}: {call.kind} {call.name} has no answer in the world of {world.name} ({missing.verdict}):",
        f"  {missing.why}",
        f"  asked:    {shortened(call.arguments)}",
    ]
    report: dict[str, Any] = {
        "step": step,
        "call": f"{call.actor}/{call.kind}:{call.name}",
        "verdict": missing.verdict,
        "why": missing.why,
        "world": world.name,
    }
    if missing.nearest is not None:
        nearest = missing.nearest.interaction
        lines.append(f"  recorded: {shortened(nearest.call.arguments)} at step {nearest.step}")
        there, now = (counting_arguments(one, world.ignore) for one in (nearest.call, call))
        found = first_difference(there, now)
        report["nearest"] = {"step": nearest.step, "path": found.path if found else None}
    report["message"] = "\n".join(lines)
    return report


def misfit_report(step: int, call: Call, patch: Patch, trial: str | None) -> tuple[str, dict[str, Any]]:
    """A write whose recorded change, in ``trial``, does not fit the state: in words, and as data."""
    where = ", ".join(list(paths_of(patch))[:3])
    why = f"step {step}: {call.name} has a recorded change of {where} that does not fit the state"
    return why, {"step": step, "verdict": "stale", "why": "the state is another", "trial": trial}


def unknown_class_report(step: int, call: Call, name: str, origin: Origin) -> tuple[str, dict[str, Any]]:
    """A recorded answer of a class (``module:qualname``) that is not loaded here: in words, and as data."""
    module, _, qualname = name.partition(":")
    why = (
        f"step {step}: the recorded answer of {call.name} holds a {qualname}, whose class is not loaded or no longer "
        f"fits; import {module} before the trial begins"
    )
    return why, {"step": step, "verdict": "missed", "why": "unknown class", "class": name, "trial": origin.trial}
