"""What is asked of an MCP server, as calls: pure functions of requests, results and annotations."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from cassettes.model import Call, Effect

__all__ = ["connect_call", "effect_of", "handshake_call", "request_call", "tool_call", "wire"]

_PURE: Final = frozenset({"ping", "logging/setLevel", "resources/subscribe", "resources/unsubscribe"})
_READS: Final = frozenset(
    {
        "tools/list",
        "resources/list",
        "resources/templates/list",
        "resources/read",
        "prompts/list",
        "prompts/get",
        "completion/complete",
    }
)
# What the protocol itself and tracing put beside a request; it is another each time and decides no answer.
_PASSING: Final = frozenset({"progressToken", "progress_token", "traceparent", "tracestate", "baggage"})
_OURS: Final = "io.modelcontextprotocol/"  # version, client and capabilities, with every request since 2026


def tool_call(server: str, name: str, arguments: Mapping[str, Any] | None, effect: Effect, beside: Any) -> Call:
    """A call of a tool.

    Args:
        server: its name; part of the call's identity, so that tools of one name on two servers are two.
        name: the tool's name, as the model knows it.
        arguments: of the tool.
        effect: by the server's own hints.
        beside: what else was sent with it, by name: answers to what the server asked back, its state, metadata.
    """
    kept = dict(arguments or {})
    more = {key: value for key, value in beside.items() if value not in (None, {})}
    if more:
        key = "_mcp"
        while key in kept:
            key = f"_{key}"
        kept[key] = more
    return Call("tool", name, kept, effect=effect, endpoint=f"mcp {server}", detail={"server": server})


def request_call(server: str, request: Mapping[str, Any]) -> Call:
    """Any other request, such as for the list of tools; ``request`` as it goes over the wire."""
    method, params = request["method"], request.get("params") or {}
    arguments = {name: value for name, value in params.items() if name != "_meta"}
    meta = counting_meta(params.get("_meta"))
    if meta:
        arguments["_meta"] = meta
    effect: Effect = "pure" if method in _PURE else "read" if method in _READS else "unknown"
    return Call("http", f"MCP {server}/{method}", arguments, effect=effect)


def handshake_call(server: str, mark: str, method: str, version: str, params: Any) -> Call:
    """A request that begins a session: ``initialize`` or ``server/discover``.

    Who the client is and what it can do is kept for the reader, and not matched: it does not tell servers apart.
    """
    arguments = {"protocolVersion": version} | ({"target": mark} if mark else {})
    return Call("http", f"MCP {server}/{method}", arguments, effect="pure", detail={"params": params})


def connect_call(server: str, mark: str) -> Call:
    """A transport is opened that starts a program or connects at once."""
    return Call("http", f"MCP {server}/connect", {"target": mark} if mark else {}, effect="pure")


def counting_meta(meta: Mapping[str, Any] | None) -> dict[str, Any]:
    """What of a request's ``_meta`` may decide its answer."""
    return {k: v for k, v in (meta or {}).items() if k not in _PASSING and not k.startswith(_OURS)}


def effect_of(annotations: Any) -> Effect:
    """The effect that a server's annotations of a tool hint at; ``unknown`` if they say nothing of it."""
    if annotations is None:
        return "unknown"
    if annotations.read_only_hint and not annotations.destructive_hint:
        return "read"
    said = (annotations.read_only_hint, annotations.destructive_hint, annotations.idempotent_hint)
    return "unknown" if said == (None, None, None) else "write"


def wire(result: Any) -> Any:
    """A result as it came over the wire: what the server set, and nothing else."""
    return result.model_dump(mode="json", by_alias=True, exclude_unset=True)
