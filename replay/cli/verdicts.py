"""A gate's verdict as an exit code."""

from __future__ import annotations

from typing import Final, Literal, TypeAlias

from replay.stats.gates import Verdict

__all__ = ["Undecided", "exit_code_of", "told_verdict"]

Undecided: TypeAlias = Literal["pass", "fail"]

_CODES: Final[dict[Verdict, int]] = {"PASS": 0, "FAIL": 1, "UNDECIDED": 6}


def exit_code_of(verdict: Verdict, undecided: Undecided | None) -> int:
    """0, 1 or 6; ``undecided`` says what counts instead of 6."""
    if verdict == "UNDECIDED" and undecided is not None:
        return _CODES["PASS" if undecided == "pass" else "FAIL"]
    return _CODES[verdict]


def told_verdict(verdict: Verdict, undecided: Undecided | None) -> str:
    """The verdict for people, with what it counts as if that is another."""
    counts = verdict == "UNDECIDED" and undecided is not None
    return f"{verdict} (counts as {undecided}: --undecided {undecided})" if counts else verdict
