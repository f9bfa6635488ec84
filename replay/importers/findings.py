"""What an importer finds in files of another tool: trials, scores, labels, and whatever was odd."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from attrs import field, frozen

from cassettes.errors import BadInput
from cassettes.model import Ending, Interaction, Mark
from replay.labelling.labels import Fault, Source, UserError
from replay.orchestration.tasks import Task
from replay.scoring import Score

__all__ = ["Fidelity", "Findings", "FoundLabel", "FoundTrial", "Identities", "Rated", "Remark", "refused"]

_MOST_INDEX: Final = 1 << 31


@frozen
class Remark:
    """Something broken or ambiguous about one record.

    Attributes:
        record: its 0-based place in the file, or the name of its own file.
        task, trial: as far as they are known.
        imported: False if the record could not be imported.
    """

    record: int | str
    task: str | None
    trial: int | None
    what: str
    imported: bool = True

    def __str__(self) -> str:
        name = "" if self.task is None else f" (task {self.task}, trial {self.trial})"
        place = f"record {self.record}" if isinstance(self.record, int) else self.record
        return f"{place}{name}: {self.what}{'' if self.imported else '; not imported'}"


@frozen
class Fidelity:
    """What can be done with trials of this format.

    Attributes:
        rescored: what later scorers can be run on.
        frozen: what can answer the calls of a live agent.
        view_only: what can be looked at, and no more.
    """

    rescored: tuple[str, ...]
    frozen: tuple[str, ...]
    view_only: tuple[str, ...]


@frozen
class Rated:
    """A score that the file holds, under the name and version it is kept by."""

    scorer: str
    version: str
    score: Score


@frozen
class FoundLabel:
    """What somebody says of a trial; without a fault it tells of the user only.

    Attributes:
        at: when, as the file says it; None if it does not.
    """

    author: str
    fault: Fault | None
    source: Source = "person"
    user_error: UserError | None = None
    type: str | None = None
    step: int | None = None
    note: str | None = None
    at: str | None = None


@frozen
class FoundTrial:
    """One trial of the file.

    Attributes:
        config: what is known of this trial alone, such as its seed.
    """

    record: int | str
    task: str
    index: int
    events: Sequence[Interaction | Mark]
    ending: Ending
    definition: Mapping[str, Any] | None = None
    scores: tuple[Rated, ...] = ()
    labels: tuple[FoundLabel, ...] = ()
    config: Mapping[str, Any] = field(factory=dict)


@frozen
class Findings:
    """All that was found.

    Attributes:
        config: what must be the same when the files are imported again.
        primary: the run's primary score, ``name@version``; None if there is none.
        blind_to: by name and version of a score, what it cannot see.
        told: further facts, for ``--json``.
        lines: further facts, for people.
    """

    format: str
    config: Mapping[str, Any]
    primary: str | None
    fidelity: Fidelity
    trials: Sequence[FoundTrial] = ()
    remarks: Sequence[Remark] = ()
    blind_to: Mapping[tuple[str, str], tuple[str, ...]] = field(factory=dict)
    told: Mapping[str, Any] = field(factory=dict)
    lines: tuple[str, ...] = ()


class Identities:
    """Which trials there are already: none is taken twice."""

    def __init__(self) -> None:
        self._taken: set[tuple[str, int]] = set()
        self._next: dict[str, int] = {}

    def free(self, task: Any) -> int:
        """The smallest number from 0 on that no trial of the task has."""
        index = self._next.get(str(task), 0)
        while (str(task), index) in self._taken:
            index += 1
        self._next[str(task)] = index
        return index

    def claim(self, task: Any, index: Any) -> str | None:
        """Take an identity; why it cannot be taken, or None."""
        why = refused(task, index)
        if why is None and (str(task), index) in self._taken:
            return "a second record of this task and trial; the first is kept"
        if why is None:
            self._taken.add((str(task), index))
        return why


def refused(task: Any, index: Any) -> str | None:
    """Why this cannot be the identity of a trial; None if it can.

    Args:
        task: must be a text or a whole number, and serve as a task's id.
        index: must be a number from 0 on.
    """
    if isinstance(task, bool) or not isinstance(task, int | str):
        return f"the task is {_short(task)}, no number or text"
    if isinstance(index, bool) or not isinstance(index, int) or not 0 <= index < _MOST_INDEX:
        return f"the trial is {_short(index)}, no number from 0 on"
    try:
        Task(id=str(task))
        str(task).encode()
    except BadInput as error:
        return str(error)
    except UnicodeEncodeError:
        return f"the task {_short(task)} is no text that a file can be named after"
    return None


def _short(value: Any) -> str:
    text = ascii(value)
    return text if len(text) <= 80 else text[:79] + "…"
