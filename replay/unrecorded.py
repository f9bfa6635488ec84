"""Which source, that no call goes through, may explain why two values differ: the clock, randomness, or an order."""

from __future__ import annotations

import re
from collections import Counter
from datetime import date, datetime, time
from typing import Any, Final, Literal
from uuid import UUID

from cassettes.canonical import canonical

from .volatile import looks_volatile

__all__ = ["Source", "advice", "source_of"]

Source = Literal["clock", "random", "order"]

_IDS: Final = re.compile(
    r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b|\b(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{16,}\b",
    re.IGNORECASE,
)
_MONTH: Final = r"(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]*"
_TIMES: Final = re.compile(
    rf"\d{{4}}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?(?:Z|[+-]\d\d:?\d\d)?)?"
    rf"|\b\d{{1,2}} {_MONTH},? \d{{4}}\b|\b{_MONTH} \d{{1,2}},? \d{{4}}\b"
    r"|\b\d\d?:\d\d(?::\d\d(?:[.,]\d+)?)?\b|\b1\d{9}(?:\d{3}|\d{6}|\d{9})?(?:\.\d+)?\b"
)


def source_of(left: Any, right: Any) -> Source | None:
    """What may have made ``right`` another value than ``left``, judged where they first part; None if unknown.

    Numbers between 0 and 1 with many digits look as if they had been drawn; texts that are the same but for times or
    ids in them differ by the clock or by randomness; the same parts in another order, by an order.
    """
    if canonical(left) == canonical(right):
        return None
    if type(left) is dict and type(right) is dict:
        parted = [key for key in left if key not in right or canonical(left[key]) != canonical(right[key])]
        return source_of(left[parted[0]], right[parted[0]]) if parted and parted[0] in right else None
    if type(left) is list and type(right) is list:
        if len(left) == len(right) and Counter(map(canonical, left)) == Counter(map(canonical, right)):
            return "order"
        pairs = [(a, b) for a, b in zip(left, right, strict=False) if canonical(a) != canonical(b)]
        return source_of(*pairs[0]) if pairs else None
    return _source_of_leaves(left, right)


def _source_of_leaves(left: Any, right: Any) -> Source | None:
    kinds = {looks_volatile(left), looks_volatile(right)}
    if kinds <= {"a time", "an epoch number"} or (_is_time(left) and _is_time(right)):
        return "clock"
    if kinds <= {"a UUID", "a random id"} or (_is_drawn(left) and _is_drawn(right)):
        return "random"
    if isinstance(left, str) and isinstance(right, str):
        return _source_of_texts(left, right)
    return None


def advice(source: Source, *, recorded: bool) -> str:
    """What can be done about it; ``recorded`` if the recording holds this source already."""
    if source == "order":
        return "the same parts in another order: sort what comes out of a set, or of work done in parallel"
    name = "the clock" if source == "clock" else "random numbers"
    if recorded:
        return (
            f"it looks like {name}, though the recording holds that: something reads it where this is not seen "
            "(another process, a library in C, a generator made before the trial)"
        )
    return f"it looks like {name}, which this recording does not hold: record with --ambient {source} to freeze it"


def _is_time(value: Any) -> bool:
    if isinstance(value, datetime | date | time):
        return True
    return isinstance(value, str) and _TIMES.fullmatch(value.strip()) is not None


def _is_drawn(value: Any) -> bool:
    return isinstance(value, UUID) or (isinstance(value, float) and 0 <= value < 1 and len(repr(value)) > 12)


def _source_of_texts(left: str, right: str) -> Source | None:
    timeless = [_TIMES.sub("\0", _IDS.sub("\1", text)) for text in (left, right)]
    if timeless[0] == timeless[1]:
        same_ids = _IDS.findall(left) == _IDS.findall(right)
        return "clock" if same_ids else "random"
    words = [re.findall(r"\w+|[^\w\s]", text) for text in (left, right)]
    return "order" if Counter(words[0]) == Counter(words[1]) else None
