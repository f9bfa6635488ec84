from __future__ import annotations

import asyncio
import inspect
import json
import subprocess
import sys
from contextlib import AsyncExitStack

import mcp_types as types
import pytest
from mcp import Client, ClientSession, StdioServerParameters
from mcp.client import sse, stdio, streamable_http
from mcp.shared.jsonrpc_dispatcher import JSONRPCDispatcher

from adapters.mcp import MCP
from adapters.mcp_calls import connect_call, effect_of, handshake_call, request_call, tool_call, wire
from adapters.mcp_servers import Target, numbered
from adapters.mcp_transports import _address, _program
from cassettes.canonical import key_of
from cassettes.errors import CassetteError
from cassettes.model import Error, Value
from cassettes.recorder import listening
from tests.fakes import ListRecorder
from tests.mcp_shop import Log, shop

METHODS = ("call_tool", "dispatch_input_request", "send_discover", "send_notification", "send_request")
OPENERS = (stdio.stdio_client, sse.sse_client)
TRANSPORT = ("handle_get_stream", "post_writer", "terminate_session")


def cell(function):
    return next(c for c in function.__closure__ if c.cell_contents is function.__wrapped__ or "opening" in str(c))


@pytest.fixture
def patched():
    before = [vars(ClientSession)[name] for name in METHODS]
    MCP.install()
    MCP.install()
    yield
    MCP.uninstall()
    assert [vars(ClientSession)[name] for name in METHODS] == before
    assert all(function.__wrapped__ in [c.cell_contents for c in function.__closure__] for function in OPENERS)
    assert MCP.patched() == []


# -- what is patched


def test_the_private_parts_that_the_adapter_stands_on():
    assert "self._call_tool_adapter," in inspect.getsource(ClientSession.call_tool)
    assert "self._dispatcher" in inspect.getsource(ClientSession.__init__)
    assert "self._write_stream = write_stream" in inspect.getsource(JSONRPCDispatcher.__init__)
    assert "self._dispatcher.send_raw_request" in inspect.getsource(ClientSession.send_request)
    assert list(inspect.signature(ClientSession.send_discover).parameters) == ["self", "version"]
    assert all(cell(function) for function in OPENERS)
    assert list(inspect.signature(streamable_http.StreamableHTTPTransport.post_writer).parameters)[4] == "write_stream"
    assert "self._connect = _connect_transport(stdio_client(srv))" in inspect.getsource(Client.__post_init__)


def test_every_way_to_a_server_is_patched(patched):
    names = {f"mcp.ClientSession.{name}" for name in METHODS}
    names |= {f"{function.__module__}.{function.__name__}" for function in OPENERS}
    names |= {f"mcp.client.streamable_http.StreamableHTTPTransport.{name}" for name in TRANSPORT}
    names |= {"mcp.Client.__aenter__"}
    assert set(MCP.patched()) == names
    assert all(function.__wrapped__ not in [c.cell_contents for c in function.__closure__] for function in OPENERS)


def test_nothing_is_imported_and_what_is_imported_later_is_patched_then():
    script = """
import sys
import adapters.mcp
adapters.mcp.MCP.versions(); adapters.mcp.MCP.install()
print([name for name in sys.modules if name.split(".")[0] in ("mcp", "mcp_types", "anyio", "pydantic")])
print(adapters.mcp.MCP.patched())
import mcp.client.session
import inspect
print("mcp.ClientSession.call_tool" in adapters.mcp.MCP.patched(), len(inspect.getsource(mcp.client.session)) > 1000)
adapters.mcp.MCP.uninstall()
print(adapters.mcp.MCP.patched(), mcp.client.session.ClientSession.call_tool.__module__)
"""
    told = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True).stdout.split("\n")
    assert told[:4] == ["[]", "[]", "True True", "[] mcp.client.session"]


# -- what is asked


def test_the_arguments_of_a_call_are_those_of_the_tool_and_the_server_is_part_of_its_identity():
    call = tool_call("shop", "add", {"b": 1, "a": [2]}, "read", {"meta": {}, "request_state": None})
    assert (call.kind, call.name, dict(call.arguments), call.effect) == ("tool", "add", {"b": 1, "a": [2]}, "read")
    assert key_of(call) == key_of(tool_call("shop", "add", {"a": [2], "b": 1}, "unknown", {}))
    assert key_of(call) != key_of(tool_call("another", "add", {"a": [2], "b": 1}, "read", {}))
    assert key_of(tool_call("shop", "x", None, "read", {})) == key_of(tool_call("shop", "x", {}, "read", {}))


def test_what_is_sent_beside_the_arguments_counts_and_takes_the_place_of_none():
    call = tool_call("shop", "add", {"_mcp": 1}, "read", {"request_state": "s", "meta": {"user": "a"}})
    assert dict(call.arguments) == {"_mcp": 1, "__mcp": {"request_state": "s", "meta": {"user": "a"}}}


def test_a_request_counts_less_what_changes_each_time():
    meta = {"progressToken": 7, "traceparent": "00-1", "io.modelcontextprotocol/clientInfo": {}, "mine": 1}
    call = request_call("shop", {"method": "resources/read", "params": {"uri": "shop://x", "_meta": meta}})
    assert (call.kind, call.name, call.effect) == ("http", "MCP shop/resources/read", "read")
    assert dict(call.arguments) == {"uri": "shop://x", "_meta": {"mine": 1}}
    assert request_call("shop", {"method": "shop/reorder"}).effect == "unknown"
    assert request_call("shop", {"method": "ping"}).effect == "pure"


