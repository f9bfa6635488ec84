"""A recorded trial as rows of the index."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from cassettes.model import Cancelled, Error, Interaction, Outcome, Stream, TrialId, Value

from .said import said_before
from .spending import is_billed
from .view import View, coverage_of

__all__ = ["INTERACTION_COLUMNS", "UNREADABLE", "Row", "clean", "rows_of", "unreadable_row"]

UNREADABLE = "cannot be read"  # the reason in the row of such a trial

_LARGEST = 2**63 - 1
_TEXT_LIMIT = 100_000  # characters of a readable column; the cassette holds the whole
_ESCAPED = re.compile(r"\\+[nrt]")  # a line break or a tab, as it is written in JSON, and in JSON in JSON

INTERACTION_COLUMNS = (
    "trial",
    "step",
    "kind",
    "actor",
    "name",
    "effect",
    "external",
    "at",
    "seconds",
    "input_tokens",
    "output_tokens",
    "cached_tokens",
    "written_tokens",
    "billed",
    "origin",
    "answered_by",
    "parent",
    "error",
    "arguments",
    "tool_calls",
    "result",
    "messages",
    "unescaped",
    "injected",
)

Row = tuple[Any, ...]


def rows_of(trial: TrialId, view: View, mtime_ns: int, size: int) -> tuple[Row, list[Row]]:
    """The row of a trial, and those of its interactions."""
    interactions = list(view.cassette)
    header, ending, counts = view.cassette.header, view.ending, view.cassette.counts
    usages = [i.reply.usage for i in interactions if i.reply is not None and i.reply.usage is not None]
    definition = header.task_definition or {}
    row = (
        str(trial),
        trial.run,
        trial.task,
        trial.index,
        str(view.path),
        ending.status,
        ending.reason,
        ending.cause,
        header.began,
        max((i.at + i.duration for i in interactions), default=0.0) if header.began else None,
        len(interactions),
        counts.get("model", 0),
        counts.get("tool", 0),
        sum(1 for i in interactions if i.call.kind == "tool" and i.call.effect == "write"),
        sum(u.input or 0 for u in usages) if usages else None,
        sum(u.output or 0 for u in usages) if usages else None,
        json.dumps(coverage_of(counts)),
        json.dumps(definition.get("tags", {}), ensure_ascii=False),
        json.dumps(definition.get("digests", {})),
        definition.get("instruction"),
        view.cassette.digest,
        view.cassette.problem,
        mtime_ns,
        size,
    )
    said = said_before(view.cassette, interactions, view.marks)
    return clean(row), [clean(_interaction_row(trial, i, said.get(i.step))) for i in interactions]


def unreadable_row(trial: TrialId, path: Path, why: str, mtime_ns: int, size: int) -> Row:
    """The row of a cassette that cannot be read: it is there, and nothing is known of it."""
    unknown = (None,) * 12
    return (
        str(trial),
        trial.run,
        trial.task,
        trial.index,
        str(path),
        "incomplete",
        UNREADABLE,
        None,
        *unknown,
        None,
        why,
        mtime_ns,
        size,
    )


def _interaction_row(trial: TrialId, interaction: Interaction, said: str | None) -> Row:
    """In the order of `INTERACTION_COLUMNS`."""
    call, reply = interaction.call, interaction.reply
    usage = None if reply is None else reply.usage
    arguments = {k: v for k, v in call.arguments.items() if call.kind != "model" or not isinstance(v, list | dict)}
    result, error = _texts(interaction.outcome)
    texts = (
        _text(arguments),
        None if reply is None or not reply.tool_calls else _text([[t.name, t.arguments] for t in reply.tool_calls]),
        reply.text if reply is not None and (reply.text is not None or reply.tool_calls) else result,
    )
    return (
        str(trial),
        interaction.step,
        call.kind,
        call.actor,
        call.name,
        call.effect,
        call.external,
        interaction.at,
        interaction.duration,
        None if usage is None else usage.input,
        None if usage is None else usage.output,
        None if usage is None else usage.cached,
        None if usage is None else usage.written,
        is_billed(interaction),
        interaction.origin.verdict,
        None if interaction.origin.trial is None else f"{interaction.origin.trial} step {interaction.origin.step}",
        interaction.parent,
        error if error is not None else None if reply is None else reply.error,
        *texts,
        None if said is None else _text(said),
        _unescaped(texts),
        None if interaction.injected is None else ", ".join(interaction.injected.by),
    )


def _unescaped(texts: Iterable[str | None]) -> str | None:
    r"""Those with written line breaks, with real ones: a search for words would read ``\nTotal`` as ``nTotal``."""
    return "\n".join(_ESCAPED.sub("\n", text) for text in texts if text and _ESCAPED.search(text)) or None


def clean(row: Row) -> Row:
    """The row without what SQLite cannot hold: lone surrogates, and numbers beyond 64 bits."""
    return tuple(
        item.encode("utf-8", "replace").decode()
        if isinstance(item, str)
        else min(item, _LARGEST)
        if isinstance(item, int)
        else item
        for item in row
    )


def _texts(outcome: Outcome) -> tuple[str | None, str | None]:
    match outcome:
        case Value() as returned:
            return _text(returned.result), None
        case Error(error):
            return None, f"{type(error).__name__}: {error}"
        case Cancelled():
            return None, "cancelled"
        case Stream(_, chunks, complete, error):
            end = "" if complete else " (cut short)"
            return f"{len(chunks)} chunks{end}", None if error is None else f"{type(error).__name__}: {error}"


def _text(value: Any) -> str:
    try:
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=repr)
    except (TypeError, ValueError):  # keys that JSON has not
        text = repr(value)
    return text if len(text) <= _TEXT_LIMIT else text[:_TEXT_LIMIT] + "…"
