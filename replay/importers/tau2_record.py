"""One simulation of tau2 as a trial."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from attrs import frozen

from cassettes.canonical import digest
from cassettes.model import Effect, Ending
from replay.effects import Effects
from replay.orchestration.tasks import Task, definition_of, digests_of

from .findings import FoundLabel, FoundTrial
from .reading import as_dict, as_list, as_text, number_in, rest_of, text_in
from .tau2_messages import Conversation, read_messages
from .tau2_reviews import ANNOTATIONS, review_labels
from .tau2_reward import rated
from .tau2_ticks import read_ticks, tick_steps
from .timeline import Timeline

__all__ = ["Setting", "read_simulation"]

_KEPT: Final = (
    "id",
    "seed",
    "mode",
    "timestamp",
    "start_time",
    "end_time",
    "duration",
    "agent_cost",
    "user_cost",
    "hallucination_retries_used",
    "provider_session_id",
    "policy",
)
_KNOWN: Final = {*_KEPT, *ANNOTATIONS, "task_id", "trial", "termination_reason", "reward_info", "messages", "ticks"}
_ENDINGS: Final[Mapping[str, tuple[str, str | None]]] = {
    "user_stop": ("completed", None),
    "agent_stop": ("completed", None),
    "max_steps": ("capped", None),
    "timeout": ("capped", None),
    "too_many_errors": ("error", "agent"),
    "agent_error": ("error", "agent"),
    "context_window_exceeded": ("error", "agent"),
    "user_error": ("error", "user"),
    "infrastructure_error": ("error", "infrastructure"),
    "unexpected_error": ("error", "unknown"),
}


@frozen
class Setting:
    """What the whole file tells.

    Attributes:
        agent, user: their models; None where they are not known, or are none.
        tasks: by id.
        known: effects of tools, as far as the file or its domain tells them.
        effects: of tools, declared by the user of the importer.
    """

    domain: str | None
    agent: str | None
    user: str | None
    tasks: Mapping[str, Mapping[str, Any]]
    known: Mapping[str, Effect]
    effects: Effects


def read_simulation(
    record: int | str,
    task: str,
    index: int,
    simulation: Mapping[str, Any],
    setting: Setting,
    notes: Sequence[FoundLabel] = (),
) -> tuple[FoundTrial, list[str]]:
    """The trial, and what is broken or ambiguous about it; ``notes`` are labels that people gave it elsewhere."""
    remarks: list[str] = []
    conversation, step_of = _conversation(simulation, setting, remarks)
    timeline = conversation.timeline
    for name in ANNOTATIONS:
        if simulation.get(name) is not None:
            timeline.annotate(name, simulation[name])
    rest = rest_of(simulation, _KNOWN)
    if rest:
        timeline.annotate("other fields", rest)
    scores, odd = rated(simulation)
    labels, unlabelled = review_labels(simulation, step_of)
    remarks += [*conversation.remarks, *odd, *unlabelled]
    trial = FoundTrial(
        record=record,
        task=task,
        index=index,
        events=timeline.events,
        ending=_ending(simulation, remarks),
        definition=_definition(task, setting, remarks),
        scores=scores,
        labels=(*labels, *notes),
        config={name: simulation[name] for name in _KEPT if simulation.get(name) is not None},
    )
    return trial, remarks


def _conversation(
    simulation: Mapping[str, Any], setting: Setting, remarks: list[str]
) -> tuple[Conversation, Callable[[Mapping[str, Any]], int | None]]:
    """The events, and a way to find the step of an error that a review tells."""
    timeline = Timeline("tau2", setting.effects, setting.known)
    messages, ticks = simulation.get("messages"), simulation.get("ticks")
    if not isinstance(messages, list) and isinstance(ticks, list):
        spoken = read_ticks(ticks, timeline, agent=setting.agent, user=setting.user)
        steps = tick_steps(ticks, spoken.steps)
        return spoken, lambda error: _clipped(steps.get(_whole(error, "tick_start")), timeline)
    if not isinstance(messages, list):
        remarks.append("it has neither messages nor ticks: nothing of what happened is known")
    said = read_messages(
        as_list(messages), timeline, agent=setting.agent, user=setting.user, start=simulation.get("start_time")
    )
    places = dict(enumerate(said.steps))
    return said, lambda error: _clipped(places.get(_whole(error, "turn_idx")), timeline)


def _whole(error: Mapping[str, Any], name: str) -> int:
    value = error.get(name)
    return value if isinstance(value, int) and not isinstance(value, bool) else -1


def _clipped(step: int | None, timeline: Timeline) -> int | None:
    """What was said after the last step stands at the last step."""
    return None if step is None or timeline.step == 0 else min(step, timeline.step - 1)


def _ending(simulation: Mapping[str, Any], remarks: list[str]) -> Ending:
    reason = text_in(simulation, "termination_reason")
    if reason is None:
        remarks.append("it does not say how it ended")
        scored = number_in(as_dict(simulation.get("reward_info")), "reward") is not None
        return Ending("completed") if scored else Ending("error", "no termination reason", "unknown")
    if reason not in _ENDINGS:
        remarks.append(f"it ended by {reason!r}, which tau2 did not have; taken as an error of unknown cause")
    match _ENDINGS.get(reason, ("error", "unknown")):
        case "completed", _:
            return Ending("completed", reason)
        case "capped", _:
            return Ending("capped", reason)
        case _, cause:
            return Ending("error", reason, cause)


def _definition(task: str, setting: Setting, remarks: list[str]) -> dict[str, Any]:
    """The task as a cassette keeps it, with tau2's own parts."""
    told = setting.tasks.get(task)
    tags = {} if setting.domain is None else {"domain": setting.domain}
    if told is None:
        if setting.tasks:
            remarks.append("its task is not in the file: instruction and check are not known")
        unknown = {"instruction": None, "expected": None, "state": None}
        return definition_of(Task(id=task, tags=tags), unknown)
    check = as_dict(told.get("evaluation_criteria"))
    scenario = as_dict(told.get("user_scenario"))
    instructions = scenario.get("instructions")
    made = Task(
        id=task,
        instruction="" if instructions is None else as_text(instructions),
        outputs=[text for text in as_list(check.get("communicate_info")) if isinstance(text, str)],
        tags=tags,
    )
    initial = told.get("initial_state")
    digests = {
        **digests_of(made, None),
        "instruction": digest(scenario),
        "expected": digest(check),
        "state": None if initial is None else digest(initial),
    }
    return {**definition_of(made, digests), "tau2": dict(told)}
