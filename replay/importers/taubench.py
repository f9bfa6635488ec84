"""Results files of tau-bench: a list of {task_id, trial, reward, info, traj}.

What the file does not say stays unknown: models, seeds, versions, times (0), the user simulator's own calls.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final

from attrs import field, frozen

from cassettes.canonical import digest_bytes
from cassettes.errors import BadInput
from replay.effects import AS_DECLARED, Effects

from .findings import Fidelity, Findings, FoundTrial, Rated, Remark
from .reading import declared_in, json_in, read_bytes
from .taubench_record import TauTrial, identity_of, read_record
from .taubench_tools import domain_of
from .trajectory import requests_of

__all__ = ["SCORER", "Remark", "Results", "read_results"]

SCORER: Final = ("reward", "taubench")

_DOMAINS: Final = ("airline", "retail")
_FILE_NAMES: Final = (
    re.compile(r"(?:tool-calling|act|react|few-shot)-(?P<model>.+)-\d+(?:\.\d+)?_range_.*"),
    re.compile(rf"(?P<model>.+)-(?:{'|'.join(_DOMAINS)})"),
)
_FIDELITY: Final = Fidelity(
    rescored=("messages, tool calls and their results; the reward's parts, as far as the file holds them",),
    frozen=("tool calls, by name and arguments",),
    view_only=("the agent's model calls: the exact requests were not kept", "the database: only whether it was right"),
)


@frozen
class Results:
    """What a file holds.

    Attributes:
        digest: of the file's bytes.
        model: the agent's model, read from the file's name; None if it does not say.
        effects: of tools, as the user declared them.
        remarks: about single records, in the file's order.
    """

    digest: str
    domain: str | None
    model: str | None
    effects: Effects = AS_DECLARED
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
            **declared_in(self.effects),
        }

    @property
    def findings(self) -> Findings:
        """The same, as any importer tells it."""
        return Findings(
            format="taubench",
            config=self.config,
            primary="@".join(SCORER),
            fidelity=_FIDELITY,
            trials=[_found(trial) for trial in self.trials],
            remarks=self.remarks,
            told={"domain": self.domain, "agent_model": self.model},
        )


def read_results(path: Path, effects: Effects = AS_DECLARED) -> Results:
    """Read a results file; what is wrong with single records is told, not raised.

    Args:
        path: the file.
        effects: of tools, declared by the user.

    Raises:
        BadInput: the file cannot be read, or is no results file of tau-bench.
    """
    data = read_bytes(path)
    records = _records(path, data)
    model = _model_in(path.stem)
    results = Results(digest_bytes(data), domain_of(_tools(records)), model, effects)
    seen: dict[tuple[str, int], int] = {}
    for number, record in enumerate(records):
        try:
            task, index = identity_of(record)
        except BadInput as error:
            results.remarks.append(Remark(number, *_as_far_as_known(record), str(error), imported=False))
            continue
        first = seen.setdefault((task, index), number)
        if first != number:
            what = f"a second record of this task and trial; record {first} is kept"
            results.remarks.append(Remark(number, task, index, what, imported=False))
            continue
        trial, remarks = read_record(number, task, index, record, model=model, domain=results.domain, effects=effects)
        results.trials.append(trial)
        results.remarks.extend(Remark(number, task, index, what) for what in remarks)
    return results


def _found(trial: TauTrial) -> FoundTrial:
    return FoundTrial(
        record=trial.record,
        task=trial.task,
        index=trial.index,
        events=trial.trajectory.events,
        ending=trial.ending,
        definition=trial.definition,
        scores=(Rated(*SCORER, trial.score),),
    )


def _records(path: Path, data: bytes) -> list[Any]:
    try:
        records = json_in(data)
    except ValueError as error:
        raise BadInput(f"{path} is no results file of tau-bench: it is {error}") from error
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


def _as_far_as_known(record: Any) -> tuple[str | None, int | None]:
    kept = record if isinstance(record, dict) else {}
    task, trial = kept.get("task_id"), kept.get("trial")
    return None if task is None else str(task), trial if isinstance(trial, int) else None
