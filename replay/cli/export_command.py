"""``trialtape export``: one trial in another format."""

from __future__ import annotations

import base64
import datetime as dt
import json
import math
import re
from collections.abc import Mapping
from decimal import Decimal
from enum import Enum
from pathlib import Path, PurePath
from typing import Any, Final
from uuid import UUID

import click
from attrs import asdict

from cassettes.classes import fields_of
from cassettes.errors import BadInput
from cassettes.model import Cancelled, Changed, Error, Interaction, Mark, Outcome, Patch, Stream, Value
from cassettes.values import Opaque, unpack
from replay.home import Home
from replay.importers.formats import format_named
from replay.selection import find_trial
from replay.view import View

from .output import messages

__all__ = ["command"]

_NOTE: Final = (
    "One way only: what JSON cannot hold stands as {'$type': ...}. The cassette holds the values themselves; keep it."
)
_SURROGATE: Final = re.compile("[\ud800-\udfff]")


@click.command("export")
@click.argument("trial", metavar="TRIAL")
@click.option("--to", "form", type=click.Choice(["json", "vcr"]), required=True, help="The format.")
@click.option(
    "-o", "--output", type=click.Path(path_type=Path), metavar="FILE", help="Where to (json: default stdout)."
)
@click.pass_obj
def command(home: str | None, trial: str, form: str, output: Path | None) -> None:
    """Write TRIAL in another format.

    json is one readable document of the whole trial. vcr is a cassette of vcrpy, with what went over HTTP.
    """
    view = find_trial(trial, Home.find(home))
    if form == "vcr":
        if output is None:
            raise BadInput("--to vcr needs -o FILE, ending in .yaml or .json")
        _to_vcr(view, output)
    else:
        _to_json(view, output)


def _to_vcr(view: View, output: Path) -> None:
    written, left_out = format_named("vcr").write(output, view.cassette)
    skipped = f"; {left_out} left out: no whole exchange over HTTP (tools, clocks, errors)" if left_out else ""
    messages().print(f"{output}: {written} exchanges written{skipped}", markup=False, soft_wrap=True)


def _to_json(view: View, output: Path | None) -> None:
    text = json.dumps(document_of(view), ensure_ascii=False, indent=1)
    # Half of a surrogate pair has no UTF-8; its escape is the same JSON.
    text = _SURROGATE.sub(lambda match: f"\\u{ord(match[0]):04x}", text)
    if output is None:
        click.echo(text)
        return
    try:
        output.parent.mkdir(parents=True, exist_ok=True)
        output.write_text(text + "\n", encoding="utf-8")
    except OSError as error:
        raise BadInput(f"{output} cannot be written: {error.strerror}; name another place") from error
    messages().print(f"{output}: {len(view.cassette)} steps written", markup=False, soft_wrap=True)


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
    call, reply, patch = interaction.call, interaction.reply, interaction.patch
    return {
        "step": interaction.step,
        "parent": interaction.parent,
        "started": interaction.started,
        "ended": interaction.ended,
        "at": interaction.at,
        "duration": interaction.duration,
        "call": plain(asdict(call, recurse=False)),
        "outcome": _outcome(interaction.outcome),
        "reply": None if reply is None else asdict(reply),
        "origin": asdict(interaction.origin),
        "patch": None if patch is None else _patch(patch),
    }


def _outcome(outcome: Outcome) -> dict[str, Any]:
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


# -- values that JSON cannot hold --------------------------------------------------------------------------------------


def plain(value: Any) -> Any:
    """A recorded value as JSON-like data; what JSON cannot hold as ``{"$type": ...}``."""
    if type(value) in {str, int, bool, type(None)}:
        return value
    if type(value) is float:
        return value if math.isfinite(value) else _typed("float", text=repr(value))
    if type(value) is list:
        return [plain(item) for item in value]
    if isinstance(value, Mapping):
        return _mapping(value)
    if isinstance(value, bytes | bytearray):
        return _typed(type(value).__name__, base64=base64.b64encode(value).decode())
    if isinstance(value, set | frozenset) or type(value) is tuple:
        return _typed(type(value).__name__, items=[plain(item) for item in value])
    if isinstance(value, dt.date | dt.time):
        return _typed(type(value).__name__, text=value.isoformat())
    if isinstance(value, dt.timedelta):
        return _typed("timedelta", seconds=value.total_seconds())
    if isinstance(value, Decimal | UUID | complex | PurePath):
        return _typed(type(value).__name__, text=str(value))
    return _object(value)


def _mapping(value: Mapping[Any, Any]) -> dict[str, Any]:
    if all(type(key) is str for key in value):
        return {key: plain(item) for key, item in value.items()}
    return _typed("dict", items=[[plain(key), plain(item)] for key, item in value.items()])


def _object(value: Any) -> dict[str, Any]:
    if isinstance(value, Opaque):
        return _typed(value.name, fields=plain(value.fields))
    name = f"{type(value).__module__}:{type(value).__qualname__}"
    if isinstance(value, Enum):
        return _typed(name, name=value.name, value=plain(value.value))
    if isinstance(value, BaseException):
        fields = {"fields": plain(found)} if (found := fields_of(value)) else {}
        return _typed(name, text=str(value), args=plain(list(value.args)), **fields)
    return _typed(name, fields=plain(fields_of(value)))


def _typed(name: str, /, **content: Any) -> dict[str, Any]:
    return {"$type": name, **content}
