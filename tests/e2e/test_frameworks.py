"""Tools of agent frameworks, through the real frameworks: recorded once each, and frozen without running."""

from __future__ import annotations

import asyncio
import itertools
from typing import Annotated, Any

import pydantic
import pytest

import trialtape as tt

langchain = pytest.importorskip("langchain_core.tools", reason="langchain-core is not installed")
langgraph = pytest.importorskip("langgraph.prebuilt", reason="langgraph is not installed")
agents = pytest.importorskip("agents", reason="openai-agents is not installed")
pydantic_ai = pytest.importorskip("pydantic_ai", reason="pydantic-ai-slim is not installed")

from agents.models.interface import Model  # noqa: E402
from langchain_core.messages import AIMessage, ToolMessage  # noqa: E402
from langgraph.graph import END, START, MessagesState, StateGraph  # noqa: E402
from langgraph.types import Command  # noqa: E402
from openai.types.responses import ResponseFunctionToolCall, ResponseOutputMessage, ResponseOutputText  # noqa: E402
from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart, ToolReturnPart  # noqa: E402
from pydantic_ai.models.function import FunctionModel  # noqa: E402
from pydantic_ai.toolsets import FunctionToolset  # noqa: E402

agents.set_tracing_disabled(True)

CALLED: list[str] = []
IDS = itertools.count()


@pytest.fixture(autouse=True)
def nothing_called():
    CALLED.clear()


def weather(city: str) -> str:
    """The weather, which is another each time."""
    CALLED.append(city)
    return f"sunny in {city}, {len(CALLED)}"


async def aweather(city: str) -> str:
    """The weather, which is another each time."""
    return weather(city)


def fail(city: str) -> str:
    """Fails."""
    CALLED.append(city)
    raise ValueError(f"no weather in {city}")


def steps_of(home, name):
    return [step.interaction for step in tt.open(name, home=home).steps]


# -- LangChain


class Graph(MessagesState):
    """The state that the framework injects."""

    seen: str


def in_graph(*tools, names=("weather",), is_async=False, city="Oslo"):
    """Runs a graph whose model asks for the tools; gives the tools' messages."""

    def model(state):
        if isinstance(state["messages"][-1], ToolMessage):
            return {"messages": [AIMessage("done")]}
        calls = [{"name": name, "args": {"city": city}, "id": f"call-{next(IDS)}"} for name in names]
        return {"messages": [AIMessage("", tool_calls=calls)]}

    graph = StateGraph(Graph)
    graph.add_node("model", model)
    graph.add_node("tools", langgraph.ToolNode(list(tools)))
    graph.add_edge(START, "model")
    graph.add_conditional_edges("model", lambda state: "tools" if state["messages"][-1].tool_calls else END)
    graph.add_edge("tools", "model")
    given = {"messages": [("user", "hi")], "seen": str(next(IDS))}
    compiled = graph.compile()
    result = asyncio.run(compiled.ainvoke(given)) if is_async else compiled.invoke(given)
    asked = [call["id"] for message in result["messages"] for call in getattr(message, "tool_calls", [])]
    answers = [message for message in result["messages"] if isinstance(message, ToolMessage)]
    assert [answer.tool_call_id for answer in answers] == asked
    return [(answer.content, answer.artifact, answer.status, answer.name) for answer in answers]


@pytest.mark.parametrize(("function", "is_async"), [(weather, False), (weather, True), (aweather, True)])
def test_a_langchain_tool_is_recorded_once_and_frozen(function, is_async, trial, home):
    tool = langchain.tool("weather")(function)
    with trial(run="base"):
        live = in_graph(tool, is_async=is_async)
    [step] = steps_of(home, "base/t#0")
    assert (step.call.kind, step.call.name, dict(step.call.arguments)) == ("tool", "weather", {"city": "Oslo"})
    assert step.outcome.value == "sunny in Oslo, 1"
    with trial(run="again", replay="base/t#0"):
        assert in_graph(tool, is_async=is_async) == live
    with trial(run="frozen", freeze="external", source="base") as frozen:
        assert in_graph(tool, is_async=is_async) == live
    assert (CALLED, dict(frozen.verdicts)) == (["Oslo"], {"own": 1})
    with (
        pytest.raises(tt.Unanswered, match="tool weather has no answer"),
        trial(run="frozen", freeze="external", source="base", world=0),
    ):
        in_graph(tool, is_async=is_async, city="Rome")
    assert CALLED == ["Oslo"]


