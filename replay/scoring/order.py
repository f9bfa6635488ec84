"""What had to come before what."""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import Any, Final

from cassettes.errors import BadInput
from replay.view import Step, View

from .score import Score, Scorer, configured
from .tools import tool_steps, went_wrong

__all__ = ["before_writes", "in_order"]

_MOST: Final = 10
_BLIND: Final = ("what the agent said", "whether the earlier answer was heeded", "the state")


def before_writes(*tools: str) -> Scorer:
    """A scorer: one of the tools had answered before the first write, such as the one that asks who the user is.

    A call that went wrong does not count as an answer. A trial that writes nothing passes.

    Args:
        tools: names or patterns; at least one.

    Raises:
        BadInput: no tool is named.
    """
    if not tools:
        raise BadInput("before_writes needs the name of a tool, such as before_writes('get_user_*')")

    def check(view: View) -> Score:
        writes = [step for step in tool_steps(view) if step.call.effect == "write"]
        answered = [s for s in tool_steps(view) if _is_any(s, tools) and not went_wrong(s)]
        first = min((s.interaction.ended for s in answered), default=None)
        early = [s for s in writes if first is None or s.interaction.started < first]
        evidence: dict[str, Any] = {"writes": len(writes), "answered at step": answered[0].number if answered else None}
        if early:
            evidence["writes before it"] = [{"step": s.number, "tool": s.call.name} for s in early[:_MOST]]
        return Score(float(not early), evidence=evidence)

    return configured(check, name="before_writes", version="1", settings={"tools": list(tools)}, blind_to=_BLIND)


def in_order(first: str, then: str) -> Scorer:
    """A scorer: each call of ``then`` came after a call of ``first`` that had answered, one for all of them.

    A trial without a call of ``then`` passes.

    Args:
        first: a tool's name or pattern.
        then: likewise.
    """

    def check(view: View) -> Score:
        ends = [s.interaction.ended for s in tool_steps(view, first) if not went_wrong(s)]
        later = tool_steps(view, then)
        early = [s for s in later if not ends or s.interaction.started < min(ends)]
        evidence = {"calls": len(later), "too early": [s.number for s in early[:_MOST]]}
        return Score(float(not early), evidence=evidence)

    return configured(check, name="in_order", version="1", settings={"first": first, "then": then}, blind_to=_BLIND)


def _is_any(step: Step, patterns: tuple[str, ...]) -> bool:
    return any(fnmatchcase(step.call.name, pattern) for pattern in patterns)
