"""Which writes a call can notice: resources, and the two sides of the world."""

from __future__ import annotations

from functools import lru_cache

from cassettes.model import Call

__all__ = ["clash", "meet", "touches"]


@lru_cache(maxsize=4096)
def meet(left: str, right: str) -> bool:
    """True if some resource fits both patterns; ``*`` stands for any text.

    >>> meet("order:*", "order:17"), meet("order:1", "order:2"), meet("a*c", "*bc")
    (True, False, True)
    """
    if "*" not in left and "*" not in right:
        return left == right
    # Which places of ``right`` can be reached by a text that fits what was read of ``left`` so far.
    reached = _past_stars({0}, right)
    for sign in left:
        if not reached:
            return False
        if sign == "*":
            reached = set(range(min(reached), len(right) + 1))
            continue
        stayed = {at for at in reached if right[at : at + 1] == "*"}
        moved = {at + 1 for at in reached if right[at : at + 1] == sign}
        reached = _past_stars(stayed | moved, right)
    return len(right) in reached


def _past_stars(places: set[int], pattern: str) -> set[int]:
    """The places, and those behind the stars that stand there: a star may stand for nothing."""
    found = set(places)
    for at in places:
        behind = at
        while pattern[behind : behind + 1] == "*":
            behind += 1
            found.add(behind)
    return found


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


def clash(one: Call, other: Call) -> bool:
    """True if it may matter which of two writes comes first: one may notice the other, or both write the same."""
    if touches(one, other) or touches(other, one):
        return True
    if one.writes is None or other.writes is None:
        return one.external == other.external
    return any(meet(left, right) for left in one.writes for right in other.writes)
