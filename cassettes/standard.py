"""The types of the standard library that are no JSON: the code of each, and its plain form there and back."""

from __future__ import annotations

import datetime as dt
import uuid
from collections import OrderedDict
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path, PurePath
from typing import Any
from zoneinfo import ZoneInfo

__all__ = ["BYTEARRAY", "FROZENSET", "ORDERED", "PATH", "RESTORE", "SET", "SIMPLE", "TUPLE"]

(
    BIG_INT,
    TUPLE,
    SET,
    FROZENSET,
    DATETIME,
    DATE,
    TIME,
    TIMEDELTA,
    DECIMAL,
    UUID,
    COMPLEX,
    BYTEARRAY,
    PATH,
    ORDERED,
) = range(1, 15)  # extension types


def _zone_plain(zone: dt.tzinfo | None) -> Any:
    if zone is None:
        return None
    if isinstance(zone, ZoneInfo) and zone.key is not None:
        return zone.key
    if type(zone) is dt.timezone:
        offset = zone.utcoffset(None)
        return [offset.days, offset.seconds, offset.microseconds, zone.tzname(None)]
    raise TypeError(f"a time zone of class {type(zone).__name__} cannot be kept; use zoneinfo or datetime.timezone")


def _zone(plain: Any) -> dt.tzinfo | None:
    if plain is None:
        return None
    if isinstance(plain, str):
        return ZoneInfo(plain)
    days, seconds, micros, name = plain
    offset = dt.timedelta(days, seconds, micros)
    unnamed = dt.timezone(offset)
    return unnamed if unnamed.tzname(None) == name else dt.timezone(offset, name)


def _datetime_plain(v: dt.datetime) -> Any:
    return [v.year, v.month, v.day, v.hour, v.minute, v.second, v.microsecond, v.fold, _zone_plain(v.tzinfo)]


def _datetime(plain: Any) -> dt.datetime:
    *numbers, fold, zone = plain
    return dt.datetime(*numbers, fold=fold).replace(tzinfo=_zone(zone))  # noqa: DTZ001  # naive ones stay naive


def _time_plain(v: dt.time) -> Any:
    return [v.hour, v.minute, v.second, v.microsecond, v.fold, _zone_plain(v.tzinfo)]


def _time(plain: Any) -> dt.time:
    *numbers, fold, zone = plain
    return dt.time(*numbers, fold=fold).replace(tzinfo=_zone(zone))


SIMPLE: dict[type, tuple[int, Callable[[Any], Any]]] = {
    int: (BIG_INT, lambda v: v.to_bytes((v.bit_length() + 8) // 8, "big", signed=True)),
    tuple: (TUPLE, list),
    dt.datetime: (DATETIME, _datetime_plain),
    dt.date: (DATE, lambda v: [v.year, v.month, v.day]),
    dt.time: (TIME, _time_plain),
    dt.timedelta: (TIMEDELTA, lambda v: [v.days, v.seconds, v.microseconds]),
    Decimal: (DECIMAL, str),
    uuid.UUID: (UUID, lambda v: v.bytes),
    complex: (COMPLEX, lambda v: [v.real, v.imag]),
    bytearray: (BYTEARRAY, bytes),
    OrderedDict: (ORDERED, dict),
}

RESTORE: dict[int, Callable[[Any], Any]] = {
    BIG_INT: lambda p: int.from_bytes(p, "big", signed=True),
    TUPLE: tuple,
    DATETIME: _datetime,
    DATE: lambda p: dt.date(*p),
    TIME: _time,
    TIMEDELTA: lambda p: dt.timedelta(*p),
    DECIMAL: Decimal,
    UUID: lambda p: uuid.UUID(bytes=p),
    COMPLEX: lambda p: complex(*p),
    BYTEARRAY: bytearray,
    PATH: lambda p: Path(p[0]) if p[1] else PurePath(p[0]),
    ORDERED: OrderedDict,
}
