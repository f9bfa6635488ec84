"""Counts in messages: ``1 task``, ``2 tasks``."""

from __future__ import annotations

__all__ = ["number"]


def number(count: int, noun: str) -> str:
    """``1 task``, ``2 tasks``."""
    return f"{count} {noun}{'' if count == 1 else 's'}"
