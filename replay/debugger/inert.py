"""Recorded text on a terminal: whatever it holds, it moves no cursor, changes no colour and hides nothing."""

from __future__ import annotations

import json
import re
from typing import Any, Final

from replay.plain import plain

__all__ = ["inert", "laid_out", "on_one_line"]

# Controls but tab and line feed; what is invisible or turns the direction of writing; lone surrogates.
_ACTIVE: Final = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    "\ud800-\udfff\U000e0000-\U000e007f]"
)
_TAB: Final = "    "


def inert(text: str) -> str:
    """The text with everything active shown instead of sent: ESC is told as ``␛``, other signs by their escape."""
    return _ACTIVE.sub(_shown, text).replace("\t", _TAB)


def on_one_line(text: str, width: int = 300) -> str:
    """The same on one line of at most ``width`` letters, white space joined."""
    joined = " ".join(text[: 4 * width].split())
    return inert(joined[:width])


def laid_out(value: Any) -> str:
    """A recorded value as JSON over several lines; a text as it is."""
    return value if isinstance(value, str) else json.dumps(plain(value), ensure_ascii=False, indent=2)


def _shown(match: re.Match[str]) -> str:
    code = ord(match[0])
    if code < 0x20:
        return chr(0x2400 + code)
    if code == 0x7F:
        return "␡"
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
