"""What a call that no recording answers was probably called then: a renamed tool, or one without a new argument."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from difflib import SequenceMatcher
from typing import Any

from cassettes.canonical import canonical
from cassettes.errors import UnkeepableValue
from cassettes.model import Call

from .ignoring import counting_arguments, rule_for
from .recording import Entry

__all__ = ["likely_counterpart", "new_arguments"]

_ALIKE = 0.6  # of two names, by difflib: get_order and fetch_order are, get_order and send_mail are not


def likely_counterpart(call: Call, entries: Iterable[Entry], ignore: Sequence[str]) -> Entry | None:
    """The recorded call of another name that is the same but for its name; None if there is none.

    Args:
        call: a tool call whose name no recording knows.
        entries: of the recordings.
        ignore: arguments that do not count.
    """
    if call.kind != "tool":
        return None
    asked = counting_arguments(call, ignore)
    best: tuple[tuple[bool, float], Entry] | None = None
    for entry in entries:
        recorded = entry.interaction.call
        if (recorded.kind, recorded.actor) != (call.kind, call.actor) or recorded.name == call.name:
            continue
        likeness = SequenceMatcher(None, recorded.name, call.name, autojunk=False).ratio()
        arguments = counting_arguments(recorded, ignore)
        same = bool(asked) and _form(arguments) == _form(asked)
        if not same and (likeness < _ALIKE or arguments.keys() != asked.keys()):
            continue
        if best is None or (same, likeness) > best[0]:
            best = (same, likeness), entry
    return None if best is None else best[1]


def new_arguments(recorded: Call, call: Call, ignore: Sequence[str]) -> list[str]:
    """The rules that ignore what ``call`` is told besides what was recorded, if it differs in nothing else."""
    then, now = counting_arguments(recorded, ignore), counting_arguments(call, ignore)
    added = [name for name in now if name not in then]
    if not added or _form({name: value for name, value in now.items() if name in then}) != _form(then):
        return []
    rules = [rule_for(call, name) for name in added]
    return [rule for rule in rules if rule is not None]


def _form(arguments: dict[str, Any]) -> bytes:
    try:
        return canonical(arguments)
    except UnkeepableValue:
        return repr(arguments).encode("utf-8", "surrogatepass")
