"""What the agent's libraries tell their makers or a collector: no part of the trial, and so never recorded or replayed.

A rule names a service by host and path, or a protocol by path and content type; only requests that send something can
be telemetry. What a rule matches goes its way as if there were no trial, also while calls are frozen.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final
from urllib.parse import urlsplit

from attrs import frozen

from cassettes.recorder import listening, unwatched

__all__ = ["RULES", "Rule", "apart", "telemetry"]

_SENDS: Final = frozenset({"POST", "PUT", "PATCH"})


@frozen
class Rule:
    """What tells one kind of telemetry.

    Attributes:
        hosts: ends of host names; none: any host.
        path: matches the whole path.
        content_type: its beginning; empty: any.
    """

    name: str
    hosts: tuple[str, ...]
    path: re.Pattern[str]
    content_type: str = ""

    @property
    def shown(self) -> str:
        """The rule for people."""
        where = ", ".join(self.hosts) or f"any host, {self.content_type}"
        return f"{self.name} ({where})"

    def matches(self, host: str, path: str, headers: Mapping[Any, Any]) -> bool:
        """True if such a request is this telemetry."""
        return (
            (not self.hosts or any(host == end or host.endswith(f".{end}") for end in self.hosts))
            and self.path.fullmatch(path) is not None
            and (not self.content_type or _content_type(headers).startswith(self.content_type))
        )


def _rule(name: str, *hosts: str, path: str = ".*", content_type: str = "") -> Rule:
    return Rule(name, hosts, re.compile(path, re.DOTALL), content_type)


RULES: Final[tuple[Rule, ...]] = (
    _rule("OpenTelemetry", path=r".*/v1/(?:traces|metrics|logs)/?", content_type="application/x-protobuf"),
    _rule("PostHog", "posthog.com", path=r"/(?:batch|capture|track|engage|e|i/v0/e|s)/?"),
    _rule("Sentry", "sentry.io", path=r"/api/[^/]+/(?:envelope|store)/?"),
    _rule("OpenAI Agents traces", "api.openai.com", path=r"/v1/traces/ingest/?"),
    _rule("LangSmith", "smith.langchain.com", path=r".*/runs(?:/.*)?|.*/otel/.*"),
    _rule("Langfuse", "langfuse.com", path=r"/api/public/(?:ingestion|otel/.*)"),
    _rule("Segment", "api.segment.io"),
    _rule("Mixpanel", "api.mixpanel.com", path=r"/(?:track|import|engage|groups)/?.*"),
    _rule("Amplitude", "amplitude.com", path=r"/(?:2/httpapi|batch|identify)/?"),
    _rule("Scarf", "scarf.sh", "gateway.scarf.sh"),
)
"""What is excluded; `trialtape doctor` shows it."""

# One of these is in every address that a rule could match: most requests are done with after this look. A path tells a
# service to which model calls go, too.
_PATHS: Final = ("/v1/traces", "/v1/metrics", "/v1/logs")
_MARKS: Final = (*_PATHS, *(host for rule in RULES if not rule.path.pattern.startswith(_PATHS) for host in rule.hosts))


def telemetry(method: Any, url: Any, headers: Mapping[Any, Any] | None = None) -> Rule | None:
    """The rule that makes this request telemetry, if one does."""
    if _text(method).upper() not in _SENDS:
        return None
    address = _text(url)
    lower = address.lower()
    if not any(mark in lower for mark in _MARKS):
        return None
    parts = urlsplit(address)
    host = (parts.hostname or "").lower()
    return next((rule for rule in RULES if rule.matches(host, parts.path or "/", headers or {})), None)


@contextmanager
def apart() -> Iterator[None]:
    """What is done in this block belongs to no trial, on purpose."""
    with listening(None), unwatched():
        yield


def _content_type(headers: Mapping[Any, Any]) -> str:
    pairs = ((_text(name).lower(), value) for name, value in headers.items())
    return next((_text(value).lower() for name, value in pairs if name == "content-type"), "")


def _text(value: Any) -> str:
    return value.decode("latin-1") if isinstance(value, bytes) else str(value)
