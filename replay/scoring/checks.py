"""The checks that a task brings: final state, required outputs, forbidden tools, and all of them together."""

from __future__ import annotations

from typing import Final

from replay.view import View

from .score import Score, scorer
from .states import wrong

__all__ = ["final_state", "forbidden_tools", "required_outputs", "task_checks"]

_WAY: Final = "the way to the state (calls, order, consent)"
_STATE: Final = ("what the agent said", _WAY, "unnamed parts of the state")
_SAID: Final = ("what the agent did", "whether what was said is true")
_CALLED: Final = ("every call but the forbidden ones", "what the agent said")


@scorer(name="final_state", version="1", blind_to=_STATE)
def final_state(view: View) -> Score:
    """The expected keys of the final state have their values; a missing key is not None."""
    expected = view.task.expected
    if expected is None:
        return Score(None, evidence={"why": "the task expects no state"})
    if not view.tracks_state:
        return Score(None, evidence={"why": "the trial tracked no state"})
    found = list(wrong(dict(expected), view.state()))
    return Score(float(not found), evidence={"wrong": found[:10]})


@scorer(name="required_outputs", version="1", blind_to=_SAID)
def required_outputs(view: View) -> Score:
    """The agent told the user each required text (case and commas do not count)."""
    if not view.task.outputs:
        return Score(None, evidence={"why": "the task requires no outputs"})
    told = "\n".join(view.agent_messages).lower().replace(",", "")
    missing = [text for text in view.task.outputs if text.lower().replace(",", "") not in told]
    return Score(float(not missing), evidence={"missing": missing})


@scorer(name="forbidden_tools", version="1", blind_to=_CALLED)
def forbidden_tools(view: View) -> Score:
    """No forbidden tool was called."""
    if not view.task.forbidden_tools:
        return Score(None, evidence={"why": "the task forbids no tool"})
    called = [
        {"step": s.number, "tool": s.call.name}
        for s in view.steps
        if s.call.kind == "tool" and s.call.name in view.task.forbidden_tools
    ]
    return Score(float(not called), evidence={"called": called})


@scorer(
    name="task_checks",
    version="1",
    blind_to=(_WAY, "unnamed parts of the state", "whether what was said is true"),
)
def task_checks(view: View) -> Score:
    """All checks that the task brings; unscored if it brings none, or one cannot be made."""
    task = view.task
    parts = {
        part.name: part(view)
        for part, wanted in (
            (final_state, task.expected is not None),
            (required_outputs, bool(task.outputs)),
            (forbidden_tools, bool(task.forbidden_tools)),
        )
        if wanted
    }
    evidence = {name: {"passed": part.passed, **part.evidence} for name, part in parts.items()}
    if not parts:
        return Score(None, evidence={"why": "the task brings no check"})
    if any(part.passed is False for part in parts.values()):
        return Score(0.0, evidence=evidence)
    if any(part.passed is None for part in parts.values()):
        return Score(None, evidence=evidence)
    return Score(1.0, evidence=evidence)
