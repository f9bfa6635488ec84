"""Ignore rules: which arguments do not count in a match.

A rule is a dotted path below the arguments, such as ``metadata.request_id`` or ``items[*].id``; behind a selector it
holds for those calls alone: ``model:metadata.request_id``, ``tool:charge:idempotency_key``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cache
from typing import Any

from attrs import frozen

from cassettes.canonical import key_of, without
from cassettes.errors import BadInput
from cassettes.model import Call

from .policy import Selector

__all__ = ["checked_rules", "counting_arguments", "matching_key", "rule_for"]

_PATH = re.compile(r"[^.:\[\]]+(?:\[(?:\d+|\*)\])*(?:\.[^.:\[\]]+(?:\[(?:\d+|\*)\])*)*")


@frozen
class _Rule:
    selector: Selector | None
    path: str


@cache
def _parsed(text: str) -> _Rule:
    selector, colon, path = text.strip().rpartition(":")
    if not _PATH.fullmatch(path):
        raise BadInput(
            f"{text!r} cannot be ignored: a path below the arguments is needed, such as metadata.request_id or "
            "items[*].id, behind a selector if it is meant for some calls alone: tool:charge:idempotency_key"
        )
    return _Rule(Selector.parse(selector) if colon else None, path)


def checked_rules(rules: str | Iterable[str]) -> tuple[str, ...]:
    """The rules, each once, in the order in which they were given.

    Raises:
        BadInput: one has another form.
    """
    given = tuple(dict.fromkeys([rules] if isinstance(rules, str) else rules))
    for text in given:
        _parsed(text)
    return given


def matching_key(call: Call, rules: Sequence[str]) -> str:
    """The key of ``call`` less what the rules ignore."""
    return key_of(call, _paths(call, rules)) if rules else key_of(call)


def counting_arguments(call: Call, rules: Sequence[str]) -> dict[str, Any]:
    """The arguments of ``call`` less what the rules ignore."""
    arguments: dict[str, Any] = without(dict(call.arguments), _paths(call, rules))
    return arguments


def rule_for(call: Call, path: str) -> str | None:
    """The rule that ignores ``path`` (as `first_difference` tells it) of such calls; None if none can."""
    if not _PATH.fullmatch(path):
        return None
    path = re.sub(r"\[\d+\]", "[*]", path)
    named = call.kind == "tool" and not any(sign in call.name for sign in "*?[]")
    actor = "" if call.actor == "agent" else f"{call.actor}/"
    return f"{actor}{call.kind}:{call.name}:{path}" if named else f"{actor}{call.kind}:{path}"


def _paths(call: Call, rules: Sequence[str]) -> list[str]:
    found = map(_parsed, rules)
    return [rule.path for rule in found if rule.selector is None or rule.selector.matches(call)]
