"""What came back, as text, whatever it is."""

from __future__ import annotations

import json
from typing import Any

from cassettes.model import Cancelled, Error, Outcome, Value
from replay.plain import plain
from replay.report.trial_text import outcome_text

__all__ = ["compact", "failed", "outcome_told"]


def compact(value: Any) -> str:
    """A recorded value as JSON on one line; a text as it is."""
    return value if isinstance(value, str) else json.dumps(plain(value), ensure_ascii=False)


def outcome_told(outcome: Outcome) -> str:
    """What came back; of a stream how much, of an exception its class and text."""
    match outcome:
        case Value() as returned:
            return compact(returned.result)
        case _:
            return outcome_text(outcome)


def failed(outcome: Outcome) -> bool:
    """True if nothing came back but an error or a cancellation."""
    return isinstance(outcome, Error | Cancelled)
