"""``reexecutions.jsonl`` of a run: what came of carrying its tool calls out again, each time in one line."""

from __future__ import annotations

import json
import os
from collections import Counter
from typing import Any

from cassettes.errors import CorruptCassette
from cassettes.redact import Redactor, secrets_of
from replay.home import Home
from replay.importers.reading import storable
from replay.jsonl import append_lines

from .reexecution import Reexecution

__all__ = ["keep_reexecution", "known_reexecutions"]

_NAME = "reexecutions.jsonl"


def keep_reexecution(home: Home, found: Reexecution) -> dict[str, Any]:
    """Append what was found, less its secrets; returns it as the file holds it.

    Raises:
        RecordingFailed: the file cannot be written.
    """
    plain = storable(json.loads(json.dumps(found.to_dict(), default=repr)))
    kept: dict[str, Any] = Redactor(home.redaction_key(), secrets_of(os.environ)).value(plain, Counter())
    append_lines(home.run(found.run) / _NAME, [json.dumps(kept, ensure_ascii=False)])
    return kept


def known_reexecutions(home: Home, run: str) -> list[dict[str, Any]]:
    """All that the file holds, oldest first; a last line that was cut short by a crash is left out.

    Raises:
        CorruptCassette: another line is damaged.
    """
    path = home.run(run) / _NAME
    if not path.exists():
        return []
    found: list[dict[str, Any]] = []
    lines = path.read_bytes().split(b"\n")
    for number, line in enumerate(lines, 1):
        if not line:
            continue
        try:
            found.append(json.loads(line))
        except ValueError as error:
            if number < len(lines):
                raise CorruptCassette(f"{path}, line {number} is damaged: {error}") from error
    return found
