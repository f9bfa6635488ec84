"""What happened between two speakers: turns answered or not, interruptions yielded to or not, sounds ignored or not.

Event definitions and windows are those of tau2-bench ("Voice Interaction Metrics", version 1.0).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

from attrs import asdict, field, frozen

from .speech import Kind, Sound, Speech, Stretch

__all__ = ["WINDOWS", "Turns", "added", "turns_of"]

WINDOWS: Final = {"interruption": 2.0, "ignored": 1.0, "unanswered": 2.0}
"""Seconds in which the agent must stop when it is interrupted; in which it must not stop at a sound that is no turn;
and after such a sound in silence, in which it must not begin to speak."""


@frozen
class Turns:
    """Events of conversations, and seconds of them.

    Attributes:
        response_gaps: of each user turn that was answered, seconds from its end to the agent's first tick.
        unanswered: user turns after which the user had to speak again first.
        yield_gaps: of each interruption that the agent yielded to, seconds until it was silent.
        kept_on: interruptions that it did not yield to.
        agent_interruptions: times that the agent began while the user spoke.
        ignored: by sound (``backchannel``, ``vocal tic``, ``non-directed``) how often the agent took no notice.
        noticed: likewise, how often it stopped, or answered.
        agent_seconds, user_seconds: of speech; ``overlap_seconds``, of both at once; ``silent_seconds``, of neither.
        longest_silence: in seconds.
        seconds: of all.
    """

    response_gaps: tuple[float, ...] = ()
    unanswered: int = 0
    yield_gaps: tuple[float, ...] = ()
    kept_on: int = 0
    agent_interruptions: int = 0
    ignored: dict[str, int] = field(factory=dict)
    noticed: dict[str, int] = field(factory=dict)
    agent_seconds: float = 0.0
    user_seconds: float = 0.0
    overlap_seconds: float = 0.0
    silent_seconds: float = 0.0
    longest_silence: float = 0.0
    seconds: float = 0.0

    def to_dict(self) -> dict[str, Any]:
        """The same as JSON-like data."""
        return asdict(self)


def turns_of(speech: Speech, tick: float) -> Turns:
    """The events of one conversation.

    Args:
        speech: who speaks when.
        tick: length of a tick in seconds.
    """
    answered, unanswered = _responses(speech)
    yielded, kept_on = _yields(speech, _ticks("interruption", tick))
    reactions = [*_at_sounds_in_turns(speech, tick), *_at_sounds_outside(speech, tick)]
    silent = [not user and not agent for user, agent in speech.spoken]
    return Turns(
        response_gaps=tuple(gap * tick for gap in answered),
        unanswered=unanswered,
        yield_gaps=tuple(gap * tick for gap in yielded),
        kept_on=kept_on,
        agent_interruptions=sum(stretch.over for stretch in speech.agent),
        ignored=_counted(name for name, noticed in reactions if not noticed),
        noticed=_counted(name for name, noticed in reactions if noticed),
        agent_seconds=sum(agent for _, agent in speech.spoken) * tick,
        user_seconds=sum(user for user, _ in speech.spoken) * tick,
        overlap_seconds=sum(user and agent for user, agent in speech.spoken) * tick,
        silent_seconds=sum(silent) * tick,
        longest_silence=_longest(silent) * tick,
        seconds=speech.ticks * tick,
    )


def added(all_of: Sequence[Turns]) -> Turns:
    """The events of several conversations together."""
    return Turns(
        response_gaps=tuple(gap for one in all_of for gap in one.response_gaps),
        unanswered=sum(one.unanswered for one in all_of),
        yield_gaps=tuple(gap for one in all_of for gap in one.yield_gaps),
        kept_on=sum(one.kept_on for one in all_of),
        agent_interruptions=sum(one.agent_interruptions for one in all_of),
        ignored=_counted(name for one in all_of for name, times in one.ignored.items() for _ in range(times)),
        noticed=_counted(name for one in all_of for name, times in one.noticed.items() for _ in range(times)),
        agent_seconds=sum(one.agent_seconds for one in all_of),
        user_seconds=sum(one.user_seconds for one in all_of),
        overlap_seconds=sum(one.overlap_seconds for one in all_of),
        silent_seconds=sum(one.silent_seconds for one in all_of),
        longest_silence=max((one.longest_silence for one in all_of), default=0.0),
        seconds=sum(one.seconds for one in all_of),
    )


def _responses(speech: Speech) -> tuple[list[int], int]:
    """Gaps in ticks of the turns that were answered, and how many were not; the last turn may be neither.

    As published, a turn in the tick after which the agent speaks is none: whoever answers within a tick was no event.
    """
    turns = [stretch for stretch in speech.user if not stretch.backchannel and not stretch.into]
    gaps: list[int] = []
    unanswered = 0
    for place, turn in enumerate(turns):
        reply = next((stretch.first for stretch in speech.agent if stretch.first >= turn.end), None)
        again = turns[place + 1].first if place + 1 < len(turns) else None
        if reply is not None and (again is None or reply <= again):
            gaps.append(reply - turn.end)
        elif again is not None:
            unanswered += 1
    return gaps, unanswered


def _yields(speech: Speech, window: int) -> tuple[list[int], int]:
    interruptions = [s for s in speech.user if s.over and not s.backchannel and not s.sounds]
    stops = [_stop(speech, stretch.first, window) for stretch in interruptions]
    return [stop for stop in stops if stop is not None], stops.count(None)


def _stop(speech: Speech, first: int, window: int) -> int | None:
    """After how many ticks from ``first`` on the agent is silent, if it is within the window."""
    return next((n for n, (_, agent) in enumerate(speech.spoken[first : first + window]) if not agent), None)


def _at_sounds_in_turns(speech: Speech, tick: float) -> Iterator[tuple[str, bool]]:
    """The agent's reaction to what the user does within a stretch of speech: which sound, and whether it noticed."""
    for stretch in speech.user:
        name = _name(stretch)
        if stretch.over and name is not None:
            yield name, _stop(speech, stretch.first, _ticks("ignored", tick)) is not None
        elif not stretch.over and stretch.sounds:
            kind: Kind = "vocal tic" if "vocal tic" in stretch.sounds else "non-directed"
            yield kind, _begins(speech, stretch.first, stretch.end + _ticks("unanswered", tick))


