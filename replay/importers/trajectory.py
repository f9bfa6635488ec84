"""A tau-bench trajectory read as interactions: model calls, and tool calls with the results that are theirs.

A result belongs to a call of the assistant message before it, by order and id. Ids alone do not tell calls apart:
providers use an id twice in one conversation.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

from attrs import field, frozen

from cassettes.model import Call, Interaction, Mark, Reply, ToolRequest, Value

from .taubench_tools import effect_of

__all__ = ["UNKNOWN_MODEL", "Trajectory", "read_trajectory", "requests_of"]

UNKNOWN_MODEL: Final = "unknown"
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


def read_trajectory(messages: Sequence[Any], model: str = UNKNOWN_MODEL) -> Trajectory:
    """Read the messages of one trial.

    Args:
        messages: as recorded; what is no message is kept as a mark and remarked upon.
        model: the model's name, if known.
    """
    return _Reading(model).read(messages)


def requests_of(message: Message) -> tuple[ToolRequest, ...]:
    """The tool calls that an assistant message asks for."""
    asked = message.get("tool_calls")
    if not isinstance(asked, list):
        return ()
    return tuple(_request(item) for item in asked)


def _request(item: Any) -> ToolRequest:
    kept = item if isinstance(item, dict) else {}
    function = kept.get("function")
    called = function if isinstance(function, dict) else {}
    arguments = called.get("arguments", "")
    return ToolRequest(
        id=kept["id"] if isinstance(kept.get("id"), str) else None,
        name=str(called.get("name", UNKNOWN_MODEL)),
        arguments=arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False),
    )


class _Reading:
    """The state of reading one trajectory: the calls of the last assistant message that still wait for results."""

    def __init__(self, model: str) -> None:
        self._model = model
        self._found = Trajectory()
        self._steps = 0
        self._order = 0
        self._waiting: list[ToolRequest] = []
        self._answered = 0
        self._asked_at = 0

    def read(self, messages: Sequence[Any]) -> Trajectory:
        for place, message in enumerate(messages):
            role = message.get("role") if isinstance(message, dict) else None
            if role == "assistant":
                self._leave_behind()
                self._model_call(place, message, list(messages[:place]))
            elif role == "tool":
                self._tool_result(place, message)
            elif role == "user":
                self._user(place, message)
            elif role != "system":
                self._remark(place, "is no message of a known role; kept as a mark")
                self._mark({"role": role, "content": message})
        self._leave_behind()
        return self._found

    def _model_call(self, place: int, message: Message, history: list[Any]) -> None:
        text = message.get("content")
        reply = Reply(text=text if isinstance(text, str) else None, tool_calls=requests_of(message))
        call = Call(
            "model", self._model, {"messages": history}, effect="unknown", endpoint="taubench", history="messages"
        )
        self._add(call, message, reply)
        self._waiting, self._answered, self._asked_at = list(reply.tool_calls), 0, place

    def _tool_result(self, place: int, message: Message) -> None:
        identity = message.get("tool_call_id")
        fitting = next((asked for asked in self._waiting if asked.id == identity), None)
        if fitting is None and self._waiting and identity is None:
            fitting = self._waiting[0]
            self._remark(place, f"a result without tool_call_id; taken as that of {fitting.name}")
        if fitting is None:
            self._remark(place, f"a result (tool_call_id {identity!r}) of no call just before it; kept as a mark")
            self._mark(dict(message))
            return
        self._waiting.remove(fitting)
        self._answered += 1
        named = message.get("name")
        if named is not None and named != fitting.name:
            self._remark(place, f"a result named {named!r} for a call of {fitting.name!r}; kept under the call's name")
        call = Call(
            "tool",
            fitting.name,
            self._arguments(place, fitting),
            effect=effect_of(fitting.name),
            detail={"tool_call_id": identity},
        )
        self._add(call, message.get("content"))

    def _arguments(self, place: int, asked: ToolRequest) -> dict[str, Any]:
        try:
            arguments = json.loads(asked.arguments)
        except (ValueError, RecursionError):
            arguments = None
        if isinstance(arguments, dict):
            return arguments
        self._remark(place, f"the arguments of {asked.name} are no JSON object; kept as the text 'unparsed'")
        return {"unparsed": asked.arguments}

    def _user(self, place: int, message: Message) -> None:
        content = message.get("content")
        if isinstance(content, str) and content.startswith(_TEXT_ACTION_RESULT):
            self._remark(place, "a tool result inside a user message (an act or react agent); kept as a user's message")
        self._mark({"role": "user", "content": content})

    def _leave_behind(self) -> None:
        """The calls that got no result: dropped by the harness if others of the same message got one."""
        if self._waiting:
            names = ", ".join(asked.name for asked in self._waiting)
            why = "dropped by the harness" if self._answered else "without a result"
            self._remark(self._asked_at, f"{len(self._waiting)} tool call(s) {why}: {names}; kept in the reply")
        self._waiting = []

    def _add(self, call: Call, outcome: Any, reply: Reply | None = None) -> None:
        interaction = Interaction(
            step=self._steps,
            call=call,
            outcome=Value(outcome),
            started=self._order + 1,
            ended=self._order + 2,
            reply=reply,
        )
        self._found.events.append(interaction)
        self._steps += 1
        self._order += 2

    def _mark(self, data: dict[str, Any]) -> None:
        self._found.events.append(Mark("message", 0.0, {**data, "step": self._steps}))

    def _remark(self, place: int, what: str) -> None:
        self._found.remarks.append(f"message {place}: {what}")
