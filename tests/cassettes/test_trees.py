"""Packed values as trees: nothing is lost, and no class is looked up."""

from __future__ import annotations

from collections import OrderedDict
from decimal import Decimal
from typing import NamedTuple

import msgpack
from attrs import frozen
from hypothesis import given

from cassettes.trees import inside, tree_of, untree
from cassettes.values import pack, unpack
from tests import strategies


class Point(NamedTuple):
    x: int
    y: str


@frozen
class Order:
    number: int
    note: str


@given(strategies.values)
def test_a_tree_packs_to_the_bytes_that_it_came_from(value):
    packed = pack(value)
    assert untree(tree_of(packed)) == packed


def test_an_object_is_no_object_in_a_tree():
    tree = tree_of(pack(Order(7, "x")))
    assert type(tree) is msgpack.ExtType


def shouted(tree):
    """The tree with its texts in capitals, also inside of what is no plain data."""
    if isinstance(tree, str):
        return tree.upper()
    if type(tree) is list:
        return [shouted(item) for item in tree]
    if type(tree) is dict:
        return {key: shouted(item) for key, item in tree.items()}
    return inside(tree, shouted)


def test_one_can_go_on_inside_of_tuples_ordered_dicts_and_objects():
    value = [("a", 1), OrderedDict(a="b"), Order(7, "x"), Point(1, "y"), {"k": ("z",)}]
    assert unpack(untree(shouted(tree_of(pack(value))))) == [
        ("A", 1),
        OrderedDict(a="B"),
        Order(7, "X"),
        Point(1, "Y"),
        {"k": ("Z",)},
    ]


def test_what_does_not_change_stays_the_very_same():
    for value in (("a", 1), Order(7, "x"), Decimal("1.5")):
        tree = tree_of(pack(value))
        assert inside(tree, lambda inner: inner) is tree
