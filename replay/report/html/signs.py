"""How the outcome of a trial is told on a page: a word, and a sign that does not rest on colour."""

from __future__ import annotations

from typing import Final

from attrs import frozen

__all__ = ["SIGNS", "Sign", "sign_of"]


@frozen
class Sign:
    """One outcome.

    Attributes:
        name: its word, and its class in the style sheet.
        letter: its class in the many cells of the map.
        told: what it means, for the legend.
    """

    name: str
    letter: str
    told: str


SIGNS: Final = {
    sign.name: sign
    for sign in (
        Sign("passed", "p", "completed, and right by the score"),
        Sign("failed", "f", "completed, and wrong by the score"),
        Sign("capped", "c", "stopped by a cap; counts as failed, but by its verdict where the score tells harm"),
        Sign("error", "e", "an exception ended it"),
        Sign("unanswered", "u", "a frozen call had no recorded answer"),
        Sign("unscored", "n", "completed, but there is no verdict"),
        Sign("unfinished", "i", "cancelled, or its recording has no end"),
    )
}

_BY_ENDING: Final = {"capped": "capped", "error": "error", "unanswered": "unanswered"}


def sign_of(ending: str, passed: bool | None) -> Sign:  # noqa: FBT001  # a verdict, not a switch
    """The sign of a trial that ended so, with this verdict."""
    if ending == "completed":
        return SIGNS["unscored" if passed is None else "passed" if passed else "failed"]
    return SIGNS[_BY_ENDING.get(ending, "unfinished")]
