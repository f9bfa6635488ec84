"""MCP: each call of a tool is a tool interaction, and whatever else a client asks of a server is one of kind ``http``.

`ClientSession` is where every client, `mcp.Client` and those of frameworks too, asks a server anything, over whatever
transport. What is kept is what came over the wire; the client gets the SDK's own objects of it. The handshake is
recorded as well, so that with the outside frozen no server is needed; it is made up for when the first call goes live.
"""

from __future__ import annotations

import importlib
import json
from collections.abc import Awaitable, Callable
from contextvars import ContextVar
from typing import Any, Final, NamedTuple
from weakref import WeakKeyDictionary

from cassettes.errors import CassetteError
from cassettes.recorder import Recorder, aperform, current, listening, passed_by

from .kept_results import Form, acalled
from .mcp_calls import counting_meta, handshake_call, request_call, tool_call, wire
from .mcp_servers import hinted, learn, numbered
from .mcp_transports import patch_client, patch_sse, patch_stdio, patch_streamable_http, target_behind
from .on_import import WhenImported
from .patches import Patches
from .telemetry import apart

__all__ = ["MCP"]

_inside: ContextVar[Any] = ContextVar("trialtape_mcp_inside", default=None)  # the session of a live call of a tool

Asking = Callable[..., Awaitable[Any]]


class _Unsent(NamedTuple):
    """An ``initialize`` that a recording answered; the server, if there is one, has not seen it."""

    request: Any
    result_type: Any
    lock: Any


_unsent: WeakKeyDictionary[Any, _Unsent] = WeakKeyDictionary()
_calling_now: WeakKeyDictionary[Any, list[Recorder]] = WeakKeyDictionary()  # the live calls of tools, by session


def _patch_session(patches: Patches, module: Any) -> None:
    session, types = module.ClientSession, module.types
    originals = _Originals(session.send_request, session.send_notification, types.InitializedNotification)
    label = "mcp.ClientSession"
    patches.wrap(session, "send_request", lambda original: _requesting(original, originals, types), label)
    patches.wrap(session, "send_discover", _discovering, label)
    patches.wrap(session, "send_notification", _notifying, label)
    patches.wrap(session, "dispatch_input_request", _asking_back, label)
    patches.wrap(session, "call_tool", lambda original: _calling(original, originals), label)


class _Originals(NamedTuple):
    """What a handshake needs."""

    send_request: Asking
    send_notification: Asking
    initialized: Callable[[], Any]

    async def connect(self, session: Any) -> None:
        """Before something is really sent: the handshake that a recording answered, now with the server itself."""
        unsent = _unsent.get(session)
        if unsent is None:
            return
        async with unsent.lock:
            if session in _unsent:
                result = await self.send_request(session, unsent.request, unsent.result_type)
                session.adopt(result)
                with apart():
                    await self.send_notification(session, self.initialized())
                _unsent.pop(session, None)


# -- tools -------------------------------------------------------------------------------------------------------------


def _calling(original: Asking, originals: _Originals) -> Asking:
    async def call_tool(session: Any, name: str, arguments: Any = None, *args: Any, **options: Any) -> Any:
        def real() -> Awaitable[Any]:
            return original(session, name, arguments, *args, **options)

        recorder = current()
        if recorder is None:
            passed_by(lambda: f"tool {name}")
            return await real()
        adapter = session._call_tool_adapter  # noqa: SLF001 - pinned by a contract test
        return await _called(recorder, session, originals, name, arguments, options, real, adapter)

    return call_tool


async def _called(
    recorder: Recorder,
    session: Any,
    originals: _Originals,
    name: str,
    arguments: Any,
    beside: Any,
    real: Callable[[], Awaitable[Any]],
    result_type: Any,
) -> Any:
    server = _server(recorder, session)
    responses = beside.get("input_responses")
    more = {
        "input_responses": responses and {key: wire(response) for key, response in responses.items()},
        "request_state": beside.get("request_state"),
        "meta": counting_meta(beside.get("meta")),
    }
    call = tool_call(server, name, arguments, hinted(recorder, session, server, name), more)

    async def live() -> Any:
        await originals.connect(session)
        token = _inside.set(session)
        under_way = _calling_now.setdefault(session, [])
        under_way.append(recorder)
        try:
            return await real()
        finally:
            under_way.remove(recorder)
            _inside.reset(token)

    form = Form(wire, lambda answer: _result(result_type, _as_result(answer), name))
    return await acalled(recorder, call, live, form)


