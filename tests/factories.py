"""What several test modules make: calls, interactions and whole cassettes, with defaults for what does not matter."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from cassettes.canonical import canonical
from cassettes.codec import facts_of, outcome_plain, snapshot
from cassettes.model import Call, Ending, Header, Interaction, Mark, Outcome, Value
from cassettes.redact import Redactor
from cassettes.writer import CassetteWriter

COMPLETED = Ending("completed")


def call(kind: Any = "tool", name: str = "get_order", **options: Any) -> Call:
    """A call; of a model, its history stands in ``messages``."""
    if kind == "model":
        options.setdefault("history", "messages")
        options.setdefault("endpoint", "openai.chat /v1/chat/completions")
    return Call(kind, name, options.pop("arguments", {"order_id": "W1"}), **options)


def model_call(messages: list[Any], **arguments: Any) -> Call:
    """A model call with this history."""
    return call("model", "gpt-x", arguments={"model": "gpt-x", "messages": messages, **arguments})


def interaction(step: int = 0, outcome: Outcome | None = None, **options: Any) -> Interaction:
    """An interaction; calls follow each other unless ``started`` and ``ended`` say otherwise."""
    options.setdefault("call", call())
    options.setdefault("started", 2 * step)
    options.setdefault("ended", 2 * step + 1)
    return Interaction(step=step, outcome=Value({"step": step}) if outcome is None else outcome, **options)


def header(**options: Any) -> Header:
    """A header with a fixed time."""
    return Header(**{"run": "baseline", "task": "exchange-1", "index": 0, "began": 1_700_000_000.0, **options})


def append(writer: CassetteWriter, *interactions: Interaction) -> None:
    """Append with snapshots taken now."""
    for item in interactions:
        writer.append(item, snapshot(item.call))


def write_cassette(
    path: Path,
    interactions: Iterable[Interaction] = (),
    ending: Ending | None = COMPLETED,
    *,
    marks: Iterable[Mark] = (),
    redactor: Redactor | None = None,
    **header_options: Any,
) -> Path:
    """Write a cassette; with ``ending=None`` it stays incomplete."""
    writer = CassetteWriter(path, header(**header_options), redactor or Redactor())
    append(writer, *interactions)
    for mark in marks:
        writer.mark(mark)
    if ending is None:
        writer.abandon()
    else:
        writer.close(ending)
    return path


def same(a: Interaction, b: Interaction) -> bool:
    """True if both say the same: equal as values of equal type, exceptions by class and fields, times to 1 us."""
    return _plain(a) == _plain(b)


def _plain(item: Interaction) -> list[Any]:
    return [canonical(facts_of(item)), canonical(dict(item.call.arguments)), canonical(outcome_plain(item.outcome))]
