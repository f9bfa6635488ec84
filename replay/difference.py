"""Where two values part: the first path, and both values there."""

from __future__ import annotations

from collections.abc import Container
from typing import Any

from attrs import frozen

from cassettes.canonical import canonical

__all__ = ["ABSENT", "Difference", "first_difference", "shortened"]


class _Absent:
    def __repr__(self) -> str:
        return "nothing"

    def __reduce__(self) -> str:
        return "ABSENT"  # the one of the process that reads it


ABSENT = _Absent()


@frozen
class Difference:
    """``path`` such as ``messages[5].content``; `ABSENT` where one side has nothing there."""

    path: str
    left: Any
    right: Any


def first_difference(left: Any, right: Any, path: str = "", *, ignore: Container[str] = ()) -> Difference | None:
    """The first place where the values part, or None; 1, True and 1.0 differ, the order of keys does not.

    Args:
        left: the one value.
        right: the other.
        path: where they stand.
        ignore: dotted paths that do not count.
    """
    if type(left) is dict and type(right) is dict:
        for key in [*left, *(k for k in right if k not in left)]:
            where = f"{path}.{key}" if path else str(key)
            if where in ignore:
                continue
            found = first_difference(left.get(key, ABSENT), right.get(key, ABSENT), where, ignore=ignore)
            if found is not None:
                return found
        return None
    if type(left) is list and type(right) is list:
        for place in range(max(len(left), len(right))):
            a = left[place] if place < len(left) else ABSENT
            b = right[place] if place < len(right) else ABSENT
            found = first_difference(a, b, f"{path}[{place}]", ignore=ignore)
            if found is not None:
                return found
        return None
    if left is ABSENT or right is ABSENT:
        return None if left is right else Difference(path, left, right)
    return None if canonical(left) == canonical(right) else Difference(path, left, right)


def shortened(value: Any, around: Any = None, width: int = 100) -> str:
    """``value`` for one line; a long text is cut around the first place where it parts from ``around``."""
    text = value if isinstance(value, str) else repr(value)
    start = 0
    if isinstance(value, str) and isinstance(around, str):
        same = next((i for i, (a, b) in enumerate(zip(value, around, strict=False)) if a != b), 0)
        start = max(0, same - width // 3) if same > width // 2 else 0
    cut = text[start : start + width]
    shown = f"{'…' if start else ''}{cut}{'…' if start + width < len(text) else ''}"
    return repr(shown) if isinstance(value, str) else shown
