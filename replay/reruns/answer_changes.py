"""How an answer that was asked for again differs from the recorded one, field by field."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

from attrs import evolve

from cassettes.canonical import canonical
from cassettes.model import Call, Cancelled, Error, Outcome, Stream, Value
from replay.ignoring import counting_arguments
from replay.leaves import ABSENT, LeafChange, leaf_changes
from replay.plain import plain

__all__ = ["answer_changes", "answer_form", "fields_of_changes", "flat"]


def answer_changes(call: Call, recorded: Outcome, now: Outcome, ignore: Sequence[str] = ()) -> tuple[LeafChange, ...]:
    """The leaves in which two answers to one call differ.

    Texts that hold JSON are read. Of an HTTP answer status and body count, its headers do not.

    Args:
        call: that was answered.
        recorded: what it got then.
        now: what it got now.
        ignore: paths below the answer that do not count (see `replay.ignoring`), behind selectors or not.
    """
    return leaf_changes(*(answer_form(call, outcome, ignore) for outcome in (recorded, now)))


def answer_form(call: Call, outcome: Outcome, ignore: Sequence[str] = ()) -> Any:
    """What of an answer counts, as JSON-like data, less what is ignored."""
    return _counting(call, flat(_form(call, outcome)), ignore)


def flat(form: Any) -> Any:
    """JSON-like data (see `replay.plain`) in which an object is a map of its fields, and a set has one order.

    What pydantic notes about a model (which fields were given) is no part of what it says.
    """
    if isinstance(form, list):
        return [flat(item) for item in form]
    if not isinstance(form, dict):
        return form
    inner = {key: flat(item) for key, item in form.items()}
    fields, items = inner.get("fields"), inner.get("items")
    if inner.keys() == {"$type", "fields"} and isinstance(fields, dict):
        said = {key: item for key, item in fields.items() if not key.startswith("__pydantic_")}
        return {**said, "$type": inner["$type"]}
    if inner.get("$type") in {"set", "frozenset"} and isinstance(items, list):
        return {**inner, "items": sorted(items, key=canonical)}
    return inner


def fields_of_changes(changes: Sequence[LeafChange]) -> list[str]:
    """What happened to which fields, each told once; places in lists are ``[*]``.

    A field that went, beside one that came with the same value, was renamed; an item of a list stands elsewhere.
    """
    gone = [change for change in changes if change.right is ABSENT]
    came = [change for change in changes if change.left is ABSENT]
    told: list[str] = []
    renamed: list[LeafChange] = []
    for old in gone:
        new = next((new for new in came if new not in renamed and _is_renamed(old, new)), None)
        if new is not None:
            renamed += [old, new]
            here, there = _general(old.path), _general(new.path)
            told.append(f"{here} in another place" if here == there else f"{here} renamed to {there}")
    for change in changes:
        if any(change is other for other in renamed):
            continue
        what = "is gone" if change.right is ABSENT else "came" if change.left is ABSENT else "changed"
        told.append(f"{_general(change.path) or 'the answer'} {what}")
    return list(dict.fromkeys(told))


def _is_renamed(old: LeafChange, new: LeafChange) -> bool:
    parents = (change.path.rpartition(".")[0] for change in (old, new))
    return len({*parents}) == 1 and old.path != new.path and not leaf_changes(old.left, new.right)


def _general(path: str) -> str:
    return re.sub(r"\[\d+\]", "[*]", path)


def _counting(call: Call, form: Any, ignore: Sequence[str]) -> Any:
    """An answer less what is ignored; the rules' paths begin below it, as elsewhere below the arguments."""
    return counting_arguments(evolve(call, arguments=form), ignore) if ignore and isinstance(form, dict) else form


def _form(call: Call, outcome: Outcome) -> Any:
    match outcome:
        case Value({"status": int() as status, "body": body}) if call.kind == "http":
            return {"status": status, "body": _read(body)}
        case Value() as returned:
            return _read(returned.result)
        case Error(error):
            return {"raised": type(error).__name__, "message": str(error)}
        case Cancelled():
            return {"cancelled": True}
        case Stream(head, chunks, complete, _):
            pieces = [chunk.data for chunk in chunks]
            alike = pieces and {*map(type, pieces)} in ({str}, {bytes})
            body = type(pieces[0])().join(pieces) if alike else pieces
            told = {"status": head.get("status")} if isinstance(head, dict) else {}
            return {**told, "body": _read(body), "complete": complete}


def _read(value: Any) -> Any:
    """A value as JSON-like data, and a text that holds a JSON object or list as that."""
    text = value.decode("utf-8", "replace") if isinstance(value, bytes) else value
    if isinstance(text, str) and text.lstrip().startswith(("{", "[")):
        try:
            return json.loads(text)
        except (ValueError, RecursionError):
            return plain(value)
    return plain(value)
