"""``labels.jsonl`` of a run: what people and judges say of its trials, appended before the index learns of it.

An author has at most one label on a trial: the last line counts. A line that names no fault and says nothing of the
user takes the label back; if it is a judge's whose answer was none, it keeps what the judge said.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any, Literal, get_args

from attrs import asdict, evolve, field, frozen, validators

from cassettes.model import TrialId
from cassettes.reader import Cassette
from replay.home import Home
from replay.jsonl import append_lines

__all__ = [
    "FAULTS",
    "UNLABELLED",
    "USER_ERRORS",
    "Fault",
    "Label",
    "Source",
    "UserError",
    "append_label",
    "carry_labels",
    "current",
    "last_lines",
    "read_labels",
]

Fault = Literal["agent", "user", "tool", "task", "infrastructure"]
FAULTS: tuple[Fault, ...] = get_args(Fault)
Source = Literal["person", "judge"]
UserError = Literal["none", "minor", "critical"]
USER_ERRORS: tuple[UserError, ...] = get_args(UserError)
UNLABELLED = "unlabelled"  # in the place of a fault, of a trial without a label

_text = validators.instance_of(str)
_text_or_none = validators.optional(_text)


@frozen(kw_only=True)
class Label:
    """One line of the file.

    Attributes:
        trial: ``run/task#index``.
        author: who says so.
        fault: whose fault it was that the trial failed; None where none is named.
        source: whether the author is a person, or a model as judge.
        user_error: whether the (simulated) user erred, and so badly that it decided the outcome; None if nothing is
            said of that.
        type: a word for the kind of failure, the author's own.
        step: where it went wrong; None for the trial as a whole.
        unanswered: what a judge said whose answer had not the form that was asked for.
        digest: of the cassette that was looked at; None if it has none.
        at: when, in UTC, as ISO 8601.
    """

    trial: str = field(validator=_text)
    author: str = field(validator=_text)
    fault: Fault | None = field(validator=validators.optional(validators.in_(FAULTS)))
    source: Source = field(default="person", validator=validators.in_(get_args(Source)))
    user_error: UserError | None = field(default=None, validator=validators.optional(validators.in_(USER_ERRORS)))
    type: str | None = field(default=None, validator=_text_or_none)
    step: int | None = field(default=None, validator=validators.optional(validators.instance_of(int)))
    note: str | None = field(default=None, validator=_text_or_none)
    unanswered: str | None = field(default=None, validator=_text_or_none)
    digest: str | None = field(default=None, validator=_text_or_none)
    at: str = field(factory=lambda: datetime.now(UTC).isoformat(timespec="seconds"), validator=_text)

    def to_dict(self) -> dict[str, Any]:
        """The same as JSON-like data."""
        return asdict(self)


def append_label(home: Home, label: Label) -> None:
    """Append a label, or what takes one back, to the file of the trial's run.

    Raises:
        RecordingFailed: the file cannot be written.
    """
    _append(home, TrialId.parse(label.trial).run, [label])


def read_labels(home: Home, run: str) -> tuple[list[Label], list[str]]:
    """All lines of a run's file, oldest first; and of each damaged one, which is left out, what is wrong with it."""
    path = home.run(run) / "labels.jsonl"
    if not path.exists():
        return [], []
    labels: list[Label] = []
    problems: list[str] = []
    lines = path.read_bytes().split(b"\n")
    for number, line in enumerate(lines, 1):
        if not line:
            continue
        try:
            labels.append(_label(line))
        except (ValueError, TypeError) as error:
            why = "was cut short" if number == len(lines) else f"is damaged ({_why(error)})"
            problems.append(f"{path}, line {number} {why}; that label does not count")
    return labels, problems


def last_lines(labels: Iterable[Label]) -> list[Label]:
    """Of each author and trial the last line, also one that takes a label back; oldest first."""
    last: dict[tuple[str, str], Label] = {}
    for label in labels:
        last.pop((label.trial, label.author), None)
        last[label.trial, label.author] = label
    return list(last.values())


def current(labels: Iterable[Label]) -> list[Label]:
    """The labels that hold: the last lines that name a fault, or say whether the user erred."""
    return [label for label in last_lines(labels) if label.fault is not None or label.user_error is not None]


def carry_labels(home: Home, old: Cassette, new: Cassette) -> None:
    """Keep the labels of a cassette for the one that takes its place and says the same."""
    run = old.header.run
    held = [label for label in current(read_labels(home, run)[0]) if label.digest == old.digest]
    _append(home, run, [evolve(label, digest=new.digest) for label in held if label.trial == str(old.header.id)])


def _label(line: bytes) -> Label:
    document = json.loads(line)
    if not isinstance(document, dict):
        raise TypeError("no JSON object")
    return Label(**document)


def _why(error: ValueError | TypeError) -> str:
    """The error's sentence: attrs puts more beside it, and that of an encoding is in pieces."""
    return str(error) if isinstance(error, UnicodeError) else str(error.args[0])


def _append(home: Home, run: str, labels: Iterable[Label]) -> None:
    append_lines(home.run(run) / "labels.jsonl", [json.dumps(label.to_dict(), ensure_ascii=False) for label in labels])
