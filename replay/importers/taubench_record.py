"""One record of a results file of tau-bench: its trajectory, how it ended, its reward and its task."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Final

from attrs import frozen

from cassettes.canonical import digest
from cassettes.errors import BadInput
from cassettes.model import Ending
from replay.effects import AS_DECLARED, Effects
from replay.orchestration.tasks import Task, definition_of, digests_of
from replay.scoring import Score

from .findings import refused
from .taubench_tools import TERMINATING
from .trajectory import UNKNOWN_MODEL, Trajectory, read_trajectory

__all__ = ["TauTrial", "identity_of", "read_record"]

CAP: Final = 30  # agent actions; user turns are not counted

_STOP: Final = "###STOP###"
_NEEDED: Final = ("task_id", "trial", "reward", "traj")


@frozen
class TauTrial:
    """One record of the file, read."""

    record: int
    task: str
    index: int
    definition: Mapping[str, Any]
    trajectory: Trajectory
    ending: Ending
    score: Score


def identity_of(record: Any) -> tuple[str, int]:
    """The task's id and the trial's number.

    Raises:
        BadInput: the record lacks something without which it cannot be imported.
    """
    if not isinstance(record, dict):
        raise BadInput(f"a {type(record).__name__} instead of a result")
    missing = [name for name in _NEEDED if name not in record]
    if missing:
        raise BadInput(f"{', '.join(missing)} missing")
    task, trial, traj = record["task_id"], record["trial"], record["traj"]
    if isinstance(task, bool) or not isinstance(task, int | str):
        raise BadInput(f"task_id is {task!r}, no number or text")
    if isinstance(trial, bool) or not isinstance(trial, int) or trial < 0:
        raise BadInput(f"trial is {trial!r}, no number from 0 on")
    problem = refused(task, trial)
    if problem is not None:
        raise BadInput(problem)
    if not isinstance(traj, list):
        raise BadInput(f"traj is a {type(traj).__name__}, not a list of messages")
    return str(task), trial


def read_record(
    number: int,
    task: str,
    index: int,
    record: Mapping[str, Any],
    *,
    model: str | None,
    domain: str | None,
    effects: Effects = AS_DECLARED,
) -> tuple[TauTrial, list[str]]:
    """The record in place ``number`` of the file, and what is broken or ambiguous about it.

    ``task`` and ``index`` are its identity; ``model`` and ``domain`` are told by the whole file, if at all, and
    ``effects`` by the user.
    """
    remarks: list[str] = []
    info = record.get("info")
    if not isinstance(info, dict):
        remarks.append("no info: its task, its reward's parts and its ending are not known")
        info = {}
    trajectory = read_trajectory(record["traj"], model or UNKNOWN_MODEL, effects)
    ending = _ending(record["traj"], info, remarks)
    trial = TauTrial(
        record=number,
        task=task,
        index=index,
        definition=_definition(task, info, domain, remarks),
        trajectory=trajectory,
        ending=ending,
        score=_score(record["reward"], info, remarks),
    )
    return trial, [*remarks, *trajectory.remarks]


# -- how it ended ------------------------------------------------------------------------------------------------------


def _ending(messages: list[Any], info: Mapping[str, Any], remarks: list[str]) -> Ending:
    scored = info.get("reward_info") is not None
    if info.get("error") is not None:
        why = str(info["error"])
        remarks.append(f"ended in an error of the harness: {_line(why)}")
        return Ending("error", why, "infrastructure")
    if not messages:
        remarks.append("an empty trajectory, and no error that explains it")
        return Ending("error", "empty trajectory", "infrastructure")
    reason = _finish(messages)
    if reason is not None:
        if not scored:
            remarks.append(f"ended by {reason}, yet never scored")
        return Ending("completed", reason)
    if scored:
        remarks.append("scored, though neither the user stopped nor the agent transferred; taken as completed")
        return Ending("completed")
    actions = sum(isinstance(message, dict) and message.get("role") == "assistant" for message in messages)
    if actions != CAP:
        remarks.append(f"never scored after {actions} agent actions (the cap is {CAP}); taken as capped")
    return Ending("capped", f"{actions} agent actions")


def _finish(messages: list[Any]) -> str | None:
    """What ended the conversation in the benchmark's own way; None if nothing did."""
    last = messages[-1]
    if not isinstance(last, dict):
        return None
    if last.get("role") == "user" and _STOP in str(last.get("content")):
        return "user_stop"
    if last.get("role") == "tool" and last.get("name") == TERMINATING:
        return TERMINATING
    return None


def _line(text: str) -> str:
    first = (text.splitlines() or [""])[0]
    return first if len(first) <= 200 else first[:199] + "…"


# -- its reward --------------------------------------------------------------------------------------------------------


def _score(reward: Any, info: Mapping[str, Any], remarks: list[str]) -> Score:
    parts = info.get("reward_info")
    number = _number(reward)
    evidence: dict[str, Any] = {"reward": reward if math.isfinite(number) else repr(reward)}
    if not math.isfinite(number):
        remarks.append(f"its reward is {reward!r}, no number; left unscored")
        return Score(None, evidence=evidence)
    if not isinstance(parts, dict):
        return Score(None, evidence={**evidence, "why": "the benchmark did not score it"})
    details = parts.get("info")
    evidence["info"] = details
    if isinstance(details, dict):
        evidence["components"] = {name: details[name] for name in ("r_actions", "r_outputs") if name in details}
    told = parts.get("reward", reward)
    if told != reward:
        remarks.append(f"its reward is {reward!r}, but {told!r} in reward_info; the first is kept")
    return Score(number, passed=1 - 1e-6 <= number <= 1 + 1e-6, evidence=evidence)


def _number(reward: Any) -> float:
    try:
        return float(reward) if isinstance(reward, int | float) and not isinstance(reward, bool) else math.nan
    except OverflowError:
        return math.inf


# -- its task ----------------------------------------------------------------------------------------------------------


def _definition(task: str, info: Mapping[str, Any], domain: str | None, remarks: list[str]) -> dict[str, Any]:
    """The task as a cassette keeps it, with the benchmark's own parts; the expected actions are part of its check."""
    told = info.get("task")
    if not isinstance(told, dict):
        if info and "error" not in info:
            remarks.append("no task: its instruction and its check are not known")
        return definition_of(Task(id=task), {"instruction": None, "expected": None, "state": None})
    instruction, outputs, actions = told.get("instruction"), told.get("outputs"), told.get("actions")
    made = Task(
        id=task,
        instruction=instruction if isinstance(instruction, str) else "",
        outputs=[str(text) for text in outputs] if isinstance(outputs, list) else (),
        tags={} if domain is None else {"domain": domain},
    )
    check = {
        "expected": None,
        "outputs": list(made.outputs),
        "forbidden_tools": [],
        "actions": actions,
    }
    digests = {**digests_of(made, None), "expected": digest(check)}
    return {**definition_of(made, digests), "actions": actions, "user_id": told.get("user_id")}
