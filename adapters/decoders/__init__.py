"""Provider protocols, in the order in which they are asked."""

from __future__ import annotations

from typing import Any, Final

from .anthropic_messages import ANTHROPIC_MESSAGES
from .bedrock_converse import BEDROCK_CONVERSE
from .google_generate import GOOGLE_GENERATE
from .openai_chat import OPENAI_CHAT
from .openai_responses import OPENAI_RESPONSES
from .protocol import Decoder

__all__ = ["DECODERS", "Decoder", "recognise"]

DECODERS: Final[tuple[Decoder, ...]] = (
    OPENAI_CHAT,
    OPENAI_RESPONSES,
    ANTHROPIC_MESSAGES,
    GOOGLE_GENERATE,
    BEDROCK_CONVERSE,
)


def recognise(method: str, path: str, body: Any) -> Decoder | None:
    """The first decoder that knows this request; ``body`` is parsed JSON."""
    return next((decoder for decoder in DECODERS if decoder.recognises(method, path, body)), None)
