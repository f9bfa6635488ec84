"""The checks that a task brings: final state, required outputs, forbidden tools, and all of them together."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from cassettes.canonical import canonical
from replay.view import View

from .score import Score, scorer

__all__ = ["final_state", "forbidden_tools", "required_outputs", "task_checks"]


@scorer(name="final_state", version="1")
def final_state(view: View) -> Score:
    """The expected keys of the final state have their values; a missing key is not None."""
    expected = view.task.expected
    if expected is None:
        return Score(None, evidence={"why": "the task expects no state"})
    if not view.tracks_state:
        return Score(None, evidence={"why": "the trial tracked no state"})
    wrong = list(_wrong(dict(expected), view.state(), ""))
    return Score(float(not wrong), evidence={"wrong": wrong[:10]})


@scorer(name="required_outputs", version="1")
def required_outputs(view: View) -> Score:
    """The agent told the user each required text (case and commas do not count)."""
    if not view.task.outputs:
        return Score(None, evidence={"why": "the task requires no outputs"})
    told = "\n".join(view.agent_messages).lower().replace(",", "")
    missing = [text for text in view.task.outputs if text.lower().replace(",", "") not in told]
    return Score(float(not missing), evidence={"missing": missing})


@scorer(name="forbidden_tools", version="1")
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


@scorer(name="task_checks", version="1")
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


def _wrong(expected: Any, found: Any, path: str) -> Iterator[dict[str, Any]]:
    """Each place where ``found`` lacks what is expected there."""
    if not isinstance(expected, Mapping):
        if not _same(expected, found):
            yield {"path": path, "expected": expected, "found": found}
        return
    for key, value in expected.items():
        where = f"{path}.{key}" if path else str(key)
        if (isinstance(found, Mapping) and key in found) or (
            isinstance(found, list) and isinstance(key, int) and key < len(found)
        ):
            yield from _wrong(value, found[key], where)
        elif not isinstance(found, Mapping | list) and isinstance(key, str) and hasattr(found, key):
            yield from _wrong(value, getattr(found, key), where)
        else:
            yield {"path": where, "expected": value, "missing": True}


def _same(expected: Any, found: Any) -> bool:
    """Equal values; 25 and 25.0 are the same amount, True and 1 are not."""
    if isinstance(expected, list | tuple) and type(expected) is type(found):
        return len(expected) == len(found) and all(_same(a, b) for a, b in zip(expected, found, strict=True))
    if isinstance(expected, Mapping) and isinstance(found, Mapping):
        return expected.keys() == found.keys() and all(_same(item, found[key]) for key, item in expected.items())
    if type(expected) in {int, float} and type(found) in {int, float}:
        return bool(expected == found)
    return canonical(expected) == canonical(found)
