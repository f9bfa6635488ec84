"""The same agent under trialtape, vcrpy and cassetter: recording, replaying, opening, and the size of the file."""

from __future__ import annotations

import json
import math
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, nullcontext
from itertools import count
from pathlib import Path
from typing import Any, Final

import httpx2
import openai
from attrs import frozen

from tests.provider import Provider

from .airline import Exchange, conversation, events
from .recorders import VERSION, Recorder, recorders
from .rows import Row, Target
from .timing import Cpu, best, median

__all__ = ["rows"]

SAMPLED: Final = 20
"""Calls that vcrpy answers of a longer conversation: it looks through all of it for each, so they cost alike."""

_URL: Final = "http://provider.test/v1"
_numbers = count()


@frozen
class Spent:
    """CPU seconds of one block: to begin it, for each call, and to end it."""

    begin: float
    call: float
    end: float

    def whole(self, calls: int) -> float:
        """For each call, with its share of the block."""
        return self.call + (self.begin + self.end) / calls


def rows(
    turns: Sequence[int] = (12, 40, 160),
    sizes: Sequence[int] = (100, 400, 1600),
    chunks: int = 10,
    delay: float = 0.03,
    vcr_up_to: int = 400,
    rounds: int = 3,
) -> list[Row]:
    """Conversations of so many ``turns``, recordings of so many small calls, and one stream of ``chunks`` chunks.

    Args:
        turns: model calls of a conversation that grows.
        sizes: small calls, all different.
        chunks: of a stream.
        delay: seconds before each of them.
        vcr_up_to: vcrpy gets no more small calls, because it grows with the square.
        rounds: of which the best counts; vcrpy has one.

    Raises:
        Skipped: the recordings, or cassetter, are not there.
    """
    with tempfile.TemporaryDirectory() as name:
        ours, vcrpy, cassetter = sides = recorders(Path(name))
        found: list[Row] = []
        for number in turns:
            traffic = [event for event in events(conversation(number), number) if isinstance(event, Exchange)]
            found += _conversation(sides, traffic, rounds)
        found += _growth([ours, cassetter], vcrpy, sizes, vcr_up_to, rounds)
        return [*found, *_first_chunk([ours, vcrpy, cassetter], chunks, delay, rounds)]


# -- a conversation that grows -----------------------------------------------------------------------------------------


def _spent(block: AbstractContextManager[Any], exchanges: Sequence[Exchange], *, live: bool) -> Spent:
    """Ask the openai SDK all of it in the block; every answer must be the right one."""
    answers: Iterator[Exchange] = iter(exchanges if live else ())
    headers = {name: text for name, text in exchanges[0].headers.items() if name != "transfer-encoding"}

    def answer(_: httpx2.Request) -> httpx2.Response:
        return httpx2.Response(200, headers=headers, content=json.dumps(next(answers).answer).encode())

    begin, calls, end = Cpu(), Cpu(), Cpu()
    with ExitStack() as stack:
        with begin:
            stack.enter_context(block)
        # cassetter sees a client's own transport only if the client was made inside the block.
        http = httpx2.Client(transport=httpx2.MockTransport(answer))
        with openai.OpenAI(api_key="any", base_url=_URL, max_retries=0, http_client=http) as client, calls:
            got = [client.chat.completions.create(**exchange.body).id for exchange in exchanges]
        with end:
            stack.close()
    assert got == [exchange.answer["id"] for exchange in exchanges]
    return Spent(begin.seconds, calls.seconds / len(exchanges), end.seconds)