def _as_result(answer: Any) -> Any:
    """What a model made up need not have the form of a result; it is then the text of one."""
    if isinstance(answer, dict) and ("content" in answer or "resultType" in answer):
        return answer
    text = answer if isinstance(answer, str) else json.dumps(answer, ensure_ascii=False)
    return {"content": [{"type": "text", "text": text}]}


def _asking_back(original: Asking) -> Asking:
    """What a server asks back (a model's reply, say) in the midst of a call: what that calls is the trial's.

    Beside the tool's call and not in it: where that is answered from a recording, the server asks nothing.
    """

    async def dispatch_input_request(session: Any, *args: Any, **options: Any) -> Any:
        under_way = {id(recorder): recorder for recorder in _calling_now.get(session, ())}
        if len(under_way) != 1:  # none, or calls of several trials over one session
            return await original(session, *args, **options)
        with listening(*under_way.values()):
            return await original(session, *args, **options)

    return dispatch_input_request


# -- everything else ---------------------------------------------------------------------------------------------------


def _requesting(original: Asking, originals: _Originals, types: Any) -> Asking:
    async def send_request(session: Any, request: Any, result_type: Any, *args: Any, **options: Any) -> Any:
        def real() -> Awaitable[Any]:
            return original(session, request, result_type, *args, **options)

        recorder = current()
        if recorder is None or (request.method == "tools/call" and _inside.get() is session):
            return await real()
        if request.method == "tools/call":
            params = request.params
            beside = {name: getattr(params, name) for name in ("input_responses", "request_state", "meta")}
            return await _called(recorder, session, originals, params.name, params.arguments, beside, real, result_type)
        return await _requested(recorder, session, originals, request, result_type, real, types)

    return send_request


async def _requested(
    recorder: Recorder,
    session: Any,
    originals: _Originals,
    request: Any,
    result_type: Any,
    real: Callable[[], Awaitable[Any]],
    types: Any,
) -> Any:
    first = request.method == "initialize"
    plain = request.model_dump(mode="json", by_alias=True, exclude_none=True)
    if first:
        target = target_behind(session)
        if target is None:  # its other end cannot be told from others, so it must be there
            return await real()
        server = numbered(recorder, target.label, target, target.mark)
        version = plain["params"]["protocolVersion"]
        call = handshake_call(server, target.mark, request.method, version, plain["params"])
    else:
        server = _server(recorder, session)
        call = request_call(server, plain)

    async def live() -> Any:
        if not first:
            await originals.connect(session)
        return await real()

    def give(answer: Any) -> Any:
        result = _result(result_type, answer, call.name)
        if first:
            _unsent[session] = _Unsent(request, result_type, importlib.import_module("anyio").Lock())
        return result

    result = await acalled(recorder, call, live, Form(wire, give))
    if isinstance(result, types.ListToolsResult):
        learn(recorder, session, server, result.tools)
    return result


def _discovering(original: Asking) -> Asking:
    async def send_discover(session: Any, version: str) -> Any:
        recorder, target = current(), target_behind(session)
        if recorder is None or target is None:
            return await original(session, version)
        server = numbered(recorder, target.label, target, target.mark)
        call = handshake_call(server, target.mark, "server/discover", version, None)
        return await aperform(recorder, call, lambda: original(session, version))

    return send_discover


def _notifying(original: Asking) -> Asking:
    async def send_notification(session: Any, notification: Any) -> None:
        if session in _unsent:  # there is nobody to notify
            return
        if notification.method != "notifications/initialized":
            await original(session, notification)
            return
        with apart():  # a part of the handshake, which is no call
            await original(session, notification)

    return send_notification


def _server(recorder: Recorder, session: Any) -> str:
    """The name of the server in this trial: its own, or that of the program or host while it has told none."""
    info, target = session.server_info, target_behind(session)
    label = "" if target is None else target.label.partition("/")[0]  # a path may hold a credential
    return numbered(recorder, label if info is None else info.name, target)


def _result(result_type: Any, answer: Any, name: str) -> Any:
    """The SDK's object of what came over the wire."""
    try:
        if hasattr(result_type, "validate_python"):
            return result_type.validate_python(answer, by_name=False)
        return result_type.model_validate(answer, by_name=False)
    except ValueError as error:  # pydantic's own is one
        raise CassetteError(f"{name}: what is recorded is no result for this version of mcp: {error}") from error


MCP: Final = WhenImported(
    "mcp",
    "mcp",
    {
        "mcp.client.session": _patch_session,
        "mcp.client.client": patch_client,
        "mcp.client.stdio": patch_stdio,
        "mcp.client.sse": patch_sse,
        "mcp.client.streamable_http": patch_streamable_http,
    },
    "mcp 2.3 or newer",
)
