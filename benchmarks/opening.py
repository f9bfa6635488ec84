"""Opening single steps of a long cassette."""

from __future__ import annotations

import json
import random
import tempfile
import time
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path

from attrs import evolve

from cassettes.model import Interaction
from cassettes.reader import Cassette

from .airline import Event, conversation, events, interactions, trials, write
from .peers import line
from .rows import Row, Target
from .timing import median

__all__ = ["rows"]


def rows(steps: int = 10_000, opened: int = 200, turns: int = 640, rounds: int = 5) -> list[Row]:
    """Write one cassette of ``steps`` steps, and open some of them; another of ``turns`` turns of one conversation.

    Raises:
        Skipped: the recordings are not there.
    """
    with tempfile.TemporaryDirectory() as name:
        return [*_steps(Path(name), steps, opened, rounds), _history(Path(name), turns, rounds)]


def _steps(folder: Path, steps: int, opened: int, rounds: int) -> list[Row]:
    path = write(folder / "0.cassette", _many(steps))
    raw = _raw_lines(folder / "0.jsonl", steps)
    made = random.Random(3)

    def some() -> list[int]:
        return made.sample(range(steps), min(opened, steps))

    def new_alone(number: int, cassette: Cassette) -> None:
        cassette.new_messages(number)

    def step(number: int, cassette: Cassette) -> None:
        cassette.step(number)
        cassette.new_messages(number)

    def anew(number: int, _: Cassette) -> None:
        step(number, Cassette(path))

    def side(what: Callable[[int, Cassette], None]) -> Callable[[], float]:
        """Other steps in each round, of a cassette from which nothing has been read."""

        def run() -> float:
            cassette, order = Cassette(path), some()
            began = time.perf_counter()
            for number in order:
                what(number, cassette)
            return (time.perf_counter() - began) / len(order)

        return run

    found = median({"step": side(step), "new alone": side(new_alone), "anew": side(anew)}, rounds)
    plain = median({"plain": lambda: _parsed(raw)}, 2)["plain"]
    note = (
        f"{steps:,} steps: recorded trials one after another in one cassette, each with its own growing history (an "
        "agent that starts over from time to time); random steps, other ones in each round, page cache warm"
    )
    name = "raw JSONL: parse all lines"
    what = f"open one step of {steps:,} with its new messages"
    return [
        Row(what, found["step"] * 1e3, "ms", plain * 1e3, name, Target("<", 1), note=note),
        Row("the same, opening the file each time", found["anew"] * 1e3, "ms", plain * 1e3, name, note=note),
        Row("its new messages alone", found["new alone"] * 1e3, "ms", note=note),
    ]


def _history(folder: Path, turns: int, rounds: int) -> Row:
    path = write(folder / "1.cassette", interactions(events(conversation(turns), 1)))
    last = max(step.step for step in Cassette(path) if step.call.kind == "model")

    def ours() -> float:
        cassette = Cassette(path)
        began = time.perf_counter()
        cassette.step(last)
        return time.perf_counter() - began

    return Row(
        f"open the last model call of {turns} turns, its whole history with it",
        median({"ours": ours}, rounds)["ours"] * 1e3,
        "ms",
        note="one conversation, so that the step's arguments are all messages of the file",
    )


def _parsed(raw: Path) -> float:
    """Seconds for the whole file, which a format without an index needs."""
    began = time.perf_counter()
    with raw.open("rb") as file:
        for text in file:
            json.loads(text)
    return time.perf_counter() - began


def _traffic() -> Iterator[Event]:
    """Recorded trials for ever; in each round their messages are others."""
    for turn in count():
        for seed, trial in enumerate(trials()):
            if turn:
                trial = [{**m, "content": f"{m['content']} ({turn})"} for m in trial]  # noqa: PLW2901  # a variant
            yield from events(trial, seed + 1000 * turn)


def _many(steps: int) -> Iterator[Interaction]:
    for step, interaction in zip(range(steps), interactions(_traffic()), strict=False):
        yield evolve(interaction, step=step)


def _raw_lines(path: Path, steps: int) -> Path:
    with path.open("wb") as file:
        for _, event in zip(range(steps), _traffic(), strict=False):
            file.write(line(event.raw))
    return path
