"""Why a frozen call got no answer, as data and in words."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from typing import Any

from cassettes.model import Call, Origin, Patch

from .counterparts import new_arguments
from .difference import first_difference, shortened
from .ignoring import counting_arguments
from .lacking import FrozenWrite
from .state import paths_of
from .worlds import Missing, World

__all__ = [
    "frozen_write_report",
    "misfit_report",
    "miss_report",
    "not_live_reason",
    "unknown_class_report",
]


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
        rules = new_arguments(nearest.call, call, world.ignore)
        if rules:
            report["ignore"] = rules
            options = " ".join(f"--ignore {shlex.quote(rule)}" for rule in rules)
            lines.append(f"  If that argument is new, and as it is means what was meant without it: {options}")
    if missing.counterpart is not None:
        other = missing.counterpart.interaction
        differs = first_difference(dict(other.call.arguments), dict(call.arguments))
        same = "the same" if differs is None else "such"
        report["counterpart"] = {"step": other.step, "name": other.call.name}
        lines += [
            f"  recorded: {other.call.name} with {same} arguments, at step {other.step}",
            f'  If it was renamed, declare it under its old name: @tt.tool(name="{other.call.name}")',
        ]
    report["message"] = "\n".join(lines)
    return report


def not_live_reason(call: Call, lacking: Sequence[Call], why: str | None = None, *, emulated: bool = False) -> str:
    """Why a call that no recording answers may not reach the real thing, or not be ``emulated``.

    Args:
        call: what is asked.
        lacking: the frozen writes that it may notice.
        why: these are not carried out before it; None if nothing may be.
        emulated: a model was to answer.
    """
    if emulated:
        return f"It may not be emulated: it may write; allow it by name: --on-miss {call.kind}:{call.name}=emulate"
    told = "It may not be called live: "
    if lacking:
        names = ", ".join(dict.fromkeys(write.name for write in lacking))
        if why is None and all(write.kind == "tool" for write in lacking):
            permitted = " ".join(dict.fromkeys(f"--catch-up tool:{write.name}" for write in lacking))
            why = f"To carry them out first, if the real thing may be written to: {permitted}"
        reason = "" if why is None else f".\n  {why}"
        return f"{told}the real thing never saw the frozen writes before it that it may notice ({names}){reason}"
    if call.kind == "model":
        return f"{told}it is a model call; allow it with --on-miss model=live"
    return f"{told}it may write; allow it by name: --on-miss {call.kind}:{call.name}=live"


def frozen_write_report(
    call: Call, step: int, write: FrozenWrite, why: str | None, *, in_fork: bool
) -> tuple[str, dict[str, Any]]:
    """A call that is live, but would ask a world that lacks a frozen write: in words, and as data.

    Args:
        call: what is asked.
        step: its place.
        write: the first that it may notice.
        why: that is not carried out before it; None if nothing may be.
        in_fork: what comes before the fork was answered from the recording.
    """
    selector = f"{'' if call.actor == 'agent' else f'{call.actor}/'}{call.kind}:{call.name}"
    lacking = "the real thing, which" if call.external else "a state that is not tracked, which"
    undeclared = "" if write.call.effect == "write" else ", which declares no effect, so it may write"
    there = write.origin.step if write.origin.step is not None else write.ticket.step
    answered = (
        "that had no recorded answer" if write.origin.trial is None else f"that was answered from {write.origin.trial}"
    )
    told = f"step {step}: {call.kind} {call.name} would ask {lacking} never saw the write of step {there} "
    told += f"({write.call.name}{undeclared}): {answered}.\n"
    frozen = "--freeze external" if call.external and in_fork else f"--freeze {selector}"
    through = f"--allow-live {selector} lets" if in_fork else f'live = ["{selector}"] in a --policy lets'
    told += f"  {frozen} answers such calls from the recording; {through} this one through"
    if why is not None:
        told += f"\n  {why}"
    elif write.call.kind == "tool":
        told += f"\n  --catch-up tool:{write.call.name} carries out what is missing first"
    report = {
        "kind": "frozen write",
        "step": step,
        "call": f"{call.actor}/{call.kind}:{call.name}",
        "write": {"step": there, "name": write.call.name},
        "trial": write.origin.trial,
        "catch_up": why,
    }
    return told, report


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
