"""Google's generateContent protocol: the Gemini API, Vertex, and what speaks like them.

The answer is one response, or several that add up: as server-sent events (``?alt=sse``) or as one JSON array.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final
from urllib.parse import unquote

from attrs import define, field

from adapters.sse import events
from cassettes.model import Reply, ToolRequest, Usage

from .loose import (
    count,
    dumped,
    failure,
    first,
    first_choice,
    joined,
    last,
    list_of,
    looks_like_json,
    map_of,
    maps_of,
    parsed,
    problem,
    text_of,
    total,
    values_in,
)
from .protocol import Decoder

__all__ = ["GOOGLE_GENERATE"]

_PATH: Final = re.compile(r"(?:.*/models|.*)/(.+):(?:generateContent|streamGenerateContent)/?\Z", re.DOTALL)
_FIELDS: Final = ("candidates", "promptFeedback", "usageMetadata", "responseId", "modelVersion")
_KEY: Final = re.compile(r"\.([^.\[\]]+)|\[(\d{1,6})\]|\[['\"]([^'\"]*)['\"]\]")
_REFUSALS: Final = frozenset({
    "BLOCKLIST",
    "ESCALATION",
    "IMAGE_PROHIBITED_CONTENT",
    "IMAGE_SAFETY",
    "MODEL_ARMOR",
    "PROHIBITED_CONTENT",
    "SAFETY",
    "SPII",
})  # fmt: skip


def recognises(method: str, path: str, body: Any) -> bool:
    """True for a POST of contents to any ``.../MODEL:generateContent`` or ``:streamGenerateContent``."""
    return (
        method == "POST"
        and isinstance(body, dict)
        and isinstance(body.get("contents"), list | dict)
        and _PATH.match(unquote(path)) is not None
    )


def model(path: str, body: Any) -> str:  # noqa: ARG001 - the body does not name it
    """The model asked for, of the path."""
    found = _PATH.match(unquote(path))
    return found[1] if found else "unknown"


def reply(status: int, body: str | bytes) -> Reply | None:
    """Read a whole answer, also one that is an array; None if it is no answer of this protocol."""
    data = parsed(body)
    if status >= 400:
        return Reply(error=failure(status, data))
    return _read(data if isinstance(data, list) else [data])


def reply_from_stream(data: bytes) -> Reply | None:
    """Put the responses of a stream together; None if there is none."""
    return _read(_responses(data))


def stream_ended(data: bytes) -> bool:
    """True once the first candidate is finished, or there will be none: no event says that it is the last."""
    read = reply_from_stream(data)
    return read is not None and (read.finish is not None or read.refusal is not None or read.error is not None)


def _read(found: Iterable[Any]) -> Reply | None:
    responses = [
        item for item in found if isinstance(item, dict) and (problem(item) or any(f in item for f in _FIELDS))
    ]
    if not responses:
        return None
    candidates = [first_choice(response.get("candidates")) for response in responses]
    parts = [part for candidate in candidates for part in maps_of(map_of(candidate.get("content")).get("parts"))]
    finish = last(text_of(candidate.get("finishReason")) for candidate in candidates)
    refusal = first(_blocked(response.get("promptFeedback")) for response in responses)
    if refusal is None and finish in _REFUSALS:
        refusal = last(text_of(candidate.get("finishMessage")) for candidate in candidates) or finish
    return Reply(
        text=joined(text_of(part.get("text")) for part in parts if part.get("thought") is not True),
        tool_calls=tuple(_requests(parts)),
        finish=finish,
        model=first(text_of(response.get("modelVersion")) for response in responses),
        id=first(text_of(response.get("responseId")) for response in responses),
        usage=last(_usage(response.get("usageMetadata")) for response in responses),
        refusal=refusal,
        error=first(problem(response) for response in responses),
    )


def _responses(data: bytes) -> Iterator[Any]:
    if looks_like_json(data):
        yield from values_in(data.decode("utf-8", "replace"))
        return
    for event in events(data):
        yield parsed(event.data)
    # An error within a stream of events comes as bare lines.
    bare = data.find(b"\n{")
    if bare >= 0:
        yield from values_in(data[bare:].decode("utf-8", "replace"))


def _blocked(feedback: Any) -> str | None:
    fields = map_of(feedback)
    reason = text_of(fields.get("blockReason"))
    return None if reason is None else text_of(fields.get("blockReasonMessage")) or reason


def _usage(data: Any) -> Usage | None:
    """Thoughts are counted beside the candidates, and results of the provider's own tools beside the prompt."""
    if not isinstance(data, dict):
        return None
    prompt = total(data.get("promptTokenCount"), data.get("toolUsePromptTokenCount"))
    thoughts = count(data.get("thoughtsTokenCount"))
    whole = count(data.get("totalTokenCount"))
    output = total(data.get("candidatesTokenCount"), thoughts)
    if output is None:  # a count of 0 is left out
        output = thoughts if whole is None or prompt is None else max(0, whole - prompt)
    return Usage(input=prompt, output=output, cached=count(data.get("cachedContentTokenCount")), reasoning=thoughts)


@define
class _Call:
    """A function call, whose arguments may come in pieces (``partialArgs``), each with its path."""

    id: str | None
    name: str
    arguments: Any = None
    unfinished: set[str] = field(factory=set)

    def add(self, piece: Mapping[str, Any]) -> None:
        path = text_of(piece.get("jsonPath")) or ""
        value = next((piece[name] for name in ("stringValue", "numberValue", "boolValue") if name in piece), None)
        if self.arguments is None:
            self.arguments = {}
        _put(self.arguments, _keys(path), value, append=path in self.unfinished)
        (self.unfinished.add if piece.get("willContinue") is True else self.unfinished.discard)(path)


def _requests(parts: Sequence[Mapping[str, Any]]) -> Iterator[ToolRequest]:
    calls: list[_Call] = []
    going_on = False
    for part in parts:
        fields = part.get("functionCall")
        if not isinstance(fields, dict):
            continue
        if not going_on or text_of(fields.get("name")):
            calls.append(_Call(text_of(fields.get("id")), text_of(fields.get("name")) or ""))
        if "args" in fields:
            calls[-1].arguments = fields["args"]
        for piece in maps_of(fields.get("partialArgs")):
            calls[-1].add(piece)
        going_on = fields.get("willContinue") is True
    for call in calls:
        # No arguments at all are left out, like every empty value.
        yield ToolRequest(call.id, call.name, dumped({} if call.arguments is None else call.arguments))


def _keys(path: str) -> list[str | int]:
    """``$.foo.bar[0]`` as foo, bar, 0."""
    return [int(m[2]) if m[2] else m[1] or m[3] or "" for m in _KEY.finditer(path)]


def _put(root: Any, keys: Sequence[str | int], value: Any, *, append: bool) -> None:
    """Set what lies at the keys, and make what lies above; a place that cannot be is left out."""
    for key, below in zip(keys, [*keys[1:], None], strict=False):
        if isinstance(key, int):
            if key > len(list_of(root)) or not isinstance(root, list):
                return
            if key == len(root):
                root.append(None)
            old = root[key]
        elif isinstance(root, dict):
            old = root.get(key)
        else:
            return
        if below is None:
            root[key] = old + value if append and isinstance(old, str) and isinstance(value, str) else value
        elif not isinstance(old, dict | list):
            root[key] = [] if isinstance(below, int) else {}
        root = root[key]


GOOGLE_GENERATE: Final = Decoder(
    "google-generate", "contents", recognises, model, reply, reply_from_stream, stream_ended
)
