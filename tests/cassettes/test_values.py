from __future__ import annotations

import datetime as dt
import math
from collections import OrderedDict
from decimal import Decimal
from pathlib import Path, PurePosixPath
from typing import Any
from uuid import UUID
from zoneinfo import ZoneInfo

import msgpack
import pytest
from hypothesis import given

from cassettes.canonical import canonical
from cassettes.errors import CorruptCassette, UnkeepableValue
from cassettes.values import MAX_DEPTH, pack, unpack
from tests.strategies import Attrs, Failure, Plain, Point, Right, Slotted, values


def back(value: Any) -> Any:
    return unpack(pack(value))


@given(values)
def test_any_supported_value_comes_back_with_its_types(value):
    restored = back(value)
    assert type(restored) is type(value)
    assert pack(restored) == pack(value)
    assert canonical(restored) == canonical(value)


@pytest.mark.parametrize(
    "value",
    [
        2**63,
        2**64,
        -(2**63) - 1,
        2**700,
        -0.0,
        math.inf,
        "NUL \0 and a lone \ud800",
        (1, (2, [3])),
        {1: "int key", (1, 2): "tuple key", None: 0, b"b": 1},
        {frozenset({1}), frozenset({(2,)})},
        b"\xff\x00",
        dt.datetime(2024, 10, 27, 2, 30, fold=1, tzinfo=ZoneInfo("Europe/Berlin")),
        dt.datetime(2024, 10, 27, 2, 30, tzinfo=dt.timezone(dt.timedelta(hours=5, minutes=45), "NPT")),
        dt.time(1, 2, 3, 4, tzinfo=dt.UTC, fold=1),
        Decimal("1.10"),
        UUID(int=7),
        complex(1, -0.0),
        Path("/tmp/x"),
        PurePosixPath("a/b"),
        OrderedDict([("b", 1), ("a", 2)]),
        Right.READ | Right.RUN,
        Right(0),
        Point(1, [2]),
    ],
    ids=repr,
)
def test_values_that_other_recorders_change_come_back_equal(value):
    restored = back(value)
    assert restored == value
    assert repr(restored) == repr(value)


def test_nan_and_signs_survive():
    assert math.isnan(back(math.nan))
    assert math.copysign(1, back(-0.0)) == -1


def test_fold_and_zone_name_survive():
    late = back(dt.datetime(2024, 10, 27, 2, 30, fold=1, tzinfo=ZoneInfo("Europe/Berlin")))
    assert (late.fold, late.tzinfo.key, late.utcoffset()) == (1, "Europe/Berlin", dt.timedelta(hours=1))
    assert back(dt.datetime(2024, 1, 1, tzinfo=dt.timezone(dt.timedelta(0), "Z"))).tzname() == "Z"


@pytest.mark.parametrize(
    "wrap",
    [
        lambda b: b,
        lambda b: [b],
        lambda b: {"k": [b]},
        lambda b: (b,),
        lambda b: (1, [{"deep": b}]),
        Plain,
        Slotted,
        Attrs,
        lambda b: Point(b, 1),
        Failure,
        lambda b: OrderedDict(a=b),
    ],
)
def test_a_bytearray_stays_one_wherever_it_stands(wrap):
    restored = back(wrap(bytearray(b"\xc4x")))
    assert pack(restored) == pack(wrap(bytearray(b"\xc4x")))
    assert pack(restored) != pack(wrap(b"\xc4x"))


@pytest.mark.parametrize(
    "crafted",
    [
        b"\xc1",
        b"\x91" * 5000,
        b"\xdd\xff\xff\xff\xff",
        msgpack.packb(msgpack.ExtType(77, b"\x01")),
        msgpack.packb(msgpack.ExtType(5, pack([1, 2]))),
        msgpack.packb(msgpack.ExtType(5, pack([2024, 1, 1, 0, 0, 0, 0, 0, "No/Where"]))),
        msgpack.packb(msgpack.ExtType(5, pack([2024, 1, 1, 0, 0, 0, 0, 0, "America"]))),
        msgpack.packb(msgpack.ExtType(3, msgpack.packb([pack([])]))),
        msgpack.packb(msgpack.ExtType(9, pack("not a number"))),
        msgpack.packb(msgpack.ExtType(16, pack(5))),
        pack(1) + pack(2),
        b"",
    ],
)
def test_damaged_bytes_give_one_clear_error(crafted):
    with pytest.raises(CorruptCassette):
        unpack(crafted)


@pytest.mark.parametrize("depth", [60, 200, 1000, 20_000])
def test_extensions_nested_too_deeply_do_not_end_the_process(depth):
    crafted = msgpack.packb([])
    for _ in range(depth):
        crafted = msgpack.packb(msgpack.ExtType(2, b"\x91" + crafted))
    try:
        value = unpack(crafted)
    except CorruptCassette:
        assert depth > MAX_DEPTH
    else:
        assert pack(value) == crafted


@pytest.mark.parametrize("wrap", [lambda v: (v,), lambda v: [(v,)], Slotted, lambda v: frozenset({v})])
def test_what_can_be_packed_can_be_read_however_deep_it_is(wrap):
    value, kept = 1, []
    with pytest.raises(UnkeepableValue, match="nested too deeply"):  # noqa: PT012  # at some depth
        while True:
            value = wrap(value)
            kept.append(pack(value))
    assert len(kept) > MAX_DEPTH // 2
    assert pack(unpack(kept[-1])) == kept[-1]
