"""Reading files of other tools: bytes, JSON and JSON lines, and single values out of them, whatever they hold."""

from __future__ import annotations

import json
import math
from collections.abc import Collection, Iterable, Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from attrs import frozen

from cassettes.canonical import canonical, digest_bytes
from cassettes.errors import BadInput
from replay.effects import AS_DECLARED, Effects

__all__ = [
    "Line",
    "as_dict",
    "as_list",
    "as_text",
    "declared_in",
    "digest_of_files",
    "json_in",
    "lines_of",
    "number_in",
    "read_bytes",
    "rest_of",
    "seconds_between",
    "shortened",
    "storable",
    "text_in",
    "too_deep",
]

_DEEPEST: Final = 80  # no recording has more; the cassette's own limit is higher


@frozen
class Line:
    """A line of a file of JSON lines.

    Attributes:
        number: 0-based, empty lines counted.
        value: None if ``problem`` says why it is no JSON.
    """

    number: int
    value: Any
    problem: str | None = None


def read_bytes(path: Path) -> bytes:
    """The content of a file.

    Raises:
        BadInput: it cannot be read.
    """
    try:
        return path.read_bytes()
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else error
        raise BadInput(f"{path} cannot be read: {why}") from error


def json_in(data: bytes) -> Any:
    """The value that the JSON text holds.

    Raises:
        ValueError: it is no JSON, or nested deeper than any recording; the text says why, in one line.
    """
    try:
        value = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"no JSON ({(str(error).splitlines() or [''])[0]})") from error
    if too_deep(value):
        raise ValueError(f"JSON nested more than {_DEEPEST} levels deep")
    return value


def lines_of(data: bytes) -> Iterator[Line]:
    """The lines of a file of JSON lines; empty ones are left out."""
    for number, line in enumerate(data.split(b"\n")):
        if line.strip():
            try:
                yield Line(number, json_in(line))
            except ValueError as error:
                yield Line(number, None, f"the line is {error}")


def too_deep(value: Any) -> bool:
    """True if lists and objects stand inside each other deeper than any recording has them."""
    layer = [value]
    for _ in range(_DEEPEST):
        layer = [inner for outer in layer for inner in _inside(outer)]
        if not layer:
            return False
    return True


def _inside(value: Any) -> Iterable[Any]:
    if isinstance(value, dict):
        return [item for item in value.values() if isinstance(item, dict | list)]
    return [item for item in value if isinstance(item, dict | list)] if isinstance(value, list) else ()


def digest_of_files(digests: Mapping[str, str]) -> str:
    """One digest of several files, from the digest of each by its name."""
    return digest_bytes(canonical([[name, digests[name]] for name in sorted(digests)]))


def rest_of(record: Mapping[str, Any], known: Collection[str]) -> dict[str, Any]:
    """What a record holds beyond the fields that an importer knows."""
    return {name: value for name, value in record.items() if name not in known and value is not None}


def declared_in(effects: Effects) -> dict[str, Any]:
    """What of the user's effects belongs to a run's configuration; nothing if there are none."""
    return {} if effects is AS_DECLARED else {"effects": effects.to_dict()}


def as_dict(value: Any) -> dict[str, Any]:
    """The object, or an empty one in the place of anything else."""
    return value if isinstance(value, dict) else {}


def as_list(value: Any) -> list[Any]:
    """The list, or an empty one in the place of anything else."""
    return value if isinstance(value, list) else []


def text_in(record: Mapping[str, Any], name: str) -> str | None:
    """A text that is not empty; None in the place of anything else."""
    value = record.get(name)
    return value if isinstance(value, str) and value else None


def number_in(record: Mapping[str, Any], name: str) -> float | None:
    """A finite number (a truth value is 1 or 0); None in the place of anything else."""
    value = record.get(name)
    if not isinstance(value, int | float):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if math.isfinite(number) else None


def as_text(value: Any) -> str:
    """A text as it is, anything else as JSON."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def storable(value: Any) -> Any:
    """The same for files and tables that hold less than a cassette: half a surrogate pair becomes its escape.

    So do NaN and the infinities, which are no JSON, and of which one is not equal to itself.
    """
    match value:
        case str():
            return value.encode("utf-8", "backslashreplace").decode()
        case float() if not math.isfinite(value):
            return repr(value)
        case dict():
            return {storable(name): storable(item) for name, item in value.items()}
        case list() | tuple():
            return [storable(item) for item in value]
        case _:
            return value


def seconds_between(start: Any, end: Any) -> float | None:
    """Seconds between two times in ISO 8601; None unless both are told, in the same way, and in order."""
    if not isinstance(start, str) or not isinstance(end, str):
        return None
    try:
        seconds = (datetime.fromisoformat(end) - datetime.fromisoformat(start)).total_seconds()
    except (ValueError, TypeError, OverflowError):  # no time; one with a zone and one without
        return None
    return seconds if seconds >= 0 else None


def shortened(text: str, most: int = 200) -> str:
    """The first line, cut to ``most`` characters."""
    first = (text.splitlines() or [""])[0]
    return first if len(first) <= most else first[: most - 1] + "…"
