"""Replaying N model calls: does the time of matching grow with N alone?"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from adapters.http import ask, response_head
from cassettes.canonical import key_of
from cassettes.model import Call, Interaction, TrialId, Value
from cassettes.reader import Cassette
from cassettes.redact import Redactor
from replay.playback import Playback
from replay.recording import Recording
from replay.worlds import World

from .airline import URL, write
from .peers import vcr_cassette, vcr_loaded, vcr_request
from .rows import Row, Target
from .timing import Cpu, best

__all__ = ["rows"]

_HEADERS = {"content-type": "application/json"}
_ANSWER = {"choices": [{"index": 0, "message": {"role": "assistant", "content": "yes"}, "finish_reason": "stop"}]}


def rows(sizes: tuple[int, ...] = (100, 400, 1600), vcr_up_to: int = 400, rounds: int = 5) -> list[Row]:
    """Replay recordings of so many calls; vcrpy only those of up to ``vcr_up_to``."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        ours = {size: _ours(folder, size, rounds) for size in sizes}
        theirs = {size: _vcrpy(folder, size) for size in sizes if size <= vcr_up_to}
    note = (
        "tiny model calls, all different, asked again in order; ours: secrets of the arguments, key, look-up by causal "
        f"order; vcrpy: `play_response` with body matching, up to {vcr_up_to} only because it grows with the square"
    )
    before, last = sizes[-2:]
    return [
        *(
            Row(
                f"match {size:,} replayed calls, CPU",
                ours[size][0],
                "s",
                theirs.get(size),
                "vcrpy" if size in theirs else "",
                Target("<", 1) if size == 1600 else None,
                note=note,
            )
            for size in sizes
        ),
        _growth("matching", before, last, ours[last][0] / ours[before][0], Target("<=", 1.3 * last / before)),
        Row(f"open a recording of {last:,} calls for replay, CPU", ours[last][1], "s", note="read it, and make keys"),
        *_worlds(sizes[0], before, rounds),
    ]


def _growth(what: str, before: int, last: int, times: float, target: Target | None = None, note: str = "") -> Row:
    return Row(f"{what}: from {before:,} to {last:,} calls", times, "x", last / before, "linear", target, note=note)


def _body(number: int) -> dict[str, Any]:
    return {"model": "gpt-x", "messages": [{"role": "user", "content": f"question {number}"}]}


def _call(number: int) -> Call:
    return ask("POST", URL, _HEADERS.items(), json.dumps(_body(number)).encode()).call


def _ours(folder: Path, size: int, rounds: int) -> tuple[float, float]:
    """CPU seconds of matching, and of opening."""
    calls = [_call(number) for number in range(size)]
    outcome = Value({**response_head(200, _HEADERS.items()), "body": json.dumps(_ANSWER)})
    recorded = [Interaction(step, call, outcome, 2 * step + 1, 2 * step + 2) for step, call in enumerate(calls)]
    path = write(folder / f"{size}.cassette", recorded)
    redactor = Redactor(b"k" * 32)

    def opening() -> float:
        with Cpu() as cpu:
            Playback(Recording(TrialId("bench", "0", 0), Cassette(path)))
        return cpu.seconds

    def matching() -> float:
        source = Playback(Recording(TrialId("bench", "0", 0), Cassette(path)))
        with Cpu() as cpu:
            for asked in calls:
                call = redactor.call(asked)
                key = key_of(call)
                source.take_span(key)
                source.take(call, key)
        return cpu.seconds

    found = best({"matching": matching, "opening": opening}, rounds)
    return found["matching"], found["opening"]


def _vcrpy(folder: Path, size: int) -> float:
    path = folder / f"{size}.yaml"
    path.write_text(vcr_cassette([(_body(number), _HEADERS, _ANSWER, _HEADERS) for number in range(size)]), "utf-8")
    requests = [vcr_request(_body(number), _HEADERS) for number in range(size)]
    cassette = vcr_loaded(path)
    with Cpu() as cpu:
        for request in requests:
            cassette.play_response(request)
    return cpu.seconds


def _worlds(few: int, many: int, rounds: int) -> list[Row]:
    """Making a world of tools that declare nothing, so that each may write what all later ones read."""

    def side(size: int) -> Callable[[], float]:
        recorded = [
            Interaction(step, Call("tool", "search", {"number": step}), Value(step), 2 * step + 1, 2 * step + 2)
            for step in range(size)
        ]

        def run() -> float:
            with Cpu() as cpu:
                World([Recording(TrialId("bench", "0", 0), recorded)])
            return cpu.seconds

        return run

    found = best({"few": side(few), "many": side(many)}, rounds)
    note = "no declared effects: each call counts as a write that all later ones may notice"
    return [
        Row(f"make a world of {many:,} undeclared tool calls, CPU", found["many"], "s", note=note),
        _growth("making it", few, many, found["many"] / found["few"], note=note),
    ]
