"""Calls whose result is kept in another form than its caller gets: as plain data, or less what belongs to one run."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from attrs import frozen

from cassettes.model import Call
from cassettes.recorder import Recorder, aperform, perform

__all__ = ["Form", "acalled", "called", "is_declared"]


@frozen
class Form:
    """How a result is kept.

    Attributes:
        keep: what is written down of a live result.
        give: the inverse.
    """

    keep: Callable[[Any], Any]
    give: Callable[[Any], Any]


def called(recorder: Recorder, call: Call, real: Callable[[], Any], form: Form) -> Any:
    """The result of ``real()``, or the one that was recorded, which its caller cannot tell apart.

    Raises:
        BaseException: what ``real`` raised, or what was recorded.
    """
    came: list[tuple[Any, Any]] = []

    def live() -> Any:
        result = real()
        came.append((result, form.keep(result)))
        return came[0][1]

    return _given(perform(recorder, call, live), came, form)


async def acalled(recorder: Recorder, call: Call, real: Callable[[], Awaitable[Any]], form: Form) -> Any:
    """The same for async functions.

    Raises:
        BaseException: what ``real`` raised, or what was recorded.
    """
    came: list[tuple[Any, Any]] = []

    async def live() -> Any:
        result = await real()
        came.append((result, form.keep(result)))
        return came[0][1]

    return _given(await aperform(recorder, call, live), came, form)


def _given(answer: Any, came: list[tuple[Any, Any]], form: Form) -> Any:
    """What the caller gets: the live result itself, unless the trial put something into what was kept of it."""
    for result, kept in came:
        if answer is kept:
            return result
    return form.give(answer)


def is_declared(*functions: Any) -> bool:
    """True if one of them is a tool by its own declaration, and so records itself."""
    return any(hasattr(function, "__trialtape__") for function in functions)
