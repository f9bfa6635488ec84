"""A whole recorded trial as one JSON-like document."""

from __future__ import annotations

from typing import Any, Final

from attrs import asdict

from cassettes.model import Cancelled, Changed, Error, Interaction, Mark, Outcome, Patch, Stream, Value
from cassettes.values import unpack

from .plain import plain
from .view import View

__all__ = ["document_of", "outcome_document"]

_NOTE: Final = (
    "One way only: what JSON cannot hold stands as {'$type': ...}. The cassette holds the values themselves; keep it."
)


def document_of(view: View) -> dict[str, Any]:
    """The whole trial as JSON-like data."""
    cassette = view.cassette
    return {
        "note": _NOTE,
        "trial": str(view.id),
        "header": plain(asdict(cassette.header, recurse=False)),
        "ending": asdict(view.ending),
        "counts": cassette.counts,
        "redacted": cassette.redacted,
        "digest": cassette.digest,
        "problem": cassette.problem,
        "steps": [_step(interaction) for interaction in cassette],
        "marks": [_mark(mark) for mark in cassette.marks()],
    }


def _step(interaction: Interaction) -> dict[str, Any]:
    call, reply, patch, injected = interaction.call, interaction.reply, interaction.patch, interaction.injected
    return {
        "step": interaction.step,
        "parent": interaction.parent,
        "started": interaction.started,
        "ended": interaction.ended,
        "at": interaction.at,
        "duration": interaction.duration,
        "call": plain(asdict(call, recurse=False)),
        "outcome": outcome_document(interaction.outcome),
        "reply": None if reply is None else asdict(reply),
        "origin": asdict(interaction.origin),
        "patch": None if patch is None else _patch(patch),
        "injected": None
        if injected is None
        else {"by": list(injected.by), "returned": outcome_document(injected.returned)},
    }


def outcome_document(outcome: Outcome) -> dict[str, Any]:
    """What came back, under the name of its form."""
    match outcome:
        case Value(Changed(result, arguments)):
            return {"value": plain(result), "changed_arguments": plain(arguments)}
        case Value(value):
            return {"value": plain(value)}
        case Error(error):
            return {"error": plain(error)}
        case Cancelled():
            return {"cancelled": True}
        case Stream(head, chunks, complete, error):
            return {
                "stream": {
                    "head": plain(head),
                    "chunks": [{"at": chunk.at, "data": plain(chunk.data)} for chunk in chunks],
                    "complete": complete,
                    "error": plain(error),
                }
            }


def _patch(patch: Patch) -> list[dict[str, Any]]:
    """Each change; a side that is missing there was nothing."""
    changes = []
    for path, old, new in patch.changes:
        sides = {name: plain(unpack(side)) for name, side in (("old", old), ("new", new)) if side is not None}
        changes.append({"path": [plain(part) for part in path], **sides})
    return changes


def _mark(mark: Mark) -> dict[str, Any]:
    return {
        "kind": mark.kind,
        "at": mark.at,
        "data": _patch(mark.data) if isinstance(mark.data, Patch) else plain(mark.data),
    }
