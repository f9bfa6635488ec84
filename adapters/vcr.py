"""Cassettes of vcrpy, read and written with its own serializers.

Not kept by the way there and back: request headers outside the allow-list, response headers likewise (never cookies
or keys), the content encoding (bodies are written decoded), the reason phrase, chunk boundaries and times, and the
original spelling of a JSON request body (it is written compact).
"""

from __future__ import annotations

import io
import json
from collections.abc import Iterable, Mapping
from http.client import responses as phrases
from pathlib import Path
from typing import Any, Final

import yaml
from vcr.request import Request
from vcr.serialize import deserialize, serialize
from vcr.serializers import jsonserializer, yamlserializer

from cassettes.errors import BadInput
from cassettes.model import Call, Chunk, Interaction, Outcome, Reply, Stream, Value

from .encodings import decode, decoder
from .http import ask, is_stream, note_raw, response_head, text_or_bytes

__all__ = ["VCR_FORMAT", "VcrFormat"]

_SERIALIZERS: Final[dict[str, Any]] = {".yaml": yamlserializer, ".yml": yamlserializer, ".json": jsonserializer}


class VcrFormat:
    """Imports and exports the cassettes of vcrpy."""

    name = "vcr"

    def read(self, path: str | Path) -> list[tuple[Call, Outcome, Reply | None]]:
        """The exchanges of a file, in its order.

        Raises:
            BadInput: the file is missing, or no cassette of vcrpy.
        """
        path = Path(path)
        serializer = _serializer(path)
        try:
            text = path.read_text("utf-8")
        except OSError as error:
            raise BadInput(f"{path}: cannot be read ({error.strerror}); name an existing cassette of vcrpy") from error
        except UnicodeDecodeError as error:
            raise BadInput(f"{path}: is not text, so no cassette of vcrpy; name a .yaml or .json file of it") from error
        try:
            requests, responses, *_ = deserialize(text, serializer)
            return [_read(request, response) for request, response in zip(requests, responses, strict=True)]
        # What a file of another kind makes of vcrpy's own reader is not foreseeable.
        except (ValueError, TypeError, LookupError, AttributeError, RecursionError, yaml.YAMLError) as error:
            what = (str(error).splitlines() or [type(error).__name__])[0]
            raise BadInput(f"{path}: no cassette of vcrpy ({what}); name a .yaml or .json file of it") from error

    def write(self, path: str | Path, interactions: Iterable[Interaction]) -> tuple[int, int]:
        """Write what was answered whole over HTTP.

        Returns:
            how many were written, and how many left out: tools, clocks, errors, streams cut short.

        Raises:
            BadInput: the file's format cannot hold them (JSON: bytes), or it cannot be written.
        """
        path = Path(path)
        serializer = _serializer(path)
        pairs = [_written(interaction) for interaction in interactions]
        kept = [pair for pair in pairs if pair is not None]
        data = {"requests": [request for request, _ in kept], "responses": [response for _, response in kept]}
        try:
            text = serialize(data, serializer)
        except TypeError as error:
            raise BadInput(f"{path}: JSON cannot hold a binary body; write a .yaml file instead") from error
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, "utf-8")
        except OSError as error:
            raise BadInput(f"{path}: cannot be written ({error.strerror}); name another place") from error
        return len(kept), len(pairs) - len(kept)


def _serializer(path: Path) -> Any:
    serializer = _SERIALIZERS.get(path.suffix.lower())
    if serializer is None:
        raise BadInput(f"{path}: a cassette of vcrpy ends in .yaml, .yml or .json; name such a file")
    return serializer


def _read(request: Any, response: Mapping[str, Any]) -> tuple[Call, Outcome, Reply | None]:
    asked = ask(request.method, request.uri, list(request.headers.items()), _whole(request.body))
    if "status_code" in response:  # written by vcrpy before 6, for httpx
        status, body = response["status_code"], response["content"]
    else:
        status, body = response["status"]["code"], response["body"]["string"]
    head = response_head(status, list(_pairs(response["headers"])), "HTTP/1.1")
    data = decode(_whole(body), head["encoding"])
    if decoder(head["encoding"]) is None:
        note_raw(head)
    if is_stream(asked, head):
        stream = Stream(head, (Chunk(0.0, data),) if data else ())
        return asked.call, stream, asked.reply_from_stream([data])
    content = text_or_bytes(data)
    return asked.call, Value({**head, "body": content}), asked.reply(status, content)


def _written(interaction: Interaction) -> tuple[Any, dict[str, Any]] | None:
    call, detail = interaction.call, interaction.call.detail
    if call.kind not in {"http", "model"} or "url" not in detail or "method" not in detail:
        return None
    match interaction.outcome:
        case Value({"status": int(), "headers": _, "body": str() | bytes() as body} as head):
            pass
        case Stream({"status": int(), "headers": _} as head, chunks, True, None):
            body = b"".join(_whole(chunk.data) for chunk in chunks)
        case _:
            return None
    headers: dict[str, list[str]] = {}
    for name, value in head["headers"]:
        headers.setdefault(name, []).append(value)
    asked = call.arguments if call.kind == "model" else call.arguments.get("body")
    request = Request(detail["method"], detail["url"], _spelled(asked), dict(detail.get("headers", {})))
    return request, {
        "status": {"code": head["status"], "message": phrases.get(head["status"], "")},
        "headers": headers,
        "body": {"string": _whole(body)},
    }


def _spelled(body: Any) -> bytes | None:
    """A request body as bytes; JSON as httpx spells it."""
    if body is None or isinstance(body, str | bytes):
        return body.encode("utf-8", "surrogatepass") if isinstance(body, str) else body
    return json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")


def _pairs(headers: Mapping[str, Any]) -> Iterable[tuple[str, str]]:
    for name, values in headers.items():
        for value in [values] if isinstance(values, str | bytes) else values:
            yield name, value.decode("latin-1") if isinstance(value, bytes) else str(value)


def _whole(body: Any) -> bytes:
    """A body in any of the forms that vcrpy keeps one in."""
    if body is None:
        return b""
    if isinstance(body, bytes):
        return body
    if isinstance(body, str):
        return body.encode("utf-8", "surrogatepass")
    if isinstance(body, io.BytesIO):
        return body.read()
    return b"".join(_whole(part) for part in body)


VCR_FORMAT: Final = VcrFormat()
