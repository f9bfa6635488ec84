"""Recording a model call with its growing conversation: by itself, and through the real SDK beside vcrpy."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from itertools import count
from pathlib import Path
from typing import Any

import httpx2
import openai

import trialtape as tt
from cassettes.codec import snapshot
from cassettes.model import Header, Interaction, Value
from cassettes.redact import Redactor
from cassettes.writer import CassetteWriter
from replay.policy import RECORD
from replay.session import Session

from .airline import Exchange, conversation, events, interactions
from .peers import line, vcr_recorder
from .rows import Row, Target
from .timing import Cpu, best

__all__ = ["rows"]


def rows(turns: int = 12, conversations: int = 12, rounds: int = 7) -> list[Row]:
    """Record ``conversations`` conversations of ``turns`` model calls in each round.

    Raises:
        Skipped: the recordings are not there.
    """
    found = [
        [event for event in events(conversation(turns, start=7 * place), place) if isinstance(event, Exchange)]
        for place in range(conversations)
    ]
    with tempfile.TemporaryDirectory() as folder:
        return [
            *_by_itself(Path(folder), found, turns, rounds),
            *_through_the_sdk(Path(folder), found, turns, rounds),
        ]


def _by_itself(folder: Path, conversations: list[list[Exchange]], turns: int, rounds: int) -> list[Row]:
    ready: list[list[Interaction]] = [list(interactions(found)) for found in conversations]
    numbers = count()
    calls = sum(map(len, ready))

    def ours() -> float:
        path = folder / f"{next(numbers)}.cassettes"
        return sum(_recorded(trial, path / str(place)) for place, trial in enumerate(ready)) / calls

    def packing() -> float:
        with Cpu() as cpu:
            for trial in ready:
                for interaction in trial:
                    snapshot(interaction.call)
        return cpu.seconds / calls

    def plain() -> float:
        cpu = Cpu()
        for trial in conversations:
            with (folder / f"{next(numbers)}.jsonl").open("ab") as file, cpu:
                for exchange in trial:
                    file.write(line(exchange.raw))
                    file.flush()
        return cpu.seconds / calls

    found = best({"ours": ours, "packing": packing, "plain": plain}, rounds)
    size = sum(len(line(exchange.body)) for trial in conversations for exchange in trial) // calls
    note = (
        f"conversations of {turns} model calls, {size:,} B of JSON per request on average; the call is understood "
        "already (the adapter's part is in the rows of the SDK); everything new is scanned for secrets"
    )
    return [
        Row(
            f"record a model call of {turns} turns, the recorder alone, CPU",
            found["ours"] * 1e6,
            "us",
            found["plain"] * 1e6,
            "JSONL, append and flush",
            Target("<=", 150),
            note=note,
        ),
        Row("of which packing the arguments when the call begins", found["packing"] * 1e6, "us", note=note),
    ]


def _recorded(trial: list[Interaction], path: Path) -> float:
    """CPU seconds to record these calls through a session."""
    redactor = Redactor(b"k" * 32)
    writer = CassetteWriter(path, Header("bench", "0", 0, 0.0), redactor)
    session = Session(writer, RECORD, redactor)
    with Cpu() as cpu:
        for interaction in trial:
            ticket = session.begin(interaction.call)
            assert isinstance(interaction.outcome, Value)
            ticket.done(interaction.outcome.value, interaction.reply)
    writer.abandon()
    return cpu.seconds


# -- the real SDK ------------------------------------------------------------------------------------------------------


def _through_the_sdk(folder: Path, conversations: list[list[Exchange]], turns: int, rounds: int) -> list[Row]:
    answers: Iterator[bytes]

    def answer(_: httpx2.Request) -> httpx2.Response:
        return httpx2.Response(200, headers=headers, content=next(answers))

    def side(block: Callable[[int], AbstractContextManager[Any]], among: list[list[Exchange]]) -> float:
        """CPU seconds per call; what the blocks themselves take goes to ``around``."""
        nonlocal answers
        inside, whole = Cpu(), Cpu()
        for place, trial in enumerate(among):
            answers = iter([json.dumps(exchange.answer).encode() for exchange in trial])
            with whole, block(place), inside:
                for exchange in trial:
                    client.chat.completions.create(**exchange.body)
        around.append((whole.seconds - inside.seconds) / len(among))
        return inside.seconds / sum(map(len, among))

    around: list[float] = []
    numbers = count()
    few = conversations[:2]  # vcrpy is slow
    headers = {**conversations[0][0].headers}
    headers.pop("transfer-encoding")
    with openai.OpenAI(
        api_key="any", max_retries=0, http_client=httpx2.Client(transport=httpx2.MockTransport(answer))
    ) as client:
        found = best(
            {
                "raw": lambda: side(lambda _: nullcontext(), conversations),
                "ours": lambda: side(lambda place: tt.trial(run="sdk", task=str(place), home=folder), conversations),
            },
            rounds,
        )
        block = min(around[1::2])
        around.clear()
        found |= best(
            {
                "raw beside vcrpy": lambda: side(lambda _: nullcontext(), few),
                "vcrpy": lambda: side(lambda _: vcr_recorder(folder / f"{next(numbers)}.yaml"), few),
            },
            min(rounds, 2),
        )
        their_block = min(around[1::2])
    ours, theirs = found["ours"] - found["raw"], found["vcrpy"] - found["raw beside vcrpy"]
    note = (
        f"the real openai SDK over httpx2 with an in-process MockTransport, {turns} calls in a trial; vcrpy matches "
        "bodies, so that it replays what we replay; between the SDK's own work (2 to 3 ms a call) the same "
        "functions of ours take two to three times as long as in the loop of the recorder alone, presumably because "
        "caches are cold"
    )
    return [
        Row(
            "record a model call of the openai SDK, CPU over the raw call",
            ours * 1e6,
            "us",
            theirs * 1e6,
            "vcrpy",
            Target("<=", 150),
            note=note,
        ),
        Row(
            "begin and end a trial around them, CPU",
            block * 1e3,
            "ms",
            their_block * 1e3,
            "vcrpy: patch, and save its YAML",
            note=note,
        ),
        Row(
            "the whole call of the openai SDK, recorded, CPU",
            found["ours"] * 1e6,
            "us",
            found["raw"] * 1e6,
            "raw call",
            note=note,
        ),
    ]
