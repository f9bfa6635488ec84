"""A tau-bench trajectory read as interactions: model calls, and tool calls with the results that are theirs.

A result belongs to a call of the assistant message before it, by order and id. Ids alone do not tell calls apart:
providers use an id twice in one conversation.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from attrs import field, frozen

from cassettes.model import Interaction, Mark, Reply, ToolRequest
from replay.effects import AS_DECLARED, Effects

from .taubench_tools import EFFECTS
from .timeline import UNKNOWN_MODEL, Asked, Timeline, Waiting, arguments_of, request_of

__all__ = ["UNKNOWN_MODEL", "Trajectory", "read_trajectory", "requests_of"]

_TEXT_ACTION_RESULT: Final = "API output:"

Message = Mapping[str, Any]


@frozen
class Trajectory:
    """What a trajectory holds.

    Attributes:
        events: interactions and marks, in the order in which they happened.
        remarks: what in it is broken or ambiguous.
    """

    events: list[Interaction | Mark] = field(factory=list)
    remarks: list[str] = field(factory=list)


def read_trajectory(messages: Sequence[Any], model: str = UNKNOWN_MODEL, effects: Effects = AS_DECLARED) -> Trajectory:
    """Read the messages of one trial.

    Args:
        messages: as recorded; what is no message is kept as a mark and remarked upon.
        model: the model's name, if known.
        effects: of tools, declared by the user.
    """
    return _Reading(model, effects).read(messages)


def requests_of(message: Message) -> tuple[ToolRequest, ...]:
    """The tool calls that an assistant message asks for."""
    return tuple(asked.request for asked in _asked_in(message))


def _asked_in(message: Message) -> list[Asked]:
    asked = message.get("tool_calls")
    return [_asked(item) for item in asked] if isinstance(asked, list) else []


def _asked(item: Any) -> Asked:
    kept = item if isinstance(item, dict) else {}
    function = kept.get("function")
    called = function if isinstance(function, dict) else {}
    return request_of(kept.get("id"), called.get("name"), called.get("arguments", ""))


class _Reading:
    """The state of reading one trajectory."""

    def __init__(self, model: str, effects: Effects) -> None:
        self._model = model
        self._timeline = Timeline("taubench", effects, EFFECTS)
        self._remarks: list[str] = []
        self._waiting = Waiting()
        self._asked_at = 0

    def read(self, messages: Sequence[Any]) -> Trajectory:
        for place, message in enumerate(messages):
            role = message.get("role") if isinstance(message, dict) else None
            if role == "assistant":
                self._model_call(place, message, list(messages[:place]))
            elif role == "tool":
                self._tool_result(place, message)
            elif role == "user":
                self._user(place, message)
            elif role != "system":
                self._remark(place, "is no message of a known role; kept as a mark")
                self._timeline.message("unknown", message)
        self._remark(self._asked_at, self._waiting.left_behind())
        return Trajectory(self._timeline.events, self._remarks)

    def _model_call(self, place: int, message: Message, history: list[Any]) -> None:
        asked = _asked_in(message)
        self._remark(self._asked_at, self._waiting.ask(asked))
        self._asked_at = place
        text = message.get("content")
        reply = Reply(text=text if isinstance(text, str) else None, tool_calls=tuple(item.request for item in asked))
        self._timeline.model(self._model, {"messages": history}, message, reply)

    def _tool_result(self, place: int, message: Message) -> None:
        identity = message.get("tool_call_id")
        fitting = self._waiting.take(identity)
        if fitting is None and identity is None:
            fitting = self._waiting.take_first()
            if fitting is not None:
                self._remark(place, f"a result without tool_call_id; taken as that of {fitting.request.name}")
        if fitting is None:
            self._remark(place, f"a result (tool_call_id {identity!r}) of no call just before it; kept as a mark")
            self._timeline.message("tool", message.get("content"), message)
            return
        name, asked = message.get("name"), fitting.request.name
        if name is not None and name != asked:
            self._remark(place, f"a result named {name!r} for a call of {asked!r}; kept under the call's name")
        arguments, problem = arguments_of(fitting)
        self._remark(place, problem)
        self._timeline.tool(asked, arguments, message.get("content"), detail={"tool_call_id": identity})

    def _user(self, place: int, message: Message) -> None:
        content = message.get("content")
        if isinstance(content, str) and content.startswith(_TEXT_ACTION_RESULT):
            self._remark(place, "a tool result inside a user message (an act or react agent); kept as a user's message")
        self._timeline.message("user", content)

    def _remark(self, place: int, what: str | None) -> None:
        if what is not None:
            self._remarks.append(f"message {place}: {what}")
