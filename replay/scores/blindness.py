"""``scorers.jsonl`` of a run: what its scorers said of themselves that they cannot see."""

from __future__ import annotations

import json
from collections.abc import Iterable

from replay.home import Home
from replay.jsonl import append_lines
from replay.scoring import BLIND_TO, Scorer

__all__ = ["blind_to", "keep_blindness", "known_blindness"]


def keep_blindness(home: Home, run: str, scorers: Iterable[Scorer]) -> None:
    """Write down what scorers cannot see, unless it stands there already; of those that say nothing, nothing.

    Raises:
        RecordingFailed: the file cannot be written.
    """
    known = known_blindness(home, run)
    new = [by for by in scorers if by.blind_to and known.get(by.id) != by.blind_to]
    lines = [json.dumps({"scorer": by.id, "blind_to": list(by.blind_to)}, ensure_ascii=False) for by in new]
    append_lines(home.run(run) / "scorers.jsonl", lines)


def known_blindness(home: Home, run: str) -> dict[str, tuple[str, ...]]:
    """By ``name@version``; the last line counts, and one that is damaged does not."""
    path = home.run(run) / "scorers.jsonl"
    found: dict[str, tuple[str, ...]] = {}
    for line in path.read_bytes().split(b"\n") if path.exists() else ():
        try:
            kept = json.loads(line)
            found[str(kept["scorer"])] = tuple(str(what) for what in kept["blind_to"])
        except (ValueError, TypeError, KeyError):
            continue
    return found


def blind_to(home: Home, run: str, score: str) -> tuple[str, ...] | None:
    """What the score ``name@version`` of a run cannot see; None if its scorer does not tell."""
    found = known_blindness(home, run).get(score)
    return found if found is not None else BLIND_TO.get(score, BLIND_TO.get(score.partition("@")[0]))
