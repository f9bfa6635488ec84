"""Results files of tau-bench: a list of {task_id, trial, reward, info, traj}.

What the file does not say stays unknown: models, seeds, versions, times (0), the user simulator's own calls.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final

from attrs import field, frozen

from cassettes.canonical import digest_bytes
from cassettes.errors import BadInput

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
            task, index = identity_of(record)
        except BadInput as error:
            results.remarks.append(Remark(number, *_as_far_as_known(record), str(error), imported=False))
            continue
        first = seen.setdefault((task, index), number)
        if first != number:
            what = f"a second record of this task and trial; record {first} is kept"
            results.remarks.append(Remark(number, task, index, what, imported=False))
            continue
        trial, remarks = read_record(number, task, index, record, model=model, domain=results.domain)
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


def _as_far_as_known(record: Any) -> tuple[str | None, int | None]:
    kept = record if isinstance(record, dict) else {}
    task, trial = kept.get("task_id"), kept.get("trial")
    return None if task is None else str(task), trial if isinstance(trial, int) else None
