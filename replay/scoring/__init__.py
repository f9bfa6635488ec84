"""Scores: from a recorded trial, offline, as often as one likes."""

from __future__ import annotations

from .assertions import state_assertions
from .attacks import ATTACK, attack_success, attack_success_by, risk
from .blind import BLIND_TO, OWN
from .checks import final_state, forbidden_tools, required_outputs, task_checks
from .combining import Rule, combination, rule_of
from .consent import Asked, asked_for, consent, consent_before_write
from .limits import calls_within, cost_within, ended_by, not_capped, seconds_within, tokens_within
from .order import before_writes, in_order
from .outputs import outputs, tau_outputs
from .score import Score, Scorer, as_scorer, score_trial, scorer
from .states import as_set, by_key, exact_state, state_digest, state_is, unordered
from .tools import calls_tool, expected_actions, never_calls

__all__ = [
    "ATTACK",
    "BLIND_TO",
    "OWN",
    "Asked",
    "Rule",
    "Score",
    "Scorer",
    "as_scorer",
    "as_set",
    "asked_for",
    "attack_success",
    "attack_success_by",
    "before_writes",
    "by_key",
    "calls_tool",
    "calls_within",
    "combination",
    "consent",
    "consent_before_write",
    "cost_within",
    "ended_by",
    "exact_state",
    "expected_actions",
    "final_state",
    "forbidden_tools",
    "in_order",
    "never_calls",
    "not_capped",
    "outputs",
    "required_outputs",
    "risk",
    "rule_of",
    "score_trial",
    "scorer",
    "seconds_within",
    "state_assertions",
    "state_digest",
    "state_is",
    "task_checks",
    "tau_outputs",
    "tokens_within",
    "unordered",
]
