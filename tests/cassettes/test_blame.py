from __future__ import annotations

import collections
import datetime as dt
import sys
import threading
from dataclasses import dataclass
from typing import Any

import pytest

from cassettes.canonical import canonical
from cassettes.errors import UnkeepableValue
from cassettes.values import pack
from tests.strategies import Failure, Model, Plain, Point


class Text(str):
    __slots__ = ()


class Table(dict):
    pass


@dataclass
class Holder:
    items: list[Any]


@dataclass
class DictRecord(dict):
    a: int


def local_value() -> Any:
    @dataclass
    class Local:
        a: int

    return Local(1)


def endless() -> list[Any]:
    made: list[Any] = []
    made.append(made)
    return made


@pytest.mark.parametrize(
    ("make", "path"),
    [
        (lambda: {"items": [0, 1, 2, {"handle": threading.Lock()}]}, "value.items[3].handle"),
        (lambda: [sys.stdin], "value[0]"),
        (lambda: (1, (x for x in ())), "value[1]"),
        (lambda: {"a": Text("x")}, "value.a"),
        (lambda: {"a": Table()}, "value.a"),
        (lambda: {1: collections.defaultdict(int)}, "value[1]"),
        (lambda: Holder([1, object()]), "value.items[1]"),
        (lambda: Point(1, lambda: 0), "value.y"),
        (lambda: ValueError("x", object()), "value.args[1]"),
        (lambda: Failure(1, detail=len), "value.detail"),
        (lambda: Model(a=object()), "value.a"),
        (local_value, "value"),
        (lambda: [DictRecord(1)], "value[0]"),
        (lambda: [int], "value[0]"),
        (lambda: Plain, "value"),
        (lambda: {"t": [dt.datetime(2024, 1, 1, tzinfo=type("Own", (dt.tzinfo,), {})())]}, "value.t[0]"),
        (lambda: [memoryview(b"x")], "value[0]"),
        (lambda: {memoryview(b"x"): 1}, "value.<key"),
        (lambda: {(1, Text("x")): 1}, "value.<key"),
        (lambda: {"a": {Text("k"): 1}}, "value.a"),
    ],
)
def test_what_cannot_be_kept_is_named_by_its_path(make, path):
    with pytest.raises(UnkeepableValue) as caught:
        pack(make())
    assert caught.value.path.startswith(path)
    assert caught.value.path == path or path.endswith(("<key", ".a"))


@pytest.mark.parametrize("packer", [pack, canonical])
def test_a_list_that_contains_itself_is_refused(packer):
    with pytest.raises(UnkeepableValue, match="nested too deeply, or contains itself"):
        packer(endless())
