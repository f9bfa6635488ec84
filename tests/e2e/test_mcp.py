"""MCP through the real SDK: tools are recorded with their effects, and frozen without the server."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager

import httpx2
import pytest
from mcp import Client, ClientSession
from mcp.client.sse import sse_client
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError
from mcp_types import CallToolResult, CreateMessageResult, TextContent

import trialtape as tt
from cassettes.model import Cancelled
from tests.mcp_shop import Log, program, served, shop


@pytest.fixture
def log(tmp_path):
    return Log(tmp_path / "log")


@pytest.fixture
def run(trial):
    """Runs a coroutine in a trial; gives what it returned and the trial."""

    def run_in(agent, **options):
        with trial(**options) as made:
            return asyncio.run(agent), made

    return run_in


@asynccontextmanager
async def session_over(streams):
    async with streams as (read, write), ClientSession(read, write) as session:
        await session.initialize()
        await session.list_tools()
        yield session


def listing(server, **options):
    @asynccontextmanager
    async def opened():
        async with Client(server, **options) as client:
            await client.list_tools()
            yield client

    return opened


def over_stdio(log):
    return lambda: session_over(stdio_client(program(log)))


def outcome(result):
    return result.structured_content["result"]


async def shopping(opened):
    """Reads, writes, reads."""
    async with opened() as session:
        calls = [("stock", {"item": "lamp"}), ("reserve", {"item": "lamp"}), ("stock", {"item": "lamp"})]
        return [outcome(await session.call_tool(name, arguments)) for name, arguments in calls]


def tools_of(home, trial):
    return [step.call for step in tt.open(trial, home=home).steps if step.call.kind == "tool"]


# -- over each transport


def transports(url):
    return {
        "streamable HTTP": lambda: session_over(streamable_http_client(f"{url}/mcp")),
        "SSE": lambda: session_over(sse_client(f"{url}/sse")),
        "Client": listing(f"{url}/mcp"),
        "Client, handshake of old": listing(f"{url}/mcp", mode="legacy"),
    }


@pytest.mark.parametrize("name", transports(""))
def test_over_http_a_frozen_trial_and_a_replay_need_no_server(name, log, run, home):
    server = shop(log)
    with served(server.sse_app() if name == "SSE" else server.streamable_http_app()) as url:
        opened = transports(url)[name]
        bought, _ = run(shopping(opened), run="base")
    assert log.names == ["stock", "reserve", "stock"]
    for options in ({"replay": "base/t#0"}, {"freeze": "external", "source": "base", "offline": True}):
        again, trial = run(shopping(opened), run=f"with {next(iter(options))}", **options)
        assert again == bought
        assert trial.verdicts.keys() == {"own"}
    assert log.names == ["stock", "reserve", "stock"]
    view = tt.open("base/t#0", home=home)
    assert all(step.interaction.parent is not None for step in view.steps if step.call.name.startswith("POST "))
    assert not [step for step in view.steps if step.call.name.startswith(("GET ", "DELETE "))]
    assert (view.problems, view.unattributed) == ([], {})


def test_over_stdio_the_program_is_not_even_started(log, run):
    bought, _ = run(shopping(over_stdio(log)), run="base")
    assert bought == [20, "shop reserved lamp as 3", 40]
    assert log.names == ["start", "stock", "reserve", "stock"]
    assert run(shopping(over_stdio(log)), run="again", replay="base/t#0")[0] == bought
    assert run(shopping(over_stdio(log)), run="frozen", freeze="external", source="base")[0] == bought
    assert log.names == ["start", "stock", "reserve", "stock"]


# -- effects


def test_the_servers_hints_give_the_effect_which_is_in_the_recording(log, run, home):
    async def agent():
        async with over_stdio(log)() as session:
            for name in ("stock", "reserve"):
                await session.call_tool(name, {"item": "lamp"})
            await session.call_tool("ring")

    run(agent(), run="base")
    calls = tools_of(home, "base/t#0")
    assert [(call.name, call.effect, call.external) for call in calls] == [
        ("stock", "read", True),
        ("reserve", "write", True),
        ("ring", "unknown", True),
    ]
    assert [dict(call.arguments) for call in calls] == [{"item": "lamp"}, {"item": "lamp"}, {}]


def test_a_tool_that_is_called_before_any_list_has_an_unknown_effect(log, run, home):
    async def agent():
        async with Client(shop(log)) as client:
            await client.call_tool("stock", {"item": "lamp"})  # the client lists tools now, to check the result
            await client.call_tool("stock", {"item": "lamp"})

    run(agent(), run="base")
    assert [call.effect for call in tools_of(home, "base/t#0")] == ["unknown", "read"]


def test_a_list_by_another_session_of_the_trial_will_do(log, run, home):
    server = shop(log)

    async def agent():
        async with Client(server) as client:
            await client.list_tools()
        async with Client(server) as client:
            await client.call_tool("stock", {"item": "lamp"})

    run(agent(), run="base")
    assert [call.effect for call in tools_of(home, "base/t#0")] == ["read"]


def test_a_read_after_a_write_that_is_not_recorded_there_is_stale(log, run):
    opened = listing(shop(log))

    async def other_order():
        async with opened() as session:
            await session.call_tool("stock", {"item": "lamp"})
            await session.call_tool("reserve", {"item": "lamp"})
            await session.call_tool("stock", {"item": "lamp"})
            await session.call_tool("reserve", {"item": "lamp"})

    run(shopping(opened), run="base")
    with pytest.raises(tt.Unanswered, match=r"tool reserve has no answer in the world of base/t#0 \(stale"):
        run(other_order(), run="frozen", freeze="external", source="base")
    assert log.names == ["stock", "reserve", "stock"]


def test_a_read_is_lent_by_another_recording_and_a_write_of_unknown_effect_stands_in_its_way(log, run):
    opened = listing(shop(log))

    async def agent(*names):
        async with opened() as session:
            return [
                outcome(await session.call_tool(name, {} if name == "ring" else {"item": "lamp"})) for name in names
            ]

    run(agent(), run="base")
    run(agent("stock"), run="base")
    lent, trial = run(agent("stock"), run="frozen", freeze="external", source="base", world=0)
    assert (lent, trial.verdicts["borrowed"]) == ([10], 1)
    with pytest.raises(tt.Unanswered, match="tool ring"):
        run(agent("ring", "stock"), run="frozen", freeze="external", source="base", world=0)
    assert log.names == ["stock"]


def test_an_effects_file_has_the_last_word(log, run, home, tmp_path):
    effects = tmp_path / "effects.toml"
    effects.write_text('[tools.stock]\neffect = "write"\n[tools.ring]\neffect = "read"\n')

    async def agent():
        async with listing(shop(log))() as session:
            await session.call_tool("stock", {"item": "lamp"})
            await session.call_tool("ring")

    run(agent(), run="base", effects=effects)
    assert [call.effect for call in tools_of(home, "base/t#0")] == ["write", "read"]


# -- outcomes


def test_what_comes_back_from_a_recording_is_the_sdks_own_object_and_equal(log, run):
    opened = listing(shop(log))

    async def agent():
        async with opened() as session:
            return [await session.call_tool("rich"), await session.call_tool("refuse")]

    live, _ = run(agent(), run="base")
    again, _ = run(agent(), run="again", replay="base/t#0")
    assert [type(result) for result in again] == [CallToolResult, CallToolResult]
    assert again == live
    assert [result.model_fields_set for result in again] == [result.model_fields_set for result in live]
    assert [result.is_error for result in again] == [False, True]
    assert log.names == ["rich", "refuse"]


def test_an_error_of_the_protocol_is_an_outcome(log, run):
    opened = listing(shop(log))

    async def agent():
        async with opened() as session:
            with pytest.raises(MCPError) as caught:
                await session.call_tool("broken")
            return caught.value

    live, _ = run(agent(), run="base")
    again, _ = run(agent(), run="again", replay="base/t#0")
    assert (again.code, again.message, again.data) == (live.code, live.message, live.data)
    assert again.message == "out of order"
    assert log.names == ["broken"]


def test_a_call_that_its_caller_gave_up_is_given_up_again(log, run, home):
    opened = listing(shop(log))

    async def agent():
        async with opened() as session:
            call = asyncio.create_task(session.call_tool("wait"))
            await asyncio.sleep(0)  # it has begun
            while "wait" not in log.names:  # noqa: ASYNC110 - it is not of this process alone
                await asyncio.sleep(0)
            call.cancel()
            with pytest.raises(asyncio.CancelledError):
                await call

    run(agent(), run="base")
    assert isinstance(tt.open("base/t#0", home=home).steps[-1].interaction.outcome, Cancelled)
    run(agent(), run="again", replay="base/t#0")
    assert log.names == ["wait"]


# -- what is needed of the server


def test_a_read_that_is_not_recorded_starts_the_server_and_shakes_hands_with_it(log, run):
    async def agent(item):
        async with over_stdio(log)() as session:
            before = log.names.count("start")
            return before, outcome(await session.call_tool("stock", {"item": item}))

    run(agent("lamp"), run="base")
    (before, found), trial = run(agent("chair"), run="frozen", freeze="external", source="base")
    assert (before, found) == (1, 40)
    assert dict(trial.verdicts) == {"own": 3, "extended": 1}
    assert log.names == ["start", "stock", "start", "stock"]
    (_, again), trial = run(agent("chair"), run="frozen", freeze="external", source="base", world=0)
    assert (again, log.names.count("start")) == (40, 2)  # which the trial before has called


def test_over_http_it_is_the_same(log, run):
    async def agent(opened, item):
        async with opened() as session:
            return outcome(await session.call_tool("stock", {"item": item}))

    with served(shop(log).streamable_http_app()) as url:
        for name, opened in transports(url).items():
            if name != "SSE":
                run(agent(opened, "lamp"), run=name)
                _, trial = run(agent(opened, "chair"), run=f"{name} frozen", freeze="external", source=name)
                assert trial.verdicts["extended"] == 1
    assert len(log.names) == 6


def test_offline_a_call_that_is_not_recorded_starts_nothing(log, run):
    async def agent(item):
        async with over_stdio(log)() as session:
            await session.call_tool("stock", {"item": item})

    run(agent("lamp"), run="base")
    with pytest.raises(tt.Unanswered, match="tool stock has no answer"):
        run(agent("chair"), run="frozen", freeze="external", source="base", offline=True)
    assert log.names == ["start", "stock"]


def test_what_belongs_to_no_live_call_starts_no_server(log, run):
    async def agent(*, beside):
        async with over_stdio(log)() as session:
            if beside:
                await session._dispatcher.send_raw_request("ping", None)

    run(agent(beside=False), run="base")
    with pytest.raises(tt.Refused, match="a connection to the MCP server python was refused"):
        run(agent(beside=True), run="again", replay="base/t#0")
    assert log.names == ["start"]


def test_a_server_that_could_not_be_started_cannot_be_started_again(run, tmp_path):
    missing = program(Log(tmp_path / "log")).model_copy(update={"command": str(tmp_path / "nothing")})

    async def agent():
        with pytest.raises(FileNotFoundError) as caught:
            async with stdio_client(missing):
                pass
        return str(caught.value)

    assert run(agent(), run="base")[0] == run(agent(), run="again", replay="base/t#0")[0]


def test_other_requests_are_frozen_too(log, run):
    opened = listing(shop(log))

    async def agent():
        async with opened() as client:
            return (await client.read_resource("shop://hours")).contents[0].text

    assert [run(agent(), run="base")[0], run(agent(), run="again", replay="base/t#0")[0]] == ["open at 1"] * 2
    assert log.names == ["hours"]


def test_with_the_tools_frozen_alone_the_server_is_started_for_the_handshake(log, run):
    bought, _ = run(shopping(over_stdio(log)), run="base")
    assert run(shopping(over_stdio(log)), run="frozen", freeze="tool", source="base")[0] == bought
    assert log.names == ["start", "stock", "reserve", "stock", "start"]


# -- which server


def test_tools_of_one_name_on_two_servers_do_not_mix(tmp_path, run):
    logs = [Log(tmp_path / "log-1"), Log(tmp_path / "log-2")]

    async def agent(order):
        found = {}
        for place in order:
            async with listing(shop(logs[place], f"shop {place}"))() as session:
                found[place] = outcome(await session.call_tool("reserve", {"item": "lamp"}))
        return found

    live, _ = run(agent([0, 1]), run="base")
    assert live == {0: "shop 0 reserved lamp as 1", 1: "shop 1 reserved lamp as 1"}
    assert run(agent([0, 1]), run="frozen", freeze="external", source="base")[0] == live
    with pytest.raises(tt.Unanswered):  # the same call after another write
        run(agent([1]), run="frozen", freeze="external", source="base")
    run(agent([0]), run="one")
    with pytest.raises(tt.Unanswered, match="asked of mcp shop 1, and is recorded as asked of mcp shop 0"):
        run(agent([1]), run="frozen one", freeze="external", source="one")


def test_two_programs_that_call_themselves_the_same_do_not_mix(tmp_path, run, home):
    logs = [Log(tmp_path / "log-1"), Log(tmp_path / "log-2")]
    logs[1]("more")

    async def agent():
        async with over_stdio(logs[0])() as first, over_stdio(logs[1])() as second:
            return [outcome(await session.call_tool("stock", {"item": "lamp"})) for session in (second, first, second)]

    live, _ = run(agent(), run="base")
    assert live == [30, 20, 40]
    assert {call.detail["server"] for call in tools_of(home, "base/t#0")} == {"shop", "shop#2"}
    assert run(agent(), run="again", replay="base/t#0")[0] == live


# -- what a server asks back


@tt.tool(effect="read")
def thought():
    return "yes"


async def think(context, params):
    return CreateMessageResult(role="assistant", content=TextContent(type="text", text=thought()), model="m")


@pytest.mark.filterwarnings("ignore:The sampling capability is deprecated")
@pytest.mark.parametrize("over", ["stdio", "HTTP"])
def test_what_a_server_asks_back_is_recorded_beside_its_call_and_is_not_asked_where_that_is_frozen(
    over, log, run, home
):
    async def agent(opened):
        async with opened() as (read, write), ClientSession(read, write, sampling_callback=think) as session:
            await session.initialize()
            await session.list_tools()
            return (await session.call_tool("consult")).content[0].text

    with served(shop(log).streamable_http_app()) as url:

        def opened():
            return stdio_client(program(log)) if over == "stdio" else streamable_http_client(f"{url}/mcp")

        assert run(agent(opened), run="base")[0] == "it says yes"
        steps = [step.interaction for step in tt.open("base/t#0", home=home).steps if step.call.kind == "tool"]
        assert [(step.call.name, step.parent) for step in steps] == [("consult", None), ("thought", None)]
        assert run(agent(opened), run="frozen", freeze="external", source="base")[0] == "it says yes"
        with pytest.raises(tt.Divergence, match=r"1 recorded call was not asked for.*tool thought"):
            run(agent(opened), run="again", replay="base/t#0")
    assert log.names.count("consult") == 1


@pytest.mark.parametrize("over", ["stdio", "HTTP"])
def test_a_client_that_was_made_before_the_trial_is_the_same(over, log, run):
    async def agent(client):
        async with client:
            await client.list_tools()
            return outcome(await client.call_tool("stock", {"item": "lamp"}))

    with served(shop(log).streamable_http_app()) as url:

        def made():
            return Client(program(log) if over == "stdio" else f"{url}/mcp", mode="legacy")

        live, _ = run(agent(made()), run="base")
        seen = log.names
        frozen, trial = run(agent(made()), run="frozen", freeze="external", source="base", offline=True)
    assert (frozen, log.names, trial.verdicts.keys()) == (live, seen, {"own"})


# -- beside a live model


def test_the_model_is_live_and_the_server_is_not_there(log, run, provider):
    async def agent():
        async with httpx2.AsyncClient() as client, over_stdio(log)() as session:
            found = outcome(await session.call_tool("stock", {"item": "lamp"}))
            body = {"model": "m", "messages": [{"role": "user", "content": str(found)}]}
            await client.post(f"{provider.base_url}/chat/completions", json=body)
            return outcome(await session.call_tool("reserve", {"item": "lamp"}))

    live, _ = run(agent(), run="base")
    seen = log.names
    frozen, trial = run(agent(), run="frozen", freeze="external", source="base", offline=True)
    assert (frozen, log.names, provider.count) == (live, seen, 2)
    assert dict(trial.verdicts) == {"own": 5}
