"""Two lists of calls side by side: which are the same, which have other arguments, which one side has alone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from typing import Literal

from attrs import frozen

from cassettes.model import Call

from .ignoring import matching_key

__all__ = ["Row", "aligned", "similarity"]


@frozen
class Row:
    """One line of the alignment.

    Attributes:
        kind: ``same`` call; same tool with other ``arguments``; ``extra``: only on the left; ``missing``: only on
            the right.
        left: its place in the left list; None if it is missing there.
        right: its place in the right list; None if the call is extra.
    """

    kind: Literal["same", "arguments", "extra", "missing"]
    left: int | None
    right: int | None


def aligned(left: Sequence[Call], right: Sequence[Call], ignore: Sequence[str] = ()) -> tuple[Row, ...]:
    """Lay two lists of calls beside each other, keeping the order of both.

    Calls are the same if replay would take them for the same: actor, kind, name and canonical arguments. Between two
    stretches of same calls, calls of the same name are paired.

    Args:
        left: the calls that are looked at.
        right: the calls they are compared with.
        ignore: rules for arguments that do not count (see `replay.ignoring`).
    """
    return tuple(_rows(_keys(left, ignore), _keys(right, ignore), [_name(c) for c in left], [_name(c) for c in right]))


def similarity(left: Sequence[Call], right: Sequence[Call], ignore: Sequence[str] = ()) -> float:
    """How much of two lists is the same, from 0 to 1: twice the same calls over all calls (difflib's ratio)."""
    return SequenceMatcher(None, _keys(left, ignore), _keys(right, ignore), autojunk=False).ratio()


def _keys(calls: Sequence[Call], ignore: Sequence[str]) -> list[str]:
    return [matching_key(call, ignore) for call in calls]


def _name(call: Call) -> tuple[str, str, str]:
    return call.actor, call.kind, call.name


def _rows(
    left: list[str], right: list[str], left_names: list[tuple[str, str, str]], right_names: list[tuple[str, str, str]]
) -> Iterator[Row]:
    for what, a, b, c, d in SequenceMatcher(None, left, right, autojunk=False).get_opcodes():
        if what == "equal":
            for place in range(b - a):
                yield Row("same", a + place, c + place)
            continue
        between = SequenceMatcher(None, left_names[a:b], right_names[c:d], autojunk=False)
        for inner, e, f, g, h in between.get_opcodes():
            if inner == "equal":
                for place in range(f - e):
                    yield Row("arguments", a + e + place, c + g + place)
                continue
            for place in range(a + e, a + f):
                yield Row("extra", place, None)
            for place in range(c + g, c + h):
                yield Row("missing", None, place)
