"""Catching up: writes that recordings answered are carried out before a call that would notice their absence.

What is to be carried out is decided without doing it; `carry_out` and `acarry_out` do it, for the helpers of
`cassettes.recorder`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any, Final, Protocol

__all__ = ["Again", "Repeatable", "acarry_out", "carry_out"]

Repeatable = Callable[[Mapping[str, Any]], Any]
"""Makes a call once more, with these arguments; of an async tool it returns what is to be awaited."""

_LOOK: Final = 0.01  # seconds between two looks at what is carried out elsewhere


class Again(Protocol):
    """A write that a recording answered, to be carried out before one call goes live; each only once in a trial."""

    @property
    def done(self) -> bool:
        """It has been carried out, with the outcome that was recorded."""

    def begins(self, *, may_await: bool) -> bool:
        """True if the caller is to carry it out now; False if that has been done, or is being done elsewhere.

        Raises:
            TrialStopped: it failed before, or cannot be carried out here.
        """

    def inside(self) -> AbstractContextManager[None]:
        """Calls in this block are parts of it."""

    def live(self) -> Any:
        """Carry it out; if the tool is async, returns what is to be awaited."""

    def returned(self, value: Any) -> None:
        """It returned ``value``.

        Raises:
            TrialStopped: that is another outcome than was recorded.
        """

    def raised(self, error: Exception) -> None:
        """It raised ``error``.

        Raises:
            TrialStopped: that is another outcome than was recorded.
        """

    def given_up(self) -> None:
        """It was interrupted, and nobody knows how much of it was done."""

    def over(self, seconds: float) -> bool:
        """True if it has been carried out elsewhere, waiting at most that long.

        Raises:
            TrialStopped: it failed there, or the trial was stopped.
        """


def carry_out(plan: Sequence[Again]) -> None:
    """Carry out what is missing, one after the other.

    Raises:
        TrialStopped: it cannot be, or came out otherwise.
    """
    for again in plan:
        if not again.begins(may_await=False):
            while not again.over(_LOOK):
                pass
            continue
        try:
            with again.inside():
                value = again.live()
        except Exception as error:  # noqa: BLE001  # whatever it is, it may be what was recorded
            again.raised(error)
        except BaseException:
            again.given_up()
            raise
        else:
            again.returned(value)


async def acarry_out(plan: Sequence[Again]) -> None:
    """The same for async callers, who do not hold their loop up.

    Raises:
        TrialStopped: it cannot be, or came out otherwise.
    """
    for again in plan:
        if not again.begins(may_await=True):
            while not again.over(0.0):  # noqa: ASYNC110  # it may be carried out by a thread, or by another loop
                await asyncio.sleep(_LOOK)
            continue
        try:
            with again.inside():
                value = again.live()
                if asyncio.iscoroutine(value) or asyncio.isfuture(value):
                    value = await value
        except Exception as error:  # noqa: BLE001  # whatever it is, it may be what was recorded
            again.raised(error)
        except BaseException:
            again.given_up()
            raise
        else:
            again.returned(value)
