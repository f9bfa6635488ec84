"""How large cassettes are, and how they grow."""

from __future__ import annotations

import tempfile
from itertools import count
from pathlib import Path

import zstandard

from cassettes.model import Ending, TrialId
from replay.home import Home
from replay.importers.keeping import Keeper
from replay.importers.trajectory import read_trajectory

from .airline import Event, conversation, events, interactions, tools, trials, write
from .peers import jsonl, line, vcr_yaml
from .rows import Row, Target

__all__ = ["rows"]

LONG = 30  # model calls
LONG_BYTES = 33_500  # of its messages as JSON


def rows(limit: int | None = None, turns: tuple[int, ...] = (10, 40, 160, 640)) -> list[Row]:
    """Write the first ``limit`` recordings (None: all), and conversations of so many ``turns``.

    Raises:
        Skipped: the recordings are not there.
    """
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        return [*_airline(folder, limit), *_growth(folder, turns), *_long(folder)]


_numbers = count()


def _ours(folder: Path, found: list[Event]) -> int:
    path = write(folder / f"{next(_numbers)}.cassette", interactions(found))
    size = path.stat().st_size
    path.unlink()
    return size


def _airline(folder: Path, limit: int | None) -> list[Row]:
    traffic = [list(events(trial, seed)) for seed, trial in enumerate(trials(limit))]
    number = len(traffic)
    ours = sum(_ours(folder, found) for found in traffic) / number
    raw = sum(map(jsonl, traffic)) / number
    yaml = sum(map(vcr_yaml, traffic)) / number
    what = f"cassette of an airline trial, mean of {number}"
    note = (
        "messages, tool calls and results of the published gpt-4o runs; made up: ids, headers (those of a hosted "
        "provider, cookies too), times, token counts; the tool schemas in each request are approximated from the "
        f"arguments seen ({len(line(tools())):,} B; the real ones are 8,690 B, which would repeat more)"
    )
    return [
        Row(what, ours, "B", raw, "raw JSONL, tools too", Target(">=", 20, "ratio"), note=note),
        Row(what, ours, "B", yaml, "vcrpy YAML, no tools", note=note),
    ]


def _growth(folder: Path, turns: tuple[int, ...]) -> list[Row]:
    note = "recordings laid end to end under one system prompt: a history of real but unrelated text"
    found: list[Row] = []
    sizes: dict[int, int] = {}
    for number in turns:
        traffic = list(events(conversation(number), number))
        sizes[number] = _ours(folder, traffic)
        target = Target(">=", 400, "ratio") if number == 640 else None
        what = f"cassette of a conversation of {number} turns"
        found.append(Row(what, sizes[number], "B", jsonl(traffic), "raw JSONL", target, note=note))
    last = turns[-1]
    growth = sizes[last] / sizes[turns[-2]]
    raw = (found[-1].other or 0) / (found[-2].other or 1)
    what = f"growth from {turns[-2]} to {last} turns"
    found.append(Row(what, growth, "x", raw, "raw JSONL", Target("<=", 4.2), note=note))
    return found


def _long(folder: Path) -> list[Row]:
    """The conversation of that many model calls whose messages come nearest to the wanted size."""
    made = [conversation(LONG, start) for start in range(len(trials()))]
    messages = min(made, key=lambda each: abs(len(line(each)) - LONG_BYTES))
    home, trial = Home(folder), TrialId("long", "0", 0)
    Keeper(home).keep(trial, read_trajectory(messages, "gpt-4o").events, Ending("completed"), config={})
    alone = home.cassette(trial).stat().st_size
    text = line(messages)
    traffic = list(events(messages, 1))
    what = f"cassette of a trial of {LONG} model calls"
    size = f"{len(text):,} B of message JSON"
    return [
        Row(
            f"{what}, messages and tools alone",
            alone,
            "B",
            len(zstandard.ZstdCompressor(3).compress(text)),
            "zstd -3 of the message JSON, once, at the end",
            Target("<=", 8000),
            note=f"{size}; imported, so without HTTP, ids and token counts: what a log of a mock model holds "
            "(Inspect: 18.9 kB for 33.5 kB, measured elsewhere); ours is flushed at every step: a crash loses none",
        ),
        Row(
            f"{what}, as HTTP exchanges",
            _ours(folder, traffic),
            "B",
            jsonl(traffic),
            "raw JSONL, tools too",
            Target("<=", 8000),
            note=f"{size}; with the headers, ids and token counts of a hosted provider, which are noise",
        ),
    ]
