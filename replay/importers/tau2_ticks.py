"""The ticks of a voice simulation, flattened: what was said as utterances, tool calls in their order.

In full duplex both sides act in every tick (200 ms or so). Ticks in which a side goes on speaking are one utterance of
it. Within a tick the user's tools come before the agent's, as tau2 itself runs them. A result may come in a later tick
than its call.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from attrs import define, field

from cassettes.model import Reply

from .reading import as_dict, as_list, number_in, seconds_between, text_in
from .tau2_audio import without_audio
from .tau2_messages import Conversation, asked_in
from .timeline import UNKNOWN_MODEL, Asked, Begun, Timeline, arguments_of

__all__ = ["read_ticks", "tick_steps"]

_SIDES: Final = ("user", "agent")
_KEPT: Final = (
    "audio_path",
    "audio_content",
    "audio_script_gold",
    "turn_taking_action",
    "speech_effects",
    "source_effects",
    "channel_effects",
    "cost",
    "usage",
    "raw_data",
)


@define
class _Utterance:
    """What one side says without a pause.

    Attributes:
        ticks: how many; the numbers of the first and the last are ``first`` and ``last``.
        chunks: what its ticks hold beside the text, where it is anything.
        heard: of the user, what the agent's side made of it.
    """

    first: int
    last: int
    at: float
    ticks: int = 0
    texts: list[str] = field(factory=list)
    chunks: list[dict[str, Any]] = field(factory=list)
    heard: list[str] = field(factory=list)

    @property
    def text(self) -> str | None:
        return "".join(self.texts) or None

    def to_dict(self) -> dict[str, Any]:
        told = {"tick_start": self.first, "tick_end": self.last, "content": self.text, "chunks": self.chunks}
        return {**told, **({"heard": "".join(self.heard)} if self.heard else {})}


def read_ticks(ticks: Sequence[Any], timeline: Timeline, *, agent: str | None, user: str | None) -> Conversation:
    """Read the ticks of one simulation; the steps of the result are one per tick.

    Args:
        ticks: as recorded; what is no tick is remarked upon.
        timeline: is given the events, and the ticks themselves as an annotation, without sound.
        agent: the agent's model, if it is known.
        user: the simulated user's model; None if it is not known, or the user is no model.
    """
    return _Reading(ticks, timeline, agent, user).read()


def tick_steps(ticks: Sequence[Any], steps: Sequence[int]) -> dict[int, int]:
    """The step at which each tick stands, by the tick's own number."""
    numbers = [as_dict(tick).get("tick_id") for tick in ticks]
    return {number: step for number, step in zip(numbers, steps, strict=True) if isinstance(number, int)}


