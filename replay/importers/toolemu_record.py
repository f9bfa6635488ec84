"""One trajectory of ToolEmu as a trial: an agent, and tools that a model only plays.

A tool's result is ``emulated``: nothing was called. The model that plays the tools is a channel of its own, with its
thoughts, of the actor ``emulator``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from cassettes.canonical import digest
from cassettes.model import Ending, Origin, Reply
from replay.effects import Effects
from replay.orchestration.tasks import Task, definition_of, digests_of

from .findings import FoundTrial, Rated
from .reading import as_dict, as_list, as_text, rest_of, shortened, text_in
from .timeline import UNKNOWN_MODEL, Timeline, arguments_of, request_of

__all__ = ["read_trajectory", "task_of"]

_FINAL: Final = "Final Answer"
_KNOWN: Final = {"case_idx", "case", "input", "output", "intermediate_steps", "error", "error_type"}
_EMULATED: Final = Origin("emulated")


def task_of(document: Mapping[str, Any]) -> Any:
    """What tells the case: its name, else its number; None if neither is there."""
    name = text_in(as_dict(document.get("case")), "name")
    return name if name is not None else document.get("case_idx")


def read_trajectory(
    record: int, task: str, index: int, document: Mapping[str, Any], effects: Effects, scores: tuple[Rated, ...]
) -> tuple[FoundTrial, list[str]]:
    """The trial, and what is broken or ambiguous about it."""
    remarks: list[str] = []
    timeline = Timeline("toolemu", effects)
    question = document.get("input")
    case = as_dict(document.get("case"))
    instruction = question if isinstance(question, str) else text_in(case, "User Instruction")
    if instruction is not None:
        timeline.message("user", instruction)
    finished = False
    for place, step in enumerate(as_list(document.get("intermediate_steps"))):
        finished = _step(place, step, timeline, remarks) or finished
    output = document.get("output")
    if not finished and isinstance(output, str):
        timeline.model(UNKNOWN_MODEL, {"after_step": timeline.step - 1}, output, Reply(text=output))
    rest = rest_of(document, _KNOWN)
    if rest:
        timeline.annotate("other fields", rest)
    trial = FoundTrial(
        record=record,
        task=task,
        index=index,
        events=timeline.events,
        ending=_ending(document, remarks, finished=finished),
        definition=_definition(task, case, instruction or ""),
        scores=scores,
        config={name: document[name] for name in ("case_idx",) if document.get(name) is not None},
    )
    return trial, remarks


def _step(place: int, step: Any, timeline: Timeline, remarks: list[str]) -> bool:
    """One action of the agent with what came back; True for the answer that ends a trajectory."""
    action, answer = ([*as_list(part), None, None, None][:3] for part in [*as_list(step), None, None][:2])
    tool, given, log = action
    if not isinstance(tool, str) and not isinstance(log, str):
        remarks.append(f"step {place} is no pair of an action and what came back; kept as an annotation")
        timeline.annotate("intermediate_steps", step)
        return False
    thought = log if isinstance(log, str) else None
    if _is_final(tool, log):
        text = as_text(given) if given is not None else thought
        timeline.model(UNKNOWN_MODEL, {"after_step": timeline.step - 1}, action, Reply(text=text))
        return True
    asked = request_of(None, tool, given if given is not None else {})
    reply = Reply(text=thought, tool_calls=(asked.request,))
    timeline.model(UNKNOWN_MODEL, {"after_step": timeline.step - 1}, action, reply)
    arguments, problem = arguments_of(asked)
    if problem is not None:
        remarks.append(f"step {place}: {problem}")
    observation, summary, emulated = answer
    if observation is None and emulated is None:
        remarks.append(f"step {place}: {asked.request.name} has no result; kept in the reply")
        return False
    if emulated is not None or summary is not None:
        told = {"observation": observation, "thought_summary": summary, "log": emulated}
        text = emulated if isinstance(emulated, str) else None
        played = {"tool": asked.request.name, "tool_input": given}
        timeline.model(UNKNOWN_MODEL, played, told, Reply(text=text), actor="emulator")
    timeline.tool(asked.request.name, arguments, observation, origin=_EMULATED)
    return False


def _is_final(tool: Any, log: Any) -> bool:
    """By the action's name, or by how its text ends: files have both."""
    return tool == _FINAL or (isinstance(log, str) and f"{_FINAL}:" in log and not tool)


def _ending(document: Mapping[str, Any], remarks: list[str], *, finished: bool) -> Ending:
    error = document.get("error")
    if error is not None:
        kind = text_in(document, "error_type")
        told = as_text(error)
        remarks.append(f"ended in an error of the harness: {shortened(told)}")
        return Ending("error", f"{kind}: {told}" if kind else told, "infrastructure")
    if not isinstance(document.get("intermediate_steps"), list):
        remarks.append("it has no intermediate_steps: nothing of what happened is known")
        return Ending("error", "no intermediate_steps", "unknown")
    if not finished and not text_in(document, "output"):
        remarks.append("it has no final answer; taken as stopped by a cap")
        return Ending("capped", "no final answer")
    return Ending("completed", "final answer")


def _definition(task: str, case: Mapping[str, Any], instruction: str) -> dict[str, Any]:
    """The case as a cassette keeps it, with the risks that it is about."""
    toolkits = [name for name in as_list(case.get("Toolkits")) if isinstance(name, str)]
    made = Task(id=task, instruction=instruction, tags={"toolkits": ", ".join(toolkits)} if toolkits else {})
    digests = {**digests_of(made, None), "expected": digest(case) if case else None}
    return {**definition_of(made, digests), "case": dict(case)}
