"""Recorded text as a page may show it: what would be invisible, or would rearrange the page, becomes visible."""

from __future__ import annotations

import json
import re
from typing import Any, Final

__all__ = ["MOST_CHARACTERS", "clipped", "laid_out", "one_line", "shown"]

MOST_CHARACTERS: Final = 20_000  # of one value; the cassette holds the whole

# C0 and C1 controls but tab and line feed, marks and overrides of direction, separators, half surrogate pairs.
_UNSEEN: Final = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028\u2029\u202a-\u202e\u2060\u2066-\u2069\ufeff\ufffe\uffff\ud800-\udfff]"
)
_PICTURES: Final = 0x2400  # Unicode has a picture for each C0 control


def shown(text: str) -> str:
    """The text with a visible sign for each character that is none, or that changes the direction of others."""
    return _UNSEEN.sub(_sign, text.replace("\r\n", "\n"))


def _sign(match: re.Match[str]) -> str:
    code = ord(match[0])
    if code < 0x20:
        return chr(_PICTURES + code)
    return "\u2421" if code == 0x7F else f"⟦U+{code:04X}⟧"


def clipped(text: str, most: int = MOST_CHARACTERS) -> str:
    """The text as `shown`, up to ``most`` characters; what was left out is told."""
    if len(text) <= most:
        return shown(text)
    return f"{shown(text[:most])}… ({len(text) - most} more characters; the cassette holds them)"


def one_line(text: str, most: int = 240) -> str:
    """The text as `shown`, on one line of at most ``most`` characters."""
    joined = shown(" ".join(text[: 4 * most].split()))
    return joined if len(joined) <= most and len(text) <= 4 * most else joined[: most - 1] + "…"


def laid_out(value: Any) -> str:
    """A recorded value as text: a string as it is, anything else as JSON, as far as JSON has it."""
    if isinstance(value, str):
        return clipped(value)
    try:
        return clipped(json.dumps(value, ensure_ascii=False, default=repr))
    except (TypeError, ValueError):  # keys that JSON has not, a value within itself
        return clipped(repr(value))
