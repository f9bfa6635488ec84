"""Values that look as if they were new each time: ids and times."""

from __future__ import annotations

import re
from datetime import date, datetime, time
from typing import Any, Final
from uuid import UUID

__all__ = ["looks_volatile"]

_UUID: Final = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|[0-9a-f]{32}", re.IGNORECASE)
_TIME: Final = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?(?:Z|[+-]\d\d:?\d\d)?")
_RANDOM: Final = re.compile(r"(?:[a-z]+[-_])*(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{8,}", re.IGNORECASE)
_EPOCH: Final = re.compile(r"\d{10}(?:\.\d+)?|\d{13}|\d{16}|\d{19}")
_YEARS: Final = (1_000_000_000, 4_102_444_800)  # 2001 to 2100


def looks_volatile(value: Any) -> str | None:
    """What a value looks like that is new each time, such as ``a UUID``; None if it does not."""
    if isinstance(value, UUID):
        return "a UUID"
    if isinstance(value, datetime | date | time):
        return "a time"
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return None
    text = repr(value) if isinstance(value, int | float) else value.strip()
    if _EPOCH.fullmatch(text) and _YEARS[0] <= int(text[:10]) < _YEARS[1]:
        return "an epoch number"
    if not isinstance(value, str):
        return None
    if _UUID.fullmatch(text):
        return "a UUID"
    if _TIME.fullmatch(text):
        return "a time"
    return "a random id" if _RANDOM.fullmatch(text) else None
