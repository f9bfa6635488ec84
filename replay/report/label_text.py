"""A label as one line."""

from __future__ import annotations

from replay.labelling.labels import Label

__all__ = ["by_whom", "label_text", "said_in"]


def label_text(label: Label) -> str:
    """``agent (retrieval) at step 7, by Ada: asked for the wrong order``."""
    step = "" if label.step is None else f" at step {label.step}"
    note = f": {' '.join(label.note.split())}" if label.note else ""
    return f"{said_in(label)}{step}, by {by_whom(label)}{note}"


def by_whom(label: Label) -> str:
    """The author, and that it is a judge if it is one."""
    return f"judge {label.author}" if label.source == "judge" else label.author


def said_in(label: Label) -> str:
    """What a label says, in a few words: whose fault, of which kind, and whether the user erred."""
    erred = {"none": "no error of the user", "minor": "a minor error of the user", "critical": "a critical user error"}
    parts = [label.type, erred.get(label.user_error or "")]
    if label.fault is None:
        parts, head = parts[:1], parts[1] or "nothing"
    else:
        head = label.fault
    kind = ", ".join(part for part in parts if part)
    return f"{head} ({kind})" if kind else head
