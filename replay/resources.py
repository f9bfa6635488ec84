"""Which writes a call can notice: resources, and the two sides of the world."""

from __future__ import annotations

from functools import lru_cache

from cassettes.model import Call

__all__ = ["meet", "touches"]


@lru_cache(maxsize=4096)
def meet(left: str, right: str) -> bool:
    """True if some resource fits both patterns; ``*`` stands for any text.

    >>> meet("order:*", "order:17"), meet("order:1", "order:2"), meet("a*c", "*bc")
    (True, False, True)
    """
    if not left or not right:
        return not (left or right).strip("*")
    if left[0] == "*":
        return meet(left[1:], right) or meet(left, right[1:])
    if right[0] == "*":
        return meet(left, right[1:]) or meet(left[1:], right)
    return left[0] == right[0] and meet(left[1:], right[1:])


def touches(write: Call, call: Call) -> bool:
    """True if ``call`` may notice ``write``.

    A tool that declares no ``reads`` reads everything on its side, one that declares no ``writes`` writes everything
    on its side; the sides are the outside world and the trial's own tracked state. Declared resources meet across
    the sides.
    """
    if not write.may_write or call.effect == "pure":
        return False
    if write.writes is None or call.reads is None:
        return write.external == call.external
    return any(meet(written, read) for written in write.writes for read in call.reads)
