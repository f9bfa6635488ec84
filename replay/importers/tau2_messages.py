"""The messages of a tau2 simulation as interactions: of the agent, of the simulated user, and of both sides' tools."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from attrs import field, frozen

from cassettes.model import Reply, Usage

from .reading import as_dict, as_list, number_in, seconds_between, text_in
from .tau2_audio import without_audio
from .timeline import UNKNOWN_MODEL, Asked, Timeline, Waiting, arguments_of, request_of

__all__ = ["Conversation", "actor_of", "asked_in", "read_messages", "reply_of"]

_ACTORS: Final = {"assistant": "agent", "user": "user"}


@frozen
class Conversation:
    """What the messages hold.

    Attributes:
        steps: for each message, the step that it became, or before which it was said.
        remarks: what in it is broken or ambiguous.
    """

    timeline: Timeline
    steps: list[int] = field(factory=list)
    remarks: list[str] = field(factory=list)


def actor_of(requestor: Any) -> str:
    """``agent`` or ``user``; tau2's default is the agent."""
    return _ACTORS.get(requestor, "agent") if isinstance(requestor, str) else "agent"


def asked_in(calls: Any) -> list[Asked]:
    """The tool calls in a list of them: tau2 keeps the arguments as an object."""
    return [
        request_of(call.get("id"), call.get("name"), call.get("arguments", {})) for call in map(as_dict, as_list(calls))
    ]


def reply_of(message: Mapping[str, Any], asked: Sequence[Asked]) -> Reply:
    """What a model answered, as far as the message tells."""
    usage = as_dict(message.get("usage"))
    raw = as_dict(message.get("raw_data"))
    tokens = [usage.get(name) for name in ("prompt_tokens", "completion_tokens")]
    known = [n if isinstance(n, int) and not isinstance(n, bool) and 0 <= n < 1 << 53 else None for n in tokens]
    return Reply(
        text=text_in(message, "content"),
        tool_calls=tuple(item.request for item in asked),
        model=text_in(raw, "model"),
        usage=None if known == [None, None] else Usage(input=known[0], output=known[1]),
    )


def read_messages(
    messages: Sequence[Any], timeline: Timeline, *, agent: str | None, user: str | None, start: Any = None
) -> Conversation:
    """Read the messages of one simulation.

    Args:
        messages: as recorded; what is no message is kept as a mark and remarked upon.
        timeline: is given the events.
        agent: the agent's model, if it is known.
        user: the simulated user's model; None if it is not known, or the user is no model.
        start: when the simulation began, as the file tells it.
    """
    return _Reading(timeline, agent, user, start).read(messages)


class _Reading:
    """The state of reading one conversation: what each side has seen, and which of its calls wait for results."""

    def __init__(self, timeline: Timeline, agent: str | None, user: str | None, start: Any) -> None:
        self._found = Conversation(timeline)
        self._timeline = timeline
        self._models = {"agent": agent, "user": user}
        self._start = start
        self._seen: dict[str, list[dict[str, Any]]] = {"agent": [], "user": []}
        self._waiting = {"agent": Waiting(), "user": Waiting()}
        self._asked_at = {"agent": 0, "user": 0}

    def read(self, messages: Sequence[Any]) -> Conversation:
        for place, message in enumerate(messages):
            self._found.steps.append(self._timeline.step)
            role = text_in(message, "role") if isinstance(message, dict) else None
            if role in _ACTORS:
                self._said(place, message, _ACTORS[role])
            elif role == "tool" and isinstance(message.get("tool_messages"), list):
                for part in message["tool_messages"]:
                    self._result(place, as_dict(part))
            elif role == "tool":
                self._result(place, message)
            elif role == "system":
                self._see(message, "agent", "user")
            else:
                self._remark(place, "is no message of a known role; kept as a mark")
                self._timeline.message("unknown", message)
        for actor, waiting in self._waiting.items():
            self._remark(self._asked_at[actor], waiting.left_behind())
        return self._found

    def _said(self, place: int, message: Mapping[str, Any], actor: str) -> None:
        asked = asked_in(message.get("tool_calls"))
        waiting = self._waiting[actor]
        self._remark(self._asked_at[actor], waiting.ask(asked))
        self._asked_at[actor] = place
        model, kept = self._models[actor], without_audio(message)
        if actor == "agent" or model is not None:
            took = number_in(message, "generation_time_seconds") or 0.0
            self._timeline.model(
                model or UNKNOWN_MODEL,
                {"messages": list(self._seen[actor])},
                kept,
                reply_of(kept, asked),
                actor=actor,
                at=max(self._at(message) - max(took, 0.0), 0.0),
                duration=max(took, 0.0),
            )
        else:
            self._timeline.message(
                "user", kept.get("content"), {"tool_calls": kept.get("tool_calls")} if asked else None
            )
        # What a side asks of its tools, and their results, the other side does not see.
        self._see(kept, *([actor] if asked else ["agent", "user"]))

    def _result(self, place: int, message: Mapping[str, Any]) -> None:
        actor, identity = actor_of(message.get("requestor")), message.get("id")
        asked = self._waiting[actor].take(identity)
        if asked is None and not identity:
            asked = self._waiting[actor].take_first()
            if asked is not None:
                self._remark(place, f"a result without an id; taken as that of {asked.request.name}")
        if asked is None:
            self._remark(place, f"a result (id {_short(identity)}) of no call just before it; kept as a mark")
            self._timeline.message("tool", message.get("content"), message)
            return
        arguments, problem = arguments_of(asked)
        self._remark(place, problem)
        detail = {"tool_call_id": identity, **({"error": True} if message.get("error") is True else {})}
        at = self._at(message)
        self._timeline.tool(asked.request.name, arguments, message.get("content"), actor=actor, detail=detail, at=at)
        self._see(message, actor)

    def _see(self, message: Mapping[str, Any], *actors: str) -> None:
        told = {
            name: message[name] for name in ("role", "content", "tool_calls", "id") if message.get(name) is not None
        }
        for actor in actors:
            self._seen[actor].append(told)

    def _at(self, message: Mapping[str, Any]) -> float:
        return seconds_between(self._start, message.get("timestamp")) or 0.0

    def _remark(self, place: int, what: str | None) -> None:
        if what is not None:
            self._found.remarks.append(f"message {place}: {what}")


def _short(identity: Any) -> str:
    text = ascii(identity)
    return text if len(text) <= 60 else text[:59] + "…"
