"""Recording a plain Python tool, and finding its recorded answer again."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable
from hashlib import blake2b
from pathlib import Path
from typing import Any

import trialtape as tt
from cassettes.canonical import key_of
from cassettes.model import Call, Interaction, TrialId, Value
from cassettes.redact import Redactor
from replay.playback import Playback
from replay.recording import PastWrite, Recording, context_of, digest_of
from replay.worlds import Found, World

from .peers import line
from .rows import Row, Target
from .timing import Cpu, best

__all__ = ["rows"]

PER_TRIAL = 50  # calls of a trial in the look-ups, every tenth of them a write


def rows(calls: int = 2000, rounds: int = 7) -> list[Row]:
    """Record and look up ``calls`` calls in each round."""
    with tempfile.TemporaryDirectory() as folder:
        return [*_recording(Path(folder), calls, rounds), *_looking_up(calls, rounds), _replayed(Path(folder), calls)]


def _flights(number: int) -> dict[str, Any]:
    """A result of about 450 bytes, other in each call."""
    return {
        "search": number,
        "flights": [
            {
                "flight_number": f"HAT{number * 7 % 1000:03}",
                "scheduled_departure_time_est": f"{number % 24:02}:{place * 17 % 60:02}:00",
                "status": "available",
                "available_seats": {"business": number % 11, "economy": number * 3 % 20},
                "price": 50 + number * 13 % 400,
            }
            for place in range(3)
        ],
    }


def _search(origin: str, destination: str, date: str, number: int) -> dict[str, Any]:  # noqa: ARG001  # as a tool has
    return _PREPARED[number]


_PREPARED: dict[int, dict[str, Any]] = {}
_recorded_search = tt.tool(effect="read", name="search")(_search)


def _loop(function: Callable[..., Any], calls: int) -> float:
    with Cpu() as cpu:
        for number in range(calls):
            function("JFK", "SEA", date="2024-05-20", number=number)
    return cpu.seconds / calls


def _recording(folder: Path, calls: int, rounds: int) -> list[Row]:
    _PREPARED.update({number: _flights(number) for number in range(calls)})

    def ours() -> float:
        with tt.trial(run="tools", task="record", home=folder):
            return _loop(_recorded_search, calls)

    def plain() -> float:
        with (folder / "plain.jsonl").open("ab") as file:

            def search(origin: str, destination: str, date: str, number: int) -> dict[str, Any]:
                result = _search(origin, destination, date, number)
                arguments = {"origin": origin, "destination": destination, "date": date, "number": number}
                file.write(line({"tool": "search", "arguments": arguments, "result": result}))
                file.flush()
                return result

            return _loop(search, calls)

    found = best(
        {
            "bare": lambda: _loop(_search, calls),
            "ours": ours,
            "plain": plain,
            "outside": lambda: _loop(_recorded_search, calls),
        },
        rounds,
    )
    return [
        Row(
            "record a tool call, CPU over the bare function",
            (found["ours"] - found["bare"]) * 1e6,
            "us",
            (found["plain"] - found["bare"]) * 1e6,
            "JSONL, append and flush",
            Target("<=", 30),
            note=f"`@tt.tool` inside `tt.trial`, no tracked state, {calls} calls in a trial, results of "
            f"{len(line(_flights(17)))} B of JSON; JSONL scans for no secrets, and does not compress, hash or frame",
        ),
        Row(
            "the same tool outside any trial, CPU over the bare function",
            (found["outside"] - found["bare"]) * 1e6,
            "us",
            note="a wrapper and the look at one context variable",
        ),
    ]


# -- looking up --------------------------------------------------------------------------------------------------------


def _trial(start: int) -> list[Interaction]:
    found = []
    for step in range(PER_TRIAL):
        number = start + step
        arguments = {"origin": "JFK", "destination": "SEA", "date": "2024-05-20", "number": number}
        effect = "write" if step % 10 == 5 else "read"
        call = Call("tool", "search", arguments, effect=effect)
        found.append(Interaction(step, call, Value(_flights(number)), 2 * step + 1, 2 * step + 2))
    return found


def _played_back(trial: list[Interaction], redactor: Redactor, cpu: Cpu) -> None:
    source = Playback(Recording(TrialId("bench", "0", 0), trial))
    with cpu:
        for interaction in trial:
            call = redactor.call(interaction.call)
            key = key_of(call)
            source.take_span(key)
            source.take(call, key)


def _from_a_world(trial: list[Interaction], redactor: Redactor, cpu: Cpu) -> None:
    source = World([Recording(TrialId("bench", "0", 0), trial)])
    digests = {i.step: digest_of(i.outcome) for i in trial}
    writes: list[PastWrite] = []
    with cpu:
        for interaction in trial:
            call = redactor.call(interaction.call)
            key = key_of(call)
            source.is_span(key)
            found = source.answer(call, key, context_of(call, interaction.started, writes))
            assert isinstance(found, Found)
            if call.may_write:
                digest = digests[interaction.step]
                writes.append(PastWrite(call, key, digest, interaction.started, interaction.ended))


def _from_a_dict(trial: list[Interaction], _: Redactor, cpu: Cpu) -> None:
    table = {_plain_key(i.call): i.outcome for i in trial}
    with cpu:
        for interaction in trial:
            table[_plain_key(interaction.call)]


def _looking_up(calls: int, rounds: int) -> list[Row]:
    trials = [_trial(start * PER_TRIAL) for start in range(max(1, calls // PER_TRIAL))]
    redactor = Redactor(b"k" * 32)

    def side(look_up: Callable[[list[Interaction], Redactor, Cpu], None]) -> Callable[[], float]:
        def run() -> float:
            cpu = Cpu()
            for trial in trials:
                look_up(trial, redactor, cpu)
            return cpu.seconds / (len(trials) * PER_TRIAL)

        return run

    found = best({"playback": side(_played_back), "world": side(_from_a_world), "plain": side(_from_a_dict)}, rounds)
    note = (
        f"what a session does before it serves: secrets of the arguments, key, context, look-up; trials of {PER_TRIAL} "
        "calls, every tenth a write that the others may notice"
    )
    return [
        Row(
            f"look a tool call up in {where}, CPU",
            found[side_name] * 1e6,
            "us",
            found["plain"] * 1e6,
            "a dict by BLAKE2b of sorted JSON",
            Target("<=", 10),
            note=note,
        )
        for where, side_name in (("replay", "playback"), ("a frozen world", "world"))
    ]


def _plain_key(call: Call) -> bytes:
    text = json.dumps([call.name, call.arguments], sort_keys=True)
    return blake2b(text.encode(), digest_size=16).digest()


def _replayed(folder: Path, calls: int, rounds: int = 3) -> Row:
    """The whole way of a tool call in replay, which is recorded again."""

    def ours() -> float:
        with tt.trial(run="replayed", task="record", home=folder, replay="tools/record#0"):
            return _loop(_recorded_search, calls)

    found = best({"bare": lambda: _loop(_search, calls), "ours": ours}, rounds)
    return Row(
        "a tool call answered in replay and recorded again, CPU",
        (found["ours"] - found["bare"]) * 1e6,
        "us",
        note="the look-up, and the record that a replayed trial leaves of itself",
    )
