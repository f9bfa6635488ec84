"""What a child process and the trial that started it say to each other: packed like values in a cassette, no pickle.

Each message is a list whose first item says what it is; each gets one answer.

==============================================================  ==================================================
``begin`` actor, outer, place, facts, arguments, unkept         ``ticket`` number, step, delay, answer, is paced
``end`` number, outcome, unkept, reply                          ``ok``, or ``told`` outcome, if the caller gets another
``connecting`` address, outer                                   ``ok``
``escaped`` name, outer, pid                                    ``ok``
``arrived`` pid, parent's pid                                   ``ok``
``unknown`` class that the latest answer has                    ``stopped``
==============================================================  ==================================================

``outer`` is the number of the ticket inside which it happens, or None; ``place`` is the work item and the strand in
it. Any answer may be ``stopped`` instead, with what stopped the trial.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from cassettes.codec import outcome_from, outcome_plain
from cassettes.errors import TrialtapeError, UnkeepableValue
from cassettes.model import Call, Outcome, Paced, Reply, Value, paced
from cassettes.values import Opaque, pack, unpack

__all__ = [
    "answer_from",
    "answer_packed",
    "call_from",
    "call_said",
    "end_said",
    "halt_from",
    "halt_packed",
    "outcome_of",
]

Unkept = list[str]  # path and reason


class _UnkeptArguments(Mapping[str, Any]):
    """Arguments that could not leave their process: to read them fails as to keep them does."""

    def __init__(self, path: str, reason: str) -> None:
        self._error: Final = UnkeepableValue(path, reason)

    def __getitem__(self, name: str) -> Any:
        raise self._error

    def __iter__(self) -> Iterator[str]:
        raise self._error

    def __len__(self) -> int:
        raise self._error


class _UnkeptValue(Value):
    """A result that could not leave its process, likewise."""

    def __init__(self, path: str, reason: str) -> None:
        object.__setattr__(self, "_error", UnkeepableValue(path, reason))

    @property
    def value(self) -> Any:
        """Nothing.

        Raises:
            UnkeepableValue: always.
        """
        raise self.__dict__["_error"]


def call_said(call: Call) -> list[Any]:
    """The last parts of ``begin``."""
    facts = [
        call.kind,
        call.name,
        call.effect,
        call.external,
        call.reads,
        call.writes,
        call.endpoint,
        call.history,
        dict(call.detail),
    ]
    try:
        return [facts, pack(dict(call.arguments)), None]
    except UnkeepableValue as error:
        return [facts, None, [error.path, error.reason]]


def call_from(facts: list[Any], arguments: bytes | None, unkept: Unkept | None) -> Call:
    """The call that a child makes."""
    kind, name, effect, external, reads, writes, endpoint, history, detail = facts
    return Call(
        kind=kind,
        name=name,
        arguments=unpack(arguments) if arguments is not None else _UnkeptArguments(*unkept or ("value", "was lost")),
        effect=effect,
        external=external,
        reads=reads,
        writes=writes,
        endpoint=endpoint,
        history=history,
        detail=detail,
    )


def end_said(outcome: Outcome, reply: Reply | None) -> list[Any]:
    """The last parts of ``end``."""
    try:
        return [pack(outcome_plain(outcome)), None, reply]
    except UnkeepableValue as error:
        return [None, [error.path, error.reason], reply]


def outcome_of(packed: bytes | None, unkept: Unkept | None) -> Outcome:
    """How a child's call ended."""
    if packed is not None:
        return outcome_from(unpack(packed))
    return _UnkeptValue(*unkept or ("value[1]", "was lost"))


def answer_packed(answer: Outcome | None) -> list[Any]:
    """The last parts of ``ticket``."""
    return [None if answer is None else pack(outcome_plain(answer)), isinstance(answer, Paced)]


def answer_from(packed: bytes | None, is_paced: bool) -> tuple[Outcome | None, list[Opaque]]:  # noqa: FBT001  # a field
    """The answer of a frozen call, and what of it has a class that is not loaded in this process."""
    if packed is None:
        return None, []
    unknown: list[Opaque] = []
    outcome = outcome_from(unpack(packed, unknown.append))
    return (paced(outcome) if is_paced else outcome), unknown


def halt_packed(halt: TrialtapeError) -> bytes:
    """What stopped a trial."""
    try:
        return pack(halt)
    except UnkeepableValue:  # its report holds something odd
        return pack(TrialtapeError(str(halt)))


def halt_from(packed: bytes) -> TrialtapeError:
    """What stopped the trial, as one of our errors."""
    halt = unpack(packed)
    return halt if isinstance(halt, TrialtapeError) else TrialtapeError(str(halt))
