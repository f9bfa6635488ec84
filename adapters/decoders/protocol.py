"""What a provider's protocol is to this project.

Providers count and name differently; a `Reply` means the same of each:

- ``usage.input`` is the whole prompt, with what the cache gave (``usage.cached``) and took; ``usage.output`` is all
  that was generated, with ``usage.reasoning``. A count that was not told is None, which is not 0.
- ``text`` is what the model said, without its reasoning; ``tool_calls`` are those that the client is to run.
- ``finish`` is the provider's own word; None if a stream ended before it.
- ``refusal`` holds the model's words, or the provider's, or the name of the reason.
- Of several choices or candidates the first one counts.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from attrs import frozen

from cassettes.model import Reply

__all__ = ["Decoder"]


@frozen
class Decoder:
    """Pure functions of one protocol; none of them raises, whatever the peer sent.

    Attributes:
        protocol: the name in a call's endpoint.
        history: the argument that holds the messages.
        recognises: of method, path and parsed JSON body.
        model: the model's name, of path and body.
        reply: of status and decoded body.
        reply_from_stream: of all decoded bytes of a stream, complete or not.
        stream_ended: True if these bytes are a whole answer, though the connection is still open.
    """

    protocol: str
    history: str
    recognises: Callable[[str, str, Any], bool]
    model: Callable[[str, Any], str]
    reply: Callable[[int, str | bytes], Reply | None]
    reply_from_stream: Callable[[bytes], Reply | None]
    stream_ended: Callable[[bytes], bool]
