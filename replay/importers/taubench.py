"""Results files of tau-bench: a list of {task_id, trial, reward, info, traj}.

What the file does not say stays unknown: models, seeds, versions, times (0), the user simulator's own calls.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from attrs import field, frozen

from cassettes.canonical import digest, digest_bytes
from cassettes.errors import BadInput
from cassettes.model import Ending
from replay.scoring import Score
from replay.tasks import Task, definition_of, digests_of

from .taubench_tools import TERMINATING, domain_of
from .trajectory import UNKNOWN_MODEL, Trajectory, read_trajectory, requests_of

__all__ = ["SCORER", "Remark", "Results", "TauTrial", "read_results"]

SCORER: Final = ("reward", "taubench")
CAP: Final = 30  # agent actions; user turns are not counted

_STOP: Final = "###STOP###"
_NEEDED: Final = ("task_id", "trial", "reward", "traj")
_DOMAINS: Final = ("airline", "retail")
_FILE_NAMES: Final = (
    re.compile(r"(?:tool-calling|act|react|few-shot)-(?P<model>.+)-\d+(?:\.\d+)?_range_.*"),
    re.compile(rf"(?P<model>.+)-(?:{'|'.join(_DOMAINS)})"),
)


@frozen
class Remark:
    """Something broken or ambiguous about one record.

    Attributes:
        record: its 0-based place in the file.
        task, trial: as far as they are known.
        imported: False if the record could not be imported.
    """

    record: int
    task: str | None
    trial: int | None
    what: str
    imported: bool = True

    def __str__(self) -> str:
        name = "" if self.task is None else f" (task {self.task}, trial {self.trial})"
        return f"record {self.record}{name}: {self.what}{'' if self.imported else '; not imported'}"


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


@frozen
class Results:
    """What a file holds.

    Attributes:
        digest: of the file's bytes.
        model: the agent's model, read from the file's name; None if it does not say.
        remarks: about single records, in the file's order.
    """

    digest: str
    domain: str | None
    model: str | None
    trials: list[TauTrial] = field(factory=list)
    remarks: list[Remark] = field(factory=list)

    @property
    def config(self) -> dict[str, Any]:
        """What must be the same when the file is imported again."""
        return {
            "mode": "import",
            "format": "taubench",
            "file": self.digest,
            "domain": self.domain,
            "agent_model": self.model,
            "agent_model_from": None if self.model is None else "the file name",
        }


def read_results(path: Path) -> Results:
    """Read a results file; what is wrong with single records is told, not raised.

    Raises:
        BadInput: the file cannot be read, or is no results file of tau-bench.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        raise BadInput(f"{path} cannot be read: {error.strerror}") from error
    records = _records(path, data)
    model = _model_in(path.stem)
    results = Results(digest_bytes(data), domain_of(_tools(records)), model)
    seen: dict[tuple[str, int], int] = {}
    for number, record in enumerate(records):
        try:
            task, index = _identity(record)
        except BadInput as error:
            results.remarks.append(Remark(number, *_as_far_as_known(record), str(error), imported=False))
            continue
        first = seen.setdefault((task, index), number)
        if first != number:
            what = f"a second record of this task and trial; record {first} is kept"
            results.remarks.append(Remark(number, task, index, what, imported=False))
            continue
        trial, remarks = _read(number, task, index, record, results)
        results.trials.append(trial)
        results.remarks.extend(Remark(number, task, index, what) for what in remarks)
    return results


def _records(path: Path, data: bytes) -> list[Any]:
    try:
        records = json.loads(data)
    except (ValueError, RecursionError) as error:
        why = str(error).splitlines()[0]
        raise BadInput(f"{path} is no results file of tau-bench: it is no JSON ({why})") from error
    if not isinstance(records, list):
        raise BadInput(f"{path} is no results file of tau-bench: it holds a {type(records).__name__}, not a list")
    if not any(isinstance(record, dict) and ("traj" in record or "task_id" in record) for record in records):
        what = "no record has a task_id or a traj" if records else "its list is empty"
        raise BadInput(f"{path} is no results file of tau-bench: {what}")
    return records


def _model_in(stem: str) -> str | None:
    """``tool-calling-gpt-4o-0.0_range_...`` and ``gpt-4o-airline`` both say ``gpt-4o``."""
    found = next((match for pattern in _FILE_NAMES if (match := pattern.fullmatch(stem))), None)
    return None if found is None else found["model"]


def _tools(records: Iterable[Any]) -> Iterator[str]:
    for record in records:
        messages = record.get("traj") if isinstance(record, dict) else None
        for message in messages if isinstance(messages, list) else []:
            if isinstance(message, dict):
                yield from (asked.name for asked in requests_of(message))


def _identity(record: Any) -> tuple[str, int]:
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
    if not isinstance(traj, list):
        raise BadInput(f"traj is a {type(traj).__name__}, not a list of messages")
    return Task(id=str(task)).id, trial


def _as_far_as_known(record: Any) -> tuple[str | None, int | None]:
    kept = record if isinstance(record, dict) else {}
    task, trial = kept.get("task_id"), kept.get("trial")
    return None if task is None else str(task), trial if isinstance(trial, int) else None


def _read(
    number: int, task: str, index: int, record: Mapping[str, Any], results: Results
) -> tuple[TauTrial, list[str]]:
    remarks: list[str] = []
    info = record.get("info")
    if not isinstance(info, dict):
        remarks.append("no info: its task, its reward's parts and its ending are not known")
        info = {}
    trajectory = read_trajectory(record["traj"], results.model or UNKNOWN_MODEL)
    ending = _ending(record["traj"], info, remarks)
    trial = TauTrial(
        record=number,
        task=task,
        index=index,
        definition=_definition(task, info, results.domain, remarks),
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
