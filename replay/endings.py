"""How a trial ended, told from what left its block."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from cassettes.errors import (
    CassetteError,
    Divergence,
    Interrupted,
    NothingCaptured,
    Refused,
    TrialtapeError,
    Unanswered,
    UnkeepableValue,
)
from cassettes.model import Ending, Interaction

from .orchestration.throttle import status_of

__all__ = ["ending_of", "is_infrastructure"]

# No key, no money, no such model, no capacity: nothing that tells of the agent.
_INFRASTRUCTURE = {401, 402, 403, 404, 408, 429, 500, 502, 503, 504, 529}


def ending_of(leaving: BaseException | None, capped: str | None, live_model_calls: Sequence[Interaction]) -> Ending:
    """The ending of a trial.

    Args:
        leaving: what left the block, or stopped the trial.
        capped: the reason, if a cap ended it.
        live_model_calls: the last one tells whether an error is the agent's or the provider's.
    """
    match leaving:
        case None:
            return Ending("completed") if capped is None else Ending("capped", capped)
        case Interrupted():
            return Ending("cancelled", "interrupted")
        case Unanswered():
            return Ending("unanswered", str(leaving))
        case TrialtapeError():
            return Ending("error", str(leaving), _cause_of(leaving))
        case KeyboardInterrupt() | asyncio.CancelledError() | GeneratorExit():
            return Ending("cancelled", type(leaving).__name__)
        case _:
            cause = "infrastructure" if _provider_failed(live_model_calls) else "agent"
            return Ending("error", f"{type(leaving).__name__}: {leaving}", cause)


def is_infrastructure(ending: Ending) -> bool:
    """True if the provider or the network failed, so that the trial may be tried again."""
    return ending.cause == "infrastructure"


def _provider_failed(calls: Sequence[Interaction]) -> bool:
    """True if the last live model call failed for reasons that are not the agent's."""
    if not calls:
        return False
    status = status_of(calls[-1].outcome)
    reply = calls[-1].reply
    return status in _INFRASTRUCTURE or (status is None and (reply is None or reply.error is not None))


def _cause_of(halt: TrialtapeError) -> str:
    names: tuple[tuple[type[TrialtapeError], str], ...] = (
        (Divergence, "divergence"),
        (Refused, "refused"),
        (NothingCaptured, "nothing captured"),
        (UnkeepableValue, "recording"),
        (CassetteError, "recording"),
    )
    return next((cause for kind, cause in names if isinstance(halt, kind)), "stopped")
