"""The interactions and marks of a trial, put together in the order in which they happened."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

from attrs import frozen

from cassettes.model import Call, Effect, Interaction, Mark, Origin, Reply, ToolRequest, Value
from replay.effects import AS_DECLARED, Effects

from .reading import storable

__all__ = ["UNKNOWN_MODEL", "Asked", "Begun", "Timeline", "Waiting", "arguments_of", "request_of"]

UNKNOWN_MODEL: Final = "unknown"


@frozen
class Begun:
    """A tool call that has no result yet."""

    step: int
    call: Call
    started: int
    at: float


@frozen
class Asked:
    """A tool call that a model asked for, as far as the file tells.

    Attributes:
        given: the arguments as the file holds them.
    """

    request: ToolRequest
    given: Any


class Timeline:
    """Gathers the events of one trial.

    Args:
        endpoint: stands in the place of a model call's protocol: what was really sent is not known.
        effects: declared by the user; they count more than ``known``.
        known: effects of tools by name, as far as the file's origin tells; any other is ``unknown``.
    """

    def __init__(
        self, endpoint: str, effects: Effects = AS_DECLARED, known: Mapping[str, Effect] | None = None
    ) -> None:
        self.events: list[Interaction | Mark] = []
        self._endpoint = endpoint
        self._effects = effects
        self._known = known or {}
        self._steps = 0
        self._order = 0

    @property
    def step(self) -> int:
        """The number of the step that comes next."""
        return self._steps

    def model(
        self,
        name: str,
        request: Mapping[str, Any],
        answer: Any,
        reply: Reply,
        *,
        actor: str = "agent",
        at: float = 0.0,
        duration: float = 0.0,
    ) -> None:
        """A model call; ``messages`` in ``request`` are its history. Times in seconds since the trial began."""
        history = "messages" if "messages" in request else None
        call = Call(
            "model", storable(name), request, actor=actor, effect="unknown", endpoint=self._endpoint, history=history
        )
        self._add(self._begun(call, at), Value(answer), reply=reply, duration=duration)

    def tool(
        self,
        name: str,
        arguments: Mapping[str, Any],
        result: Any,
        *,
        actor: str = "agent",
        detail: Mapping[str, Any] | None = None,
        origin: Origin | None = None,
        at: float = 0.0,
    ) -> None:
        """A tool call with its result."""
        self.end(self.begin(name, arguments, actor=actor, detail=detail, at=at), result, origin=origin, at=at)

    def begin(
        self,
        name: str,
        arguments: Mapping[str, Any],
        *,
        actor: str = "agent",
        detail: Mapping[str, Any] | None = None,
        at: float = 0.0,
    ) -> Begun:
        """A tool call whose result comes later: it must be given to `end`."""
        effect = self._known.get(name, "unknown")
        call = Call("tool", name, arguments, actor=actor, effect=effect, detail=detail or {})
        return self._begun(self._effects.applied(call), at)

    def end(self, begun: Begun, result: Any, *, origin: Origin | None = None, at: float = 0.0) -> None:
        """The result of a tool call."""
        self._add(begun, Value(result), origin=origin or Origin(), duration=max(at - begun.at, 0.0))

    def message(self, role: str, content: Any, more: Mapping[str, Any] | None = None) -> None:
        """Something said that is no reply of a model, with what else is known of it.

        Content that is no text stands beside it, as ``whole``.
        """
        data: dict[str, Any] = {**(more or {}), "role": role, "content": None}
        if isinstance(content, str):
            data["content"] = content
        elif content is not None:
            data["whole"] = content
        self.events.append(Mark("message", 0.0, {**data, "step": self._steps}))

    def annotate(self, source: str, data: Any) -> None:
        """Something that the file holds about the trial, kept as it is."""
        self.events.append(Mark("annotation", 0.0, {"from": source, "data": data}))

    def _begun(self, call: Call, at: float) -> Begun:
        begun = Begun(self._steps, call, self._order + 1, at)
        self._steps += 1
        self._order += 1
        return begun

    def _add(
        self,
        begun: Begun,
        outcome: Value,
        *,
        reply: Reply | None = None,
        origin: Origin | None = None,
        duration: float = 0.0,
    ) -> None:
        self._order += 1
        self.events.append(
            Interaction(
                step=begun.step,
                call=begun.call,
                outcome=outcome,
                started=begun.started,
                ended=self._order,
                at=begun.at,
                duration=duration,
                origin=origin or Origin(),
                reply=reply,
            )
        )


class Waiting:
    """The tool calls of the last message that still wait for their results.

    A result belongs to a call of the message just before it, by order and id: providers use an id twice.
    """

    def __init__(self) -> None:
        self._left: list[Asked] = []
        self._answered = 0

    def ask(self, asked: Sequence[Asked]) -> str | None:
        """New calls take the place of those that wait; what to say of the old ones, if any were left."""
        told = self.left_behind()
        self._left, self._answered = list(asked), 0
        return told

    def take(self, identity: Any) -> Asked | None:
        """The first call with this id; None if there is none."""
        return self._taken(next((asked for asked in self._left if asked.request.id == identity), None))

    def take_like(self, name: Any, arguments: Any) -> Asked | None:
        """The first call of this name with these arguments, else the first of this name; None if there is none."""
        named = [asked for asked in self._left if asked.request.name == name]
        alike = [asked for asked in named if asked.given == arguments]
        return self._taken(next(iter([*alike, *named]), None))

    def take_first(self) -> Asked | None:
        """The call that waits longest; None if none waits."""
        return self._taken(next(iter(self._left), None))

    def left_behind(self) -> str | None:
        """What to say of calls that got no result: dropped by the harness if others of the same message got one."""
        if not self._left:
            return None
        names = ", ".join(asked.request.name for asked in self._left)
        why = "dropped by the harness" if self._answered else "without a result"
        told = f"{len(self._left)} tool call(s) {why}: {names}; kept in the reply"
        self._left = []
        return told

    def _taken(self, asked: Asked | None) -> Asked | None:
        if asked is not None:
            self._left.remove(asked)
            self._answered += 1
        return asked


def request_of(identity: Any, name: Any, arguments: Any) -> Asked:
    """A tool call as a model asked for it, whatever the file holds in its place."""
    text = arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
    told = storable(name) if isinstance(name, str) and name else UNKNOWN_MODEL
    return Asked(ToolRequest(identity if isinstance(identity, str) else None, told, text), arguments)


def arguments_of(asked: Asked) -> tuple[dict[str, Any], str | None]:
    """The arguments by name; and what to say if they are no JSON object: then they are kept as ``unparsed``."""
    given = asked.given
    if isinstance(given, str):
        try:
            given = json.loads(given)
        except (ValueError, RecursionError):
            given = None
    if isinstance(given, dict):
        return given, None
    told = f"the arguments of {asked.request.name} are no JSON object; kept as the text 'unparsed'"
    return {"unparsed": asked.request.arguments}, told