def _conversation(sides: Sequence[Recorder], exchanges: Sequence[Exchange], rounds: int) -> list[Row]:
    turns = len(exchanges)
    spent: dict[str, dict[str, float]] = {}
    names: dict[str, str] = {}
    opened: dict[str, float] = {}

    def recorded(side: Recorder) -> float:
        name = names[side.name] = f"t{turns}-{next(_numbers)}"
        return _spent(side.record(name), exchanges, live=True).whole(turns)

    def replayed(side: Recorder) -> float:
        asked = exchanges if side in fast else exchanges[:: turns // SAMPLED + 1]
        try:
            found = _spent(side.replay(names[side.name]), asked, live=False)
        except side.unreadable:
            opened[side.name] = math.nan
            return math.nan
        opened[side.name] = min(opened.get(side.name, found.begin), found.begin)
        return found.call

    def bare() -> float:
        return _spent(nullcontext(), exchanges, live=True).call

    fast = [side for side in sides if side.name != "vcrpy"]
    slow = [side for side in sides if side.name == "vcrpy"]
    for what, measure in {"record": recorded, "replay": replayed}.items():
        spent[what] = best({"bare": bare} | {side.name: _of(measure, side) for side in fast}, rounds)
        spent[what] |= best({side.name: _of(measure, side) for side in slow}, 1)
    note = (
        f"the real openai SDK over httpx2 with an in-process MockTransport, {turns} calls of a growing conversation, "
        "bodies matched by all; trialtape records the replay, too; recording with its share of beginning and ending "
        f"the block, which for vcrpy and cassetter {VERSION} is when the file is written; best of {rounds} rounds; of "
        f"vcrpy one, in which at most {SAMPLED} evenly spread calls are replayed"
    )
    over = {name: seconds - spent["record"]["bare"] for name, seconds in spent["record"].items()}
    ours = sides[0].name
    size = {side.name: side.size(names[side.name]) for side in sides}
    return [
        *(
            _beside(f"{what}, CPU", found[ours] * 1e3, found[side.name] * 1e3, side.name, note)
            for what, found in (
                (f"record a call of {turns} turns, over the bare call", over),
                (f"replay a call of {turns} turns, the SDK's work with it", spent["replay"]),
                (f"begin a replay of {turns} turns (open, and make ready)", opened),
            )
            for side in sides[1:]
        ),
        *(
            Row(f"file of a conversation of {turns} turns", size[ours], "B", size[side.name], side.name, note=note)
            for side in sides[1:]
        ),
    ]


def _beside(what: str, ours: float, other: float, name: str, note: str) -> Row:
    if math.isnan(other):
        return Row(what, ours, "ms", other_name=f"{name} cannot read the file that it wrote", note=note)
    return Row(what, ours, "ms", other, name, note=note)


def _of(measure: Callable[[Recorder], float], side: Recorder) -> Callable[[], float]:
    return lambda: measure(side)


# -- many small calls --------------------------------------------------------------------------------------------------


def _small(block: AbstractContextManager[Any], size: int, *, live: bool) -> float:
    """CPU seconds of so many small calls over the bare client, the block's beginning and end left out."""

    def answer(request: httpx2.Request) -> httpx2.Response:
        assert live
        return httpx2.Response(200, json={"echo": json.loads(request.content)})

    cpu = Cpu()
    with block, httpx2.Client(transport=httpx2.MockTransport(answer)) as client, cpu:
        for number in range(size):
            assert client.post(f"{_URL}/echo", json={"number": number}).json() == {"echo": {"number": number}}
    return cpu.seconds


def _growth(sides: Sequence[Recorder], vcrpy: Recorder, sizes: Sequence[int], vcr_up_to: int, rounds: int) -> list[Row]:
    note = (
        "small requests of a bare httpx2 client to one URL, all different, bodies matched; what the client itself "
        f"takes is taken off; vcrpy up to {vcr_up_to:,} only"
    )
    found: list[Row] = []
    over: dict[str, dict[int, tuple[float, float]]] = {}
    for size in sizes:
        bare = min(_small(nullcontext(), size, live=True) for _ in range(rounds))
        for side in [*sides, *([vcrpy] if size <= vcr_up_to else [])]:
            times = 1 if side is vcrpy else rounds
            names = [f"s{size}-{next(_numbers)}" for _ in range(times)]
            recorded = min(_small(side.record(name), size, live=True) for name in names)
            replayed = min(_small(side.replay(name), size, live=False) for name in names)
            over.setdefault(side.name, {})[size] = (max(recorded - bare, 1e-6), max(replayed - bare, 1e-6))
    ours = over[sides[0].name]
    for place, what in enumerate(("record", "replay")):
        for size in sizes:
            for peer in (name for name in over if name != sides[0].name and size in over[name]):
                told = f"{what} {size:,} small calls, CPU over the bare client"
                found.append(Row(told, ours[size][place], "s", over[peer][size][place], peer, note=note))
        before, last = sizes[-2:]
        growth = {side.name: over[side.name][last][place] / over[side.name][before][place] for side in sides}
        found.append(
            Row(
                f"{what}: growth from {before:,} to {last:,} small calls",
                growth[sides[0].name],
                "x",
                growth[sides[1].name],
                f"{sides[1].name}; linear is {last / before:g} x",
                Target("<=", 1.5 * last / before),
                note=note,
            )
        )
    return found


# -- a stream ----------------------------------------------------------------------------------------------------------


def _first_chunk(sides: Sequence[Recorder], chunks: int, delay: float, rounds: int) -> list[Row]:
    provider = Provider().start()
    headers = {"x-chunks": str(chunks), "x-delay": str(delay)}

    def first(block: AbstractContextManager[Any]) -> float:
        with block, openai.OpenAI(base_url=provider.base_url, api_key="any", max_retries=0) as client:
            messages = [{"role": "user", "content": f"call {next(_numbers)}"}]
            options: Any = {"model": "m", "messages": messages, "stream": True, "extra_headers": headers}
            began = time.perf_counter()
            with client.chat.completions.create(**options) as stream:
                pieces = iter(stream)
                next(pieces)
                seconds = time.perf_counter() - began
                for _ in pieces:
                    pass
        return seconds

    def fresh(side: Recorder) -> float:
        return first(side.record(f"stream-{next(_numbers)}"))

    try:
        found = median({"live": lambda: first(nullcontext())} | {side.name: _of(fresh, side) for side in sides}, rounds)
    finally:
        provider.stop()
    note = (
        f"the openai SDK against a local server, {chunks} chunks, {delay * 1e3:.0f} ms before each; live, the first "
        f"came after {found['live'] * 1e3:.0f} ms; median of {rounds}; an early one counts as 0"
    )
    late = {name: max(seconds - found["live"], 0.0) * 1e3 for name, seconds in found.items()}
    ours = sides[0].name
    return [
        Row(
            "first chunk of a recorded stream, after live",
            late[ours],
            "ms",
            late[side.name],
            side.name,
            Target("<=", 20),
            note=note,
        )
        for side in sides[1:]
    ]
