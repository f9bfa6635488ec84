"""The record: what a trial is, and its file. No network, no SDK, no SQL."""

from __future__ import annotations

from .errors import TrialtapeError
from .model import Call, Interaction, Outcome, TrialId
from .reader import Cassette
from .recorder import Recorder, Ticket, current
from .writer import CassetteWriter

__all__ = [
    "Call",
    "Cassette",
    "CassetteWriter",
    "Interaction",
    "Outcome",
    "Recorder",
    "Ticket",
    "TrialId",
    "TrialtapeError",
    "current",
]