def _at_sounds_outside(speech: Speech, tick: float) -> Iterator[tuple[str, bool]]:
    """Likewise to sounds while the user does not speak.

    As published, one under the agent's speech counts only if the agent stops: that it goes on is no event.
    """
    for sound in speech.outside:
        over = next((stretch for stretch in speech.agent if stretch.first <= sound.first < stretch.end), None)
        if over is None:
            yield sound.kind, _begins(speech, sound.first, sound.end + _ticks("unanswered", tick))
        elif _stops_soon(over, sound, tick):
            yield sound.kind, True


def _stops_soon(stretch: Stretch, sound: Sound, tick: float) -> bool:
    return stretch.end - sound.first <= _ticks("ignored", tick)


def _begins(speech: Speech, first: int, last: int) -> bool:
    return any(first <= stretch.first <= last for stretch in speech.agent)


def _name(stretch: Stretch) -> str | None:
    """What a stretch that begins over the agent's speech counts as; None: an interruption."""
    if stretch.backchannel:
        return "backchannel"
    return next((kind for kind in ("vocal tic", "non-directed") if kind in stretch.sounds), None)


def _ticks(window: str, tick: float) -> int:
    return int(WINDOWS[window] / tick + 1e-9)


def _longest(flags: Sequence[bool]) -> int:
    longest = now = 0
    for flag in flags:
        now = now + 1 if flag else 0
        longest = max(longest, now)
    return longest


def _counted(names: Iterator[str]) -> dict[str, int]:
    found: dict[str, int] = {}
    for name in names:
        found[name] = found.get(name, 0) + 1
    return dict(sorted(found.items()))