def test_artifacts_errors_and_commands_of_langchain_tools_come_back(trial, home):
    @langchain.tool(response_format="content_and_artifact")
    def both(city: str) -> tuple[str, dict[str, Any]]:
        """Gives both."""
        return weather(city), {"raw": [1, 2]}

    failing = langchain.StructuredTool.from_function(fail, handle_tool_error=True)

    @langchain.tool
    def refused(city: str) -> str:
        """Is refused."""
        raise langchain.ToolException(f"not {CALLED.append(city) or city}")

    refused.handle_tool_error = True

    @langchain.tool
    def command(city: str, tool_call_id: Annotated[str, langchain.InjectedToolCallId]) -> Command:
        """Updates the state."""
        return Command(update={"messages": [ToolMessage(weather(city), tool_call_id=tool_call_id)]})

    names = ("both", "refused", "command")
    with trial(run="base"):
        live = in_graph(both, refused, command, names=names)
        with pytest.raises(ValueError, match="no weather in Oslo"):
            failing.invoke({"city": "Oslo"})
    assert [row[1:3] for row in live] == [({"raw": [1, 2]}, "success"), (None, "error"), (None, "success")]
    called = list(CALLED)
    with trial(run="again", replay="base/t#0"):
        assert in_graph(both, refused, command, names=names) == live
        with pytest.raises(ValueError, match="no weather in Oslo"):
            failing.invoke({"city": "Oslo"})
    assert called == CALLED


def test_arguments_that_a_langchain_tool_cannot_take_are_told_again(trial, home):
    tool = langchain.tool("weather")(weather)

    def run():
        with pytest.raises(pydantic.ValidationError) as caught:
            tool.invoke({"town": "Oslo"})
        return str(caught.value)

    with trial(run="base"):
        live = run()
    with trial(run="again", replay="base/t#0"):
        assert run() == live


def test_what_langgraph_injects_is_no_argument(trial, home):
    @langchain.tool
    def looking(city: str, state: Annotated[dict, langgraph.InjectedState]) -> str:
        """Looks at the state."""
        return f"{weather(city)} {len(state)}"

    with trial(run="base"):
        live = in_graph(looking, names=("looking",))
    assert dict(steps_of(home, "base/t#0")[0].call.arguments) == {"city": "Oslo"}
    with trial(run="again", replay="base/t#0"):
        assert in_graph(looking, names=("looking",)) == live


# -- openai-agents


class Scripted(Model):
    """Asks for the tools, then says what they answered."""

    def __init__(self, *names, arguments='{"city": "Oslo"}'):
        self.names = names
        self.arguments = arguments

    async def get_response(self, system_instructions, input, *args, **kwargs):  # noqa: A002 - its name
        outputs = [item["output"] for item in input if isinstance(item, dict) and "output" in item]
        if outputs:
            text = ResponseOutputText(type="output_text", text=" | ".join(map(str, outputs)), annotations=[])
            said = [ResponseOutputMessage(id="m", type="message", role="assistant", status="completed", content=[text])]
        else:
            said = [
                ResponseFunctionToolCall(
                    arguments=self.arguments, call_id=f"call-{next(IDS)}", name=name, type="function_call"
                )
                for name in self.names
            ]
        return agents.ModelResponse(output=said, usage=agents.Usage(), response_id=None)

    def stream_response(self, *args, **kwargs):
        raise NotImplementedError


def by_agent(tools, *names, **options):
    agent = agents.Agent(name="a", tools=list(tools), model=Scripted(*names, **options))
    return asyncio.run(agents.Runner.run(agent, "hi")).final_output


