"""Which tools were called, how often, and with what."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any, Final

from cassettes.errors import BadInput
from cassettes.model import Cancelled, Error
from replay.importers.taubench_tools import effect_of
from replay.view import Step, View

from .score import Score, Scorer, configured, scorer
from .states import same, wrong

__all__ = ["calls_tool", "expected_actions", "never_calls", "tool_steps", "went_wrong"]

_MOST: Final = 10
_BLIND: Final = ("what the agent said", "what the calls did to the state", "the order of calls")


def tool_steps(view: View, name: str = "*", *, actor: str | None = None) -> list[Step]:
    """The tool calls of a trial, in start order.

    Args:
        view: of the trial.
        name: a tool's name or pattern, such as ``cancel_*``.
        actor: on whose behalf; None for all.
    """
    return [
        step
        for step in view.steps
        if step.call.kind == "tool" and fnmatchcase(step.call.name, name) and actor in {None, step.call.actor}
    ]


def went_wrong(step: Step) -> bool:
    """True if the call raised or was cancelled, or returned a text that begins with ``Error``, as benchmarks do."""
    if isinstance(step.outcome, Error | Cancelled):
        return True
    result = getattr(step.outcome, "result", None)
    return isinstance(result, str) and result.startswith("Error")


def calls_tool(
    name: str, arguments: Mapping[str, Any] | None = None, *, at_least: int = 1, at_most: int | None = None
) -> Scorer:
    """A scorer: the tool was called often enough, and not too often.

    Args:
        name: a tool's name or pattern.
        arguments: only calls count whose arguments have these values; others of a call do not matter. An expectation
            as of a task's ``expected``, so `replay.scoring.as_set` and the like may be used.
        at_least: calls.
        at_most: calls; None for no limit.

    Raises:
        BadInput: the limits contradict each other.
    """
    if at_least < 0 or (at_most is not None and at_most < at_least):
        raise BadInput(f"{name}: at_least {at_least} and at_most {at_most} cannot both hold")

    def check(view: View) -> Score:
        called = tool_steps(view, name)
        fitting = [s for s in called if arguments is None or not any(wrong(arguments, dict(s.call.arguments)))]
        good = len(fitting) >= at_least and (at_most is None or len(fitting) <= at_most)
        others = [s for s in called if s not in fitting]
        evidence: dict[str, Any] = {"tool": name, "steps": [s.number for s in fitting][:_MOST], "calls": len(fitting)}
        if arguments is not None and not good and others:
            evidence["other arguments"] = [
                {"step": s.number, "wrong": list(wrong(arguments, dict(s.call.arguments)))[:3]} for s in others[:_MOST]
            ]
        return Score(float(good), evidence=evidence)

    settings = {"tool": name, "arguments": arguments and dict(arguments), "at_least": at_least, "at_most": at_most}
    return configured(check, name="calls_tool", version="1", settings=settings, blind_to=_BLIND)


def never_calls(name: str, arguments: Mapping[str, Any] | None = None) -> Scorer:
    """A scorer: no call of the tool, or none with these arguments."""
    made = calls_tool(name, arguments, at_least=0, at_most=0)
    return Scorer("never_calls", made.version, made.function, made.blind_to)


@scorer(name="expected_actions", version="1", blind_to=_BLIND)
def expected_actions(view: View) -> Score:
    """Each action that the task expects was called, in any order; the value is the share that was.

    An action fits a call of its name whose arguments have its values; ``compare_args`` limits which of them count, and
    an argument that the call leaves out does not (tau2-bench's rule). A diagnosis: other ways may lead to the goal.
    """
    definition = view.cassette.header.task_definition or {}
    actions = definition.get("actions")
    if not isinstance(actions, list) or not actions:
        return Score(None, evidence={"why": "the task tells no expected actions"})
    called = tool_steps(view)
    missing = [action for action in actions if not any(_fits(action, step) for step in called)]
    effects = [effect_of(str(_part(action, "name"))) for action in actions]
    done = [action not in missing for action in actions]
    evidence = {
        "done": f"{sum(done)} of {len(done)}",
        "writes done": _share(done, effects, "write"),
        "reads done": _share(done, effects, "read"),
        "missing": missing[:_MOST],
    }
    return Score(sum(done) / len(done), evidence=evidence)


def _fits(action: Any, step: Step) -> bool:
    if step.call.name != _part(action, "name"):
        return False
    asked = _part(action, "kwargs", "arguments") or {}
    compared = _part(action, "compare_args")
    counting = {
        key: value
        for key, value in asked.items()
        if key in step.call.arguments and (compared is None or key in compared)
    }
    return all(same(value, step.call.arguments[key]) for key, value in counting.items())


def _part(action: Any, *names: str) -> Any:
    kept = action if isinstance(action, dict) else {}
    return next((kept[name] for name in names if name in kept), None)


def _share(done: Sequence[bool], effects: Sequence[str], effect: str) -> str:
    found = [ok for ok, its in zip(done, effects, strict=True) if its == effect]
    return f"{sum(found)} of {len(found)}"
