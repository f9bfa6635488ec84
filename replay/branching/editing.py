"""Another outcome for a recorded step: what a fork tells the agent instead of what came back then."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, Final

from attrs import evolve, frozen

from cassettes.errors import BadInput, UnkeepableValue
from cassettes.model import Call, Changed, Chunk, Interaction, Outcome, Reply, Stream, Value
from cassettes.values import pack
from replay.recording import digest_of

__all__ = ["UNEDITED", "Edit", "edited", "read_edit"]


class _Unedited:
    def __repr__(self) -> str:
        return "UNEDITED"


UNEDITED: Final = _Unedited()
"""No edit is wanted; None is a value that a tool may have returned."""

_JSON_HEAD: Final[Mapping[str, Any]] = {
    "status": 200,
    "headers": [["content-type", "application/json"]],
    "encoding": None,
    "http_version": "HTTP/1.1",
}

Reread = Callable[[Call, Outcome], Reply | None]
"""Reads a model's reply from an outcome, by the protocol of the call."""


@frozen
class Edit:
    """An interaction with another outcome.

    Attributes:
        digest: of the new outcome.
    """

    interaction: Interaction
    digest: str

    @property
    def step(self) -> int:
        """The step whose outcome was edited."""
        return self.interaction.step

    def told(self) -> str:
        """What it means, for people."""
        call = self.interaction.call
        told = f"the agent is told another outcome of step {self.step} ({call.kind} {call.name}) than was recorded"
        if self.interaction.patch is None:
            return told
        return f"{told}; what that step changed in the tracked state stays as recorded"


def edited(interaction: Interaction, value: Any, reread: Reread) -> Edit:
    """The interaction with ``value`` as its outcome.

    Args:
        interaction: a recorded one.
        value: of a tool its result. Of HTTP (most model calls) the body: JSON-like data, or a text; or the whole
            response, as a map with ``status`` and ``body``. Of a stream the text of the whole stream, which is handed
            out in one piece.
        reread: reads the model's reply from the new outcome.

    Raises:
        BadInput: the value cannot be the outcome of this step.
    """
    where = f"step {interaction.step} ({interaction.call.kind} {interaction.call.name})"
    outcome = _outcome(interaction, value, where)
    try:
        pack(value)
    except UnkeepableValue as error:
        raise BadInput(f"the edit of {where} cannot be kept: {error}") from error
    reply = None
    if interaction.call.kind == "model":
        reply = reread(interaction.call, outcome)
        if interaction.reply is not None and (reply is None or not _says_something(reply)):
            raise BadInput(
                f"the edit of {where} is no reply that the protocol {interaction.call.endpoint.partition(' ')[0]} "
                "knows; take the recorded one (`trialtape show TRIAL --step N --raw`) and change what you want changed"
            )
    return Edit(evolve(interaction, outcome=outcome, reply=reply, injected=None), digest_of(outcome))


def _outcome(interaction: Interaction, value: Any, where: str) -> Outcome:
    match interaction.outcome:
        case Stream(head, _):
            if not isinstance(value, str | bytes):
                raise BadInput(
                    f"{where} is a stream: its edit is the text of the whole stream, events and all; it is handed out "
                    "in one piece"
                )
            return Stream(head, (Chunk(0.0, value.encode() if isinstance(value, str) else value),))
        case Value({"status": int(), "body": _} as head) if interaction.call.kind in {"model", "http"}:
            return _response(head, value)
        case Value(Changed() as changed):
            return Value(Changed(value, changed.arguments))
        case _ if "method" in interaction.call.detail and interaction.call.kind in {"model", "http"}:
            return _response(_JSON_HEAD, value)  # it raised, or was cancelled: now it answers
        case _:
            return Value(value)


def _response(head: Mapping[str, Any], value: Any) -> Value:
    whole = isinstance(value, Mapping) and {"status", "body"} <= value.keys()
    body = value["body"] if whole else value
    if not isinstance(body, str | bytes):
        body = json.dumps(body, ensure_ascii=False)
    return Value({**head, **(value if whole else {}), "body": body})


def _says_something(reply: Reply) -> bool:
    return any(part for part in (reply.text, reply.tool_calls, reply.refusal, reply.error, reply.finish))


def read_edit(text: str, interaction: Interaction) -> Any:
    """The value that an edit's file holds: JSON, or else plain text without the line's end.

    Where the recorded result is a text, so is the file, whatever it looks like; a JSON text (in quotes) is one, too.
    """
    plain = text.removesuffix("\n").removesuffix("\r")
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return plain
    was_text = isinstance(interaction.outcome, Stream) or (
        isinstance(interaction.outcome, Value) and isinstance(interaction.outcome.result, str)
    )
    return value if not was_text or isinstance(value, str) else plain
