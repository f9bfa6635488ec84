"""The other sides: raw JSONL, and vcrpy."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from vcr import VCR
from vcr.cassette import Cassette
from vcr.matchers import body, host, method, port, query, scheme
from vcr.matchers import path as vcr_path
from vcr.record_mode import RecordMode
from vcr.request import Request
from vcr.serialize import serialize
from vcr.serializers import yamlserializer

from .airline import URL, Event, Exchange

__all__ = ["jsonl", "line", "vcr_cassette", "vcr_loaded", "vcr_recorder", "vcr_request", "vcr_yaml"]

MATCH_ON = ("method", "scheme", "host", "port", "path", "query", "body")


def jsonl(found: Iterable[Event]) -> int:
    """The bytes of all events as raw JSONL."""
    return sum(len(line(event.raw)) for event in found)


def line(document: Any) -> bytes:
    """One line of JSONL."""
    return json.dumps(document, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"


def vcr_yaml(found: Iterable[Event]) -> int:
    """The bytes of the model calls as a YAML cassette of vcrpy; it sees no tools."""
    exchanges = [event for event in found if isinstance(event, Exchange)]
    return len(vcr_cassette([(e.body, e.raw["request"]["headers"], e.answer, e.headers) for e in exchanges]).encode())


def vcr_cassette(exchanges: Iterable[tuple[Any, dict[str, str], Any, dict[str, str]]]) -> str:
    """A YAML cassette of vcrpy from bodies and headers."""
    requests, responses = [], []
    for asked, headers, answer, answer_headers in exchanges:
        requests.append(vcr_request(asked, headers))
        responses.append(
            {
                "status": {"code": 200, "message": "OK"},
                "headers": {name: [value] for name, value in answer_headers.items()},
                "body": {"string": line(answer)[:-1]},
            }
        )
    text: str = serialize({"requests": requests, "responses": responses}, yamlserializer)
    return text


def vcr_request(asked: Any, headers: dict[str, str]) -> Request:
    """A POST to the provider as vcrpy sees it."""
    return Request("POST", URL, line(asked)[:-1], headers)


def vcr_loaded(path: Path) -> Cassette:
    """A cassette of vcrpy as it is for replay, matching bodies."""
    matchers = (method, scheme, host, port, vcr_path, query, body)
    return Cassette.load(path=str(path), record_mode=RecordMode.NONE, match_on=matchers)


def vcr_recorder(path: Path) -> Any:
    """A block in which vcrpy records, matching bodies."""
    return VCR(match_on=MATCH_ON).use_cassette(str(path))
