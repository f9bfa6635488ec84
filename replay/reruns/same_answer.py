"""How well an answer that a tool gives now repeats the recorded one: in tiers, never as one truth value."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any, Final, Literal

from cassettes.canonical import canonical
from cassettes.errors import UnkeepableValue
from cassettes.model import Call, Error, Outcome, Value
from cassettes.shapes import PLACEHOLDER
from cassettes.values import pack
from replay.leaves import ABSENT, LeafChange, leaf_changes
from replay.scoring.states import normal

from .answer_changes import answer_form

__all__ = ["Tier", "compared", "holds_placeholder"]

Tier = Literal["identical", "canonical", "hidden", "differs"]
"""``identical``: byte for byte. ``canonical``: the same JSON; the order of keys and the form of numbers do not count.
``hidden``: other only where the recording holds a placeholder in the place of a secret. ``differs``: another answer."""

_PLACEHOLDER: Final = re.compile(PLACEHOLDER.pattern.decode())


def compared(
    call: Call, recorded: Outcome, now: Outcome, ignore: Sequence[str] = ()
) -> tuple[Tier, tuple[LeafChange, ...]]:
    """The best tier that holds, and the leaves that differ.

    Args:
        call: that was answered.
        recorded: the answer in the recording.
        now: the one that came now, less its secrets.
        ignore: paths below the answer that do not count (see `replay.ignoring`).
    """
    if _identical(recorded, now):
        return "identical", ()
    left, right = (_numbered(answer_form(call, outcome, ignore)) for outcome in (recorded, now))
    if canonical(left) == canonical(right):
        return "canonical", ()
    changes = leaf_changes(left, right)
    return "hidden" if all(map(_is_hidden, changes)) else "differs", changes


def holds_placeholder(value: Any) -> bool:
    """True if a secret in it was replaced when it was recorded."""
    return PLACEHOLDER.search(pack(value)) is not None


def _identical(recorded: Outcome, now: Outcome) -> bool:
    if isinstance(recorded, Error) and isinstance(now, Error):
        return (type(recorded.error), str(recorded.error)) == (type(now.error), str(now.error))
    if not isinstance(recorded, Value) or not isinstance(now, Value):
        return False
    try:
        return pack(recorded.result) == pack(now.result)
    except UnkeepableValue:
        return False


def _numbered(form: Any) -> Any:
    """One form for each number, of a text that is nothing but a number too."""
    if isinstance(form, str):
        try:
            read = json.loads(form)
        except (ValueError, RecursionError):
            return form
        return normal(read) if type(read) in {int, float} else form
    return normal(form)


def _is_hidden(change: LeafChange) -> bool:
    """True if what stands there now fits around the placeholders of the recording."""
    told, now = change.left, change.right
    if not isinstance(told, str) or now is ABSENT or not _PLACEHOLDER.search(told):
        return False
    if not isinstance(now, str):
        return _PLACEHOLDER.fullmatch(told) is not None
    around = ".+".join(map(re.escape, _PLACEHOLDER.split(told)))
    return not _PLACEHOLDER.search(now) and re.fullmatch(around, now, re.DOTALL) is not None
