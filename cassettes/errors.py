"""Every error that this project raises on purpose.

::

    TrialtapeError                 exit code 1
    ├── BadInput                   2   what the user gave cannot be used
    │   └── AlreadyRecorded            a cassette is never written twice
    ├── CassetteError              4   a recording cannot be read or written
    │   ├── NotACassette               no cassette at all, or its header is damaged
    │   ├── NewerFormat                written by a later version
    │   ├── CorruptCassette            damaged at a named place
    │   └── RecordingFailed            a write failed: the disk is full, the file is closed
    ├── UnkeepableValue            1   a value has no lossless form; names its path
    ├── NothingCaptured            1   a trial in which no call was seen
    ├── UnknownTool                1   an environment has no tool of that name
    ├── TrialHalted                3   the trial was stopped from within
    │   ├── Unanswered                 a frozen call has no recorded answer
    │   ├── Divergence                 a replay asked for something else than was recorded
    │   └── Refused                    the policy forbids the call
    ├── Interrupted                130 the user interrupted the trial
    └── BudgetReached              5   the money or the time given is spent
"""

from __future__ import annotations

from typing import Any, ClassVar

__all__ = [
    "AlreadyRecorded",
    "BadInput",
    "BudgetReached",
    "CassetteError",
    "CorruptCassette",
    "Divergence",
    "Interrupted",
    "NewerFormat",
    "NotACassette",
    "NothingCaptured",
    "RecordingFailed",
    "Refused",
    "TrialHalted",
    "TrialStopped",
    "TrialtapeError",
    "Unanswered",
    "UnkeepableValue",
    "UnknownTool",
]


class TrialtapeError(Exception):
    """The base of all errors; the command line prints its text as one line and exits with its code."""

    exit_code: ClassVar[int] = 1


class BadInput(TrialtapeError):
    """What the user gave cannot be used; the text says what was wrong, where, and what to do."""

    exit_code = 2


class AlreadyRecorded(BadInput):
    """The trial has a cassette already; a cassette is never written twice."""


class CassetteError(TrialtapeError):
    """A recording cannot be read or written."""

    exit_code = 4


class NotACassette(CassetteError):
    """The file is no cassette, or its header is damaged."""


class NewerFormat(CassetteError):
    """The file was written by a later version of this package."""


class CorruptCassette(CassetteError):
    """The file is damaged at a place that the text names."""


class RecordingFailed(CassetteError):
    """An interaction could not be written."""


class UnkeepableValue(TrialtapeError):
    """A value has no lossless form.

    Attributes:
        path: where it stands, such as ``result.items[3].handle``.
    """

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(f"{path}: {reason}")
        self.path = path
        self.reason = reason

    def __reduce__(self) -> tuple[type[UnkeepableValue], tuple[str, str]]:
        return type(self), (self.path, self.reason)  # else it could not leave a worker of a process pool


class NothingCaptured(TrialtapeError):
    """A trial ended without a single call seen."""


class UnknownTool(TrialtapeError, LookupError):
    """An environment has no tool of that name: what it raises, so that no error inside a tool is taken for that."""


class TrialHalted(TrialtapeError):
    """A trial was stopped from within: the ordinary exception that leaves its block.

    Attributes:
        report: the same facts as data (step, key, nearest recording, paths that differ).
    """

    exit_code = 3

    def __init__(self, message: str, report: dict[str, Any] | None = None) -> None:
        super().__init__(message)
        self.report = report or {}

    def to_dict(self) -> dict[str, Any]:
        """The stop as data: ``error``, ``message`` and the report's own keys."""
        return {"error": type(self).__name__, "message": str(self), **self.report}


class Unanswered(TrialHalted):
    """A frozen call has no recorded answer that may be served."""


class Divergence(TrialHalted):
    """A replay asked for something other than what was recorded."""


class Refused(TrialHalted):
    """The policy forbids the call."""


class BudgetReached(TrialtapeError):
    """The budget that the user gave is spent."""

    exit_code = 5


class Interrupted(TrialtapeError):
    """The user interrupted the trial."""

    exit_code = 130


class TrialStopped(BaseException):
    """Unwinds a trial's own code.

    It is no ``Exception``, so an agent that catches every ``Exception`` does not catch it. The trial's block turns
    it into the ordinary exception in ``halt``.
    """

    def __init__(self, halt: TrialtapeError) -> None:
        super().__init__(str(halt))
        self.halt = halt

    def __reduce__(self) -> tuple[type[TrialStopped], tuple[TrialtapeError]]:
        return type(self), (self.halt,)
