"""What models reply, read as data."""

from __future__ import annotations

import json
from typing import Any

__all__ = ["object_in"]


def object_in(text: str) -> Any:
    """The one JSON object in a reply, which may stand in a code block or between words; None if there is none."""
    start, end = text.find("{"), text.rfind("}")
    try:
        return json.loads(text[start : end + 1]) if start >= 0 else None
    except (ValueError, RecursionError):
        return None
