"""A model's reply read again, from an outcome that was edited after it had been recorded."""

from __future__ import annotations

from cassettes.model import Call, Outcome, Reply, Stream, Value

from .decoders import DECODERS

__all__ = ["reply_of"]


def reply_of(call: Call, outcome: Outcome) -> Reply | None:
    """The reply by the protocol that the call's endpoint names; None if it is no model's, or did not answer."""
    protocol = call.endpoint.partition(" ")[0]
    decoder = next((decoder for decoder in DECODERS if decoder.protocol == protocol), None)
    if decoder is None:
        return None
    match outcome:
        case Value({"status": int() as status, "body": str() | bytes() as body}):
            return decoder.reply(status, body)
        case Stream(_, chunks):
            data = (chunk.data for chunk in chunks)
            return decoder.reply_from_stream(b"".join(d.encode() if isinstance(d, str) else d for d in data))
        case _:
            return None