class _Reading:
    """The state of reading one simulation: which utterances go on, and which calls wait for results."""

    def __init__(self, ticks: Sequence[Any], timeline: Timeline, agent: str | None, user: str | None) -> None:
        self._ticks = ticks
        self._timeline = timeline
        self._models = {"agent": agent, "user": user}
        self._found = Conversation(timeline)
        self._utterances = {side: _utterances(ticks, side) for side in _SIDES}
        self._results = {side: _places(ticks, f"{side}_tool_results") for side in _SIDES}
        self._open: dict[str, list[tuple[str, Begun]]] = {side: [] for side in _SIDES}

    def read(self) -> Conversation:
        for place, tick in enumerate(self._ticks):
            self._found.steps.append(self._timeline.step)
            if not isinstance(tick, dict):
                self._remark(place, "is no tick; left out")
                continue
            at = _at(self._ticks, place)
            for side in _SIDES:
                self._say(place, side)
                self._ask(place, tick, side, at)
                for result in map(as_dict, as_list(tick.get(f"{side}_tool_results"))):
                    self._result(place, result, side, at)
        self._timeline.annotate("ticks", [_silent(tick) for tick in self._ticks])
        return self._found

    def _say(self, place: int, side: str) -> None:
        utterance = self._utterances[side].get(place)
        if utterance is None:
            return
        model = self._models[side]
        told = {name: value for name, value in utterance.to_dict().items() if name != "content"}
        if side == "user" and model is None:
            self._timeline.message("user", utterance.text, {**told, "spoken": True})
            return
        ticks = {"tick_start": utterance.first, "tick_end": utterance.last}
        length = _at(self._ticks, min(place + utterance.ticks, len(self._ticks) - 1)) - utterance.at
        self._timeline.model(
            model or UNKNOWN_MODEL,
            ticks,
            utterance.to_dict(),
            Reply(text=utterance.text),
            actor=side,
            at=utterance.at,
            duration=max(length, 0.0),
        )

    def _ask(self, place: int, tick: Mapping[str, Any], side: str, at: float) -> None:
        asked = asked_in(tick.get(f"{side}_tool_calls"))
        if not asked:
            return
        if side == "agent" or self._models[side] is not None:
            reply = Reply(tool_calls=tuple(item.request for item in asked))
            answer = {"tick": tick.get("tick_id", place), "tool_calls": tick[f"{side}_tool_calls"]}
            name = self._models[side] or UNKNOWN_MODEL
            self._timeline.model(name, {"tick": answer["tick"]}, answer, reply, actor=side, at=at)
        for item in asked:
            self._begin(place, tick, item, side, at)

    def _begin(self, place: int, tick: Mapping[str, Any], asked: Asked, side: str, at: float) -> None:
        identity = asked.request.id or ""
        results = self._results[side].get(identity, [])
        coming = next((number for number in results if number >= place), None)
        if coming is None:
            self._remark(place, f"a tool call without a result: {asked.request.name}; kept in the reply")
            return
        results.remove(coming)
        arguments, problem = arguments_of(asked)
        if problem is not None:
            self._remark(place, problem)
        detail = {"tool_call_id": identity, "tick": tick.get("tick_id", place)}
        begun = self._timeline.begin(asked.request.name, arguments, actor=side, detail=detail, at=at)
        self._open[side].append((identity, begun))

    def _result(self, place: int, result: Mapping[str, Any], side: str, at: float) -> None:
        identity = text_in(result, "id") or ""
        fitting = next((pair for pair in self._open[side] if pair[0] == identity), None)
        if fitting is None:
            self._remark(place, f"a result (id {ascii(identity)[:60]}) of no call before it; kept as a mark")
            self._timeline.message("tool", result.get("content"), result)
            return
        self._open[side].remove(fitting)
        self._timeline.end(fitting[1], result.get("content"), at=at)

    def _remark(self, place: int, what: str) -> None:
        self._found.remarks.append(f"tick {place}: {what}")


def _utterances(ticks: Sequence[Any], side: str) -> dict[int, _Utterance]:
    """The utterances of a side, by the place of their first tick."""
    found: dict[int, _Utterance] = {}
    going: _Utterance | None = None
    ids: set[str] = set()
    for place, tick in enumerate(map(as_dict, ticks)):
        chunk = without_audio(as_dict(tick.get(f"{side}_chunk")))
        if not chunk or chunk.get("contains_speech") is False:
            going = None
            continue
        number = tick["tick_id"] if isinstance(tick.get("tick_id"), int) else place
        if going is None:
            going = found[place] = _Utterance(number, number, _at(ticks, place))
            ids = set()
        going.last, going.ticks = number, going.ticks + 1
        now = {item for item in as_list(chunk.get("utterance_ids")) if isinstance(item, str)}
        text = text_in(chunk, "content")
        if text is not None:
            apart = bool(going.texts and now and ids and now.isdisjoint(ids))  # as tau2 joins them
            going.texts.append(f" {text}" if apart else text)
            ids = now
        more = {name: chunk[name] for name in _KEPT if chunk.get(name) is not None}
        if more:
            going.chunks.append({"tick": number, **more})
        heard = text_in(tick, "user_transcript")
        if side == "user" and heard is not None:
            going.heard.append(heard)
    return found


def _places(ticks: Sequence[Any], name: str) -> dict[str, list[int]]:
    """In which ticks results of each id stand."""
    found: dict[str, list[int]] = {}
    for place, tick in enumerate(map(as_dict, ticks)):
        for result in map(as_dict, as_list(tick.get(name))):
            found.setdefault(text_in(result, "id") or "", []).append(place)
    return found


def _at(ticks: Sequence[Any], place: int) -> float:
    """Seconds of the conversation before a tick: by the length of ticks if it is told, else by their times."""
    tick = as_dict(ticks[place])
    length = number_in(tick, "tick_duration_seconds")
    if length is not None and length > 0:
        return place * length
    return seconds_between(as_dict(ticks[0]).get("timestamp"), tick.get("timestamp")) or 0.0


def _silent(tick: Any) -> Any:
    if not isinstance(tick, dict):
        return tick
    chunks = {
        name: without_audio(chunk) for name in ("agent_chunk", "user_chunk") if (chunk := as_dict(tick.get(name)))
    }
    return {**tick, **chunks}