def test_a_handshake_is_known_by_its_server_and_its_version_alone():
    one, other = (handshake_call("npx", "1f", "initialize", "2025-11-25", {"clientInfo": n}) for n in (1, 2))
    assert key_of(one) == key_of(other)
    assert key_of(one) != key_of(handshake_call("npx", "2f", "initialize", "2025-11-25", {}))
    assert one.effect == connect_call("npx", "1f").effect == "pure"


@pytest.mark.parametrize(
    ("hints", "effect"),
    [
        (None, "unknown"),
        ({}, "unknown"),
        ({"title": "Find", "openWorldHint": True}, "unknown"),
        ({"readOnlyHint": True}, "read"),
        ({"readOnlyHint": True, "destructiveHint": False}, "read"),
        ({"readOnlyHint": True, "destructiveHint": True}, "write"),
        ({"readOnlyHint": False}, "write"),
        ({"destructiveHint": True}, "write"),
        ({"destructiveHint": False}, "write"),
        ({"idempotentHint": True}, "write"),
    ],
)
def test_the_effect_that_annotations_hint_at(hints, effect):
    assert effect_of(None if hints is None else types.ToolAnnotations.model_validate(hints)) == effect


# -- which server


def test_a_program_is_the_same_one_in_another_folder_and_with_another_python():
    here = StdioServerParameters(command="/a/.venv/bin/python3.11", args=["/a/server.py", "--root=/a/data"])
    there = StdioServerParameters(command="python", args=["server.py", "--root=/b/data"])
    other = StdioServerParameters(command="python", args=["server.py", "--root=/b/other"])
    assert (_program(here).label, _program(here).mark) == (_program(there).label, _program(there).mark)
    assert _program(there).mark != _program(other).mark
    assert _program(here).label == "python"


def test_no_argument_of_a_program_and_no_credential_of_an_address_is_written_down():
    secret = _program(StdioServerParameters(command="npx", args=["--key", "hush-hush"], env={"KEY": "hush-hush"}))
    assert "hush" not in secret.label + secret.mark
    assert _address("https://me:hush@api.example/mcp/?key=hush").label == "api.example/mcp"


def test_servers_of_one_name_are_numbered_in_their_order_in_each_trial():
    recorder, other = ListRecorder(), ListRecorder()
    one, two = Target("one", "npx", ""), Target("two", "npx", "")
    assert [numbered(recorder, "shop", t) for t in (one, two, one, None)] == ["shop", "shop#2", "shop", "shop"]
    assert numbered(other, "shop", two) == "shop"
    assert numbered(recorder, "npx", two, "mark") == "npx"


# -- what comes back


def calling(recorder, tmp_path, name, arguments=None):
    async def agent():
        async with AsyncExitStack() as stack:
            client = await stack.enter_async_context(Client(shop(Log(tmp_path / "log"))))
            with listening(recorder):
                try:
                    return await client.call_tool(name, arguments)
                except Exception as error:  # out of here it would be one of a group
                    return error

    return asyncio.run(agent())


def test_what_is_kept_is_what_came_over_the_wire(patched, tmp_path):
    recorder = ListRecorder()
    result = calling(recorder, tmp_path, "rich")
    outcome = recorder.interactions[0].outcome.value
    assert outcome["structuredContent"] == {"n": None, "list": [1.5, True]}
    assert json.loads(json.dumps(outcome)) == outcome
    assert calling(ListRecorder([Value(outcome)]), tmp_path, "rich") == result
    assert wire(result) == outcome


def test_an_answer_that_is_no_result_is_the_text_of_one(patched, tmp_path):
    for said, text in (("20 left", "20 left"), ({"left": 20}, '{"left": 20}')):
        result = calling(ListRecorder([Value(said)]), tmp_path, "stock", {"item": "lamp"})
        assert [part.text for part in result.content] == [text]


def test_a_recorded_result_that_this_version_cannot_read_is_told(patched, tmp_path):
    error = calling(ListRecorder([Value({"content": 5})]), tmp_path, "stock", {"item": "lamp"})
    assert isinstance(error, CassetteError)
    assert str(error).startswith("stock: what is recorded is no result for this version of mcp")


def test_a_recorded_error_is_raised(patched, tmp_path):
    error = calling(ListRecorder([Error(LookupError("none"))]), tmp_path, "stock", {"item": "lamp"})
    assert (type(error), str(error)) == (LookupError, "none")


def test_without_a_recorder_nothing_is_different(patched, tmp_path):
    assert calling(None, tmp_path, "stock", {"item": "lamp"}).structured_content == {"result": 10}


def test_a_tool_that_is_called_by_a_bare_request_is_a_tool_all_the_same(patched, tmp_path):
    recorder = ListRecorder()
    params = types.CallToolRequestParams(name="stock", arguments={"item": "lamp"})

    async def agent():
        async with Client(shop(Log(tmp_path / "log"))) as client:
            with listening(recorder):
                return await client.session.send_request(types.CallToolRequest(params=params), types.CallToolResult)

    assert asyncio.run(agent()).structured_content == {"result": 10}
    assert [(call.kind, call.name) for call in recorder.calls] == [("tool", "stock")]
