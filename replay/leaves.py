"""The difference of two JSON-like values, leaf by leaf."""

from __future__ import annotations

from collections.abc import Iterator
from difflib import SequenceMatcher
from typing import Any

from attrs import frozen

from cassettes.canonical import canonical
from cassettes.errors import UnkeepableValue

from .difference import ABSENT

__all__ = ["ABSENT", "LeafChange", "leaf_changes"]


@frozen
class LeafChange:
    """One leaf that is another.

    Attributes:
        path: such as ``items[2].price``; empty if the values themselves are leaves.
        left: what stands there on the left; `ABSENT` if nothing does.
        right: the same on the right.
    """

    path: str
    left: Any
    right: Any

    def to_dict(self) -> dict[str, Any]:
        """As data; a side on which nothing stands is left out."""
        sides = {"left": self.left, "right": self.right}
        return {"path": self.path, **{name: side for name, side in sides.items() if side is not ABSENT}}


def leaf_changes(left: Any, right: Any) -> tuple[LeafChange, ...]:
    """The leaves in which the values differ, in the order of the left value, what only the right one has after it.

    1, True and 1.0 differ; the order of keys does not count. Items of lists are aligned first, so one that came or
    went is told as such, and those behind it are not. A part that only one side has is one change.
    """
    return tuple(_changes(left, right, ""))


def _changes(left: Any, right: Any, path: str) -> Iterator[LeafChange]:
    if type(left) is dict and type(right) is dict:
        for key in [*left, *(key for key in right if key not in left)]:
            where = f"{path}.{key}" if path else str(key)
            yield from _changes(left.get(key, ABSENT), right.get(key, ABSENT), where)
    elif type(left) is list and type(right) is list:
        yield from _list_changes(left, right, path)
    elif left is ABSENT or right is ABSENT or _form(left) != _form(right):
        yield LeafChange(path, left, right)


def _list_changes(left: list[Any], right: list[Any], path: str) -> Iterator[LeafChange]:
    """Places are told as they are on the left; of an item that only the right has, where it stands there."""
    forms = [_form(item) for item in left], [_form(item) for item in right]
    for what, a, b, c, d in SequenceMatcher(None, *forms, autojunk=False).get_opcodes():
        if what == "equal":
            continue
        paired = min(b - a, d - c)
        for place in range(paired):
            yield from _changes(left[a + place], right[c + place], f"{path}[{a + place}]")
        for place in range(a + paired, b):
            yield LeafChange(f"{path}[{place}]", left[place], ABSENT)
        for place in range(c + paired, d):
            yield LeafChange(f"{path}[{place}]", ABSENT, right[place])


def _form(value: Any) -> bytes:
    """What tells values apart; of one without a lossless form, how it shows itself."""
    try:
        return canonical(value)
    except UnkeepableValue:
        return repr(value).encode("utf-8", "surrogatepass")