async def by_hand(context, arguments):
    return weather(f"hand {arguments}")


def hand_made():
    schema = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
    return agents.FunctionTool("by_hand", "made by hand", schema, by_hand, strict_json_schema=False)


def test_function_tools_of_openai_agents_are_recorded_once_and_frozen(trial, home):
    tools = [
        agents.function_tool(weather),
        agents.function_tool(aweather),
        agents.function_tool(fail),
        hand_made(),
    ]
    names = ("weather", "aweather", "fail", "by_hand")
    with trial(run="base"):
        live = by_agent(tools, *names)
    steps = steps_of(home, "base/t#0")
    assert {step.call.name: dict(step.call.arguments) for step in steps} == {name: {"city": "Oslo"} for name in names}
    assert "error" in next(step.outcome.value for step in steps if step.call.name == "fail")
    called = sorted(CALLED)
    assert len(called) == 4
    for options in ({"replay": "base/t#0"}, {"freeze": "tool", "source": "base"}):
        with trial(run=f"by {next(iter(options))}", **options) as again:
            assert by_agent(tools, *names) == live
        assert again.verdicts.keys() <= {"own", "raced"}  # they run side by side
    assert sorted(CALLED) == called
    with (
        pytest.raises(tt.Unanswered, match="tool weather has no answer"),
        trial(run="other", freeze="external", source="base"),
    ):
        by_agent(tools, "weather", arguments='{"city": "Rome"}')


def test_an_agent_as_a_tool_is_a_span_and_its_tools_are_frozen(trial, home):
    inner = agents.Agent(name="inner", tools=[agents.function_tool(weather)], model=Scripted("weather"))
    outer = inner.as_tool("ask_inner", "asks the inner agent")
    with trial(run="base"):
        live = by_agent([outer], "ask_inner", arguments='{"input": "hi"}')
    assert [(step.call.name, step.parent) for step in steps_of(home, "base/t#0")] == [
        ("ask_inner", None),
        ("weather", 0),
    ]
    with trial(run="frozen", freeze="external", source="base") as frozen:
        assert by_agent([outer], "ask_inner", arguments='{"input": "hi"}') == live
    assert (CALLED, dict(frozen.verdicts)) == (["Oslo"], {"own": 1})


def test_a_tool_of_an_mcp_server_is_recorded_once_by_its_server(trial, home, tmp_path):
    from agents.mcp import MCPServerStdio

    from tests.mcp_shop import Log, program

    log = Log(tmp_path / "log")

    async def run():
        params = program(log)
        async with MCPServerStdio({"command": params.command, "args": params.args}) as server:
            model = Scripted("stock", arguments='{"item": "lamp"}')
            agent = agents.Agent(name="a", mcp_servers=[server], model=model)
            return (await agents.Runner.run(agent, "hi")).final_output

    with trial(run="base"):
        live = asyncio.run(run())
    tools = [step.call for step in steps_of(home, "base/t#0") if step.call.kind == "tool"]
    assert [(call.name, call.effect, call.endpoint) for call in tools] == [("stock", "read", "mcp shop")]
    seen = log.names
    with trial(run="frozen", freeze="external", source="base", offline=True):
        assert asyncio.run(run()) == live
    assert log.names == seen == ["start", "stock"]


# -- pydantic-ai


def answer_of(agent):
    return asyncio.run(agent.run("hi")).output


def asking(*names):
    def reply(messages, info):
        returned = [part for message in messages for part in message.parts if isinstance(part, ToolReturnPart)]
        if [part for part in returned if "again" not in str(part.content)]:
            return ModelResponse(parts=[TextPart(" | ".join(str(part.content) for part in returned))])
        return ModelResponse(parts=[ToolCallPart(name, {"city": "Oslo"}) for name in names])

    return FunctionModel(reply)


