"""Ticks for tests: one letter each, ``u`` and ``a`` for speech, ``b`` for a backchannel, ``.`` for silence."""

from __future__ import annotations

from typing import Any

_ACTIONS = {"u": "keep_talking", "b": "backchannel", ".": "wait"}


def ticks(user: str, agent: str) -> list[dict[str, Any]]:
    """Ticks of both sides."""
    assert len(user) == len(agent)
    return [
        {
            "tick_id": place,
            "tick_duration_seconds": 0.2,
            "user_chunk": {"contains_speech": said != ".", "turn_taking_action": {"action": _ACTIONS[said]}},
            "agent_chunk": {"contains_speech": spoke != "."},
        }
        for place, (said, spoke) in enumerate(zip(user, agent, strict=True))
    ]


def heard(tick: dict[str, Any], kind: str, text: str, effects: str = "source_effects") -> None:
    """Let the user's side of a tick hold a sound."""
    tick["user_chunk"][effects] = {"burst_noise_file": None, "speech_insert": {"type": kind, "text": text}}
