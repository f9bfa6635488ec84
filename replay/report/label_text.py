"""A label as one line."""

from __future__ import annotations

from replay.labels import Label

__all__ = ["label_text"]


def label_text(label: Label) -> str:
    """``agent (retrieval) at step 7, by Ada: asked for the wrong order``."""
    kind = f" ({label.type})" if label.type else ""
    step = "" if label.step is None else f" at step {label.step}"
    note = f": {' '.join(label.note.split())}" if label.note else ""
    return f"{label.fault}{kind}{step}, by {label.author}{note}"