def test_functions_of_pydantic_ai_are_recorded_once_and_frozen(trial, home):
    def made():
        return pydantic_ai.Agent(asking("weather", "aweather"), tools=[weather, aweather])

    with trial(run="base"):
        live = answer_of(made())
    steps = steps_of(home, "base/t#0")
    assert {step.call.name: dict(step.call.arguments) for step in steps} == {
        "weather": {"city": "Oslo"},
        "aweather": {"city": "Oslo"},
    }
    called = list(CALLED)
    for options in ({"replay": "base/t#0"}, {"freeze": "external", "source": "base"}):
        with trial(run=f"by {next(iter(options))}", **options) as again:
            assert answer_of(made()) == live
        assert again.verdicts.keys() <= {"own", "raced"}  # they run side by side
    assert called == CALLED


def test_tools_of_one_name_behind_prefixes_do_not_mix(trial, home):
    def other(city: str) -> str:
        """Another one."""
        CALLED.append(city)
        return "news"

    one = FunctionToolset([weather]).prefixed("one")
    two = FunctionToolset().prefixed("two").renamed({"three_weather": "two_weather"})
    two.wrapped.wrapped.add_function(other, name="weather")

    def run():
        agent = pydantic_ai.Agent(asking("one_weather", "three_weather"), toolsets=[one, two])
        return answer_of(agent)

    with trial(run="base"):
        live = run()
    assert {step.call.name for step in steps_of(home, "base/t#0")} == {"one_weather", "three_weather"}
    with trial(run="frozen", freeze="external", source="base"):
        assert run() == live
    assert len(CALLED) == 2


def test_what_a_tool_of_pydantic_ai_raises_to_be_asked_again_is_an_outcome(trial, home):
    def shy(city: str) -> str:
        """Wants to be asked twice."""
        CALLED.append(city)
        if len(CALLED) == 1:
            raise pydantic_ai.ModelRetry("ask again")
        return weather(city)

    def run():
        return answer_of(pydantic_ai.Agent(asking("shy"), tools=[shy], retries=2))

    with trial(run="base"):
        live = run()
    assert [type(step.outcome).__name__ for step in steps_of(home, "base/t#0")] == ["Error", "Value"]
    called = list(CALLED)
    with trial(run="again", replay="base/t#0"):
        assert run() == live
    assert called == CALLED


# -- tools that are declared


@tt.tool(effect="read")
def declared(city: str) -> str:
    """Declared already."""
    return weather(city)


@pytest.mark.parametrize(
    "run",
    [
        lambda: in_graph(langchain.tool(declared), names=("declared",)),
        lambda: by_agent([agents.function_tool(declared)], "declared"),
        lambda: answer_of(pydantic_ai.Agent(asking("declared"), tools=[declared])),
    ],
    ids=["langchain", "openai-agents", "pydantic-ai"],
)
def test_a_declared_tool_in_a_framework_is_recorded_once_as_it_is_declared(run, trial, home):
    with trial(run="base"):
        live = run()
    [step] = steps_of(home, "base/t#0")
    assert (step.call.name, step.call.effect) == ("declared", "read")
    with trial(run="frozen", freeze="external", source="base"):
        assert run() == live
    assert CALLED == ["Oslo"]


# -- how they are patched


def test_nothing_is_left_behind():
    from agents import tool as agents_tool
    from agents.run_internal import tool_execution

    from adapters.langchain import LANGCHAIN
    from adapters.openai_agents import OPENAI_AGENTS
    from adapters.pydantic_ai import PYDANTIC_AI

    def originals():
        return (
            langchain.BaseTool.run,
            langchain.BaseTool.arun,
            agents_tool._invoke_function_tool_with_metadata,
            tool_execution._invoke_function_tool_with_metadata,
            FunctionToolset.call_tool,
        )

    before = originals()
    for adapter in (LANGCHAIN, OPENAI_AGENTS, PYDANTIC_AI):
        adapter.install()
        adapter.install()
        assert adapter.patched()
    assert not set(before) & set(originals())
    for adapter in (LANGCHAIN, OPENAI_AGENTS, PYDANTIC_AI):
        adapter.uninstall()
        assert adapter.patched() == []
    assert originals() == before
