"""Scores: from a recorded trial, offline, as often as one likes."""

from __future__ import annotations

from .checks import final_state, forbidden_tools, required_outputs, task_checks
from .score import Score, Scorer, as_scorer, score_trial, scorer

__all__ = [
    "Score",
    "Scorer",
    "as_scorer",
    "final_state",
    "forbidden_tools",
    "required_outputs",
    "score_trial",
    "scorer",
    "task_checks",
]
