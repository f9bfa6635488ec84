"""Who speaks when: the ticks of a conversation as stretches of speech, and sounds that are no turn.

A tick is a short time of fixed length in which either side speaks or does not. What is counted of it, and how, is
defined by tau2-bench ("Voice Interaction Metrics"), so that numbers compare with those published.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any, Final, Literal

from attrs import frozen

from cassettes.errors import BadInput

__all__ = ["Sound", "Speech", "Stretch", "speech_of"]

Kind = Literal["vocal tic", "non-directed"]
_SIDES: Final = ("user", "agent")


@frozen
class Sound:
    """Something the user's side is heard to do that is no turn: a cough, or words to somebody else.

    Attributes:
        first: its first tick.
        end: the first tick after it.
    """

    kind: Kind
    first: int
    end: int


@frozen
class Stretch:
    """Ticks in which one side speaks without a pause.

    Attributes:
        first: its first tick.
        end: the first tick after it.
        over: the other side speaks in its first tick.
        into: the other side speaks in the tick after it.
        backchannel: of the user: it only shows that it listens ("mm-hmm").
        sounds: of the user: what it holds besides a turn.
    """

    first: int
    end: int
    over: bool
    into: bool
    backchannel: bool = False
    sounds: frozenset[Kind] = frozenset()


@frozen
class Speech:
    """A conversation.

    Attributes:
        ticks: how many; the end signal, which is no speech, is left out.
        user, agent: their stretches, in order.
        outside: sounds while the user does not speak.
        spoken: by tick, whether the user and whether the agent speaks.
        tells_turns: False if no tick tells the user's turn taking: backchannels then look like interruptions.
    """

    ticks: int
    user: tuple[Stretch, ...]
    agent: tuple[Stretch, ...]
    outside: tuple[Sound, ...]
    spoken: tuple[tuple[bool, bool], ...]
    tells_turns: bool


def speech_of(ticks: Sequence[Any]) -> Speech:
    """Read the ticks of one conversation.

    Args:
        ticks: each a map with ``user_chunk`` and ``agent_chunk``, of which one that is not there is silent.

    Raises:
        BadInput: a tick is no map, or does not say whether somebody speaks.
    """
    spoken = [(_speaks(tick, "user", n), _speaks(tick, "agent", n)) for n, tick in enumerate(ticks)]
    if len(spoken) > 1 and spoken[-1][0] and not spoken[-2][0]:
        spoken.pop()  # a single tick of speech at the very end is the signal that ends the conversation
    chunks = [_chunk(tick, "user") for tick in ticks[: len(spoken)]]
    sounds = [frozenset(_sounds(chunk)) for chunk in chunks]
    actions = [_action(chunk) for chunk in chunks]
    users = [
        Stretch(
            first,
            end,
            *_around(spoken, first, end, other=1),
            backchannel=actions[first] == "backchannel",
            sounds=frozenset(kind for tick in sounds[first:end] for kind, _ in tick),
        )
        for first, end in _runs([user for user, _ in spoken])
    ]
    agents = [
        Stretch(first, end, *_around(spoken, first, end, other=0))
        for first, end in _runs([agent for _, agent in spoken])
    ]
    outside = _outside([frozenset() if user else heard for (user, _), heard in zip(spoken, sounds, strict=True)])
    tells = any(action is not None for action in actions)
    return Speech(len(spoken), tuple(users), tuple(agents), tuple(outside), tuple(spoken), tells)


def _speaks(tick: Any, side: str, place: int) -> bool:
    if not isinstance(tick, dict):
        raise BadInput(f"tick {place} is no map")
    if tick.get(f"{side}_chunk") is None:
        return False
    said = _chunk(tick, side).get("contains_speech")
    if not isinstance(said, bool):
        raise BadInput(f"tick {place} does not say whether the {side} speaks (contains_speech)")
    return said


def _chunk(tick: Mapping[str, Any], side: str) -> Mapping[str, Any]:
    found = tick.get(f"{side}_chunk")
    return found if isinstance(found, dict) else {}


def _action(chunk: Mapping[str, Any]) -> str | None:
    taken = chunk.get("turn_taking_action")
    action = taken.get("action") if isinstance(taken, dict) else None
    return action if isinstance(action, str) else None


def _sounds(chunk: Mapping[str, Any]) -> Iterator[tuple[Kind, str]]:
    for name in ("source_effects", "speech_effects"):
        effects = chunk.get(name)
        insert = effects.get("speech_insert") if isinstance(effects, dict) else None
        if isinstance(insert, dict):
            kind: Kind = "vocal tic" if insert.get("type", "vocal_tic") == "vocal_tic" else "non-directed"
            yield kind, str(insert.get("text"))


def _runs(flags: Sequence[bool]) -> Iterator[tuple[int, int]]:
    """First and end of each run of True."""
    place = 0
    for flag, run in groupby(flags):
        length = len(list(run))
        if flag:
            yield place, place + length
        place += length


def _around(spoken: Sequence[tuple[bool, bool]], first: int, end: int, *, other: int) -> tuple[bool, bool]:
    return spoken[first][other], end < len(spoken) and spoken[end][other]


def _outside(heard: Sequence[frozenset[tuple[Kind, str]]]) -> list[Sound]:
    every = sorted({sound for tick in heard for sound in tick})
    found = [Sound(sound[0], first, end) for sound in every for first, end in _runs([sound in tick for tick in heard])]
    return sorted(found, key=lambda sound: sound.first)
