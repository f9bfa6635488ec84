"""openai-agents: each call of a `FunctionTool` that a runner makes is a call of a tool.

What the model is shown is what is kept: also where the SDK makes a text of an error or of a timeout. A tool of an MCP
server is recorded as that; an agent as a tool calls models, so it is a span around them.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from typing import Any, Final

from cassettes.model import Call
from cassettes.recorder import current, passed_by

from .kept_results import Form, acalled, is_declared
from .on_import import WhenImported
from .patches import Patches

__all__ = ["OPENAI_AGENTS"]

_INVOKE: Final = "_invoke_function_tool_with_metadata"
_FAILED: Final = "sdk_generated_error"  # matters to tools with a schema of their output alone


def _patch(patches: Patches, module: Any) -> None:
    found = getattr(module, _INVOKE)
    # A module that is imported during a trial took the function from one that is patched.
    setattr(module, _INVOKE, getattr(found, "__wrapped__", found))
    patches.wrap(module, _INVOKE, _invoking, module.__name__)


def _invoking(original: Callable[..., Awaitable[Any]]) -> Callable[..., Awaitable[Any]]:
    result_type = original.__globals__["_FunctionToolInvocationResult"]
    origin_of = original.__globals__["get_function_tool_origin"]

    def keep(result: Any, tool: Any) -> Any:
        flagged = result.is_sdk_generated_error and tool.output_json_schema is not None
        return {_FAILED: result.output} if flagged else result.output

    def give(answer: Any, tool: Any) -> Any:
        if tool.output_json_schema is not None and type(answer) is dict and answer.keys() == {_FAILED}:
            return result_type(answer[_FAILED], is_sdk_generated_error=True)
        return result_type(answer)

    async def invoke(*, function_tool: Any, context: Any, arguments: str) -> Any:
        def real() -> Awaitable[Any]:
            return original(function_tool=function_tool, context=context, arguments=arguments)

        recorder = current()
        if recorder is None:
            passed_by(lambda: f"tool {function_tool.qualified_name}")
            return await real()
        origin = origin_of(function_tool)
        if is_declared(getattr(function_tool, "__wrapped__", None)) or (origin is not None and origin.type == "mcp"):
            return await real()
        call = Call(
            "tool",
            function_tool.qualified_name,
            _arguments(arguments),
            detail={"tool_call_id": getattr(context, "tool_call_id", None)},
        )
        form = Form(lambda result: keep(result, function_tool), lambda answer: give(answer, function_tool))
        return await acalled(recorder, call, real, form)

    return invoke


def _arguments(text: str) -> dict[str, Any]:
    """The arguments that the model wrote; what is no JSON object is kept as it is."""
    try:
        found = json.loads(text) if text.strip() else {}
    except ValueError:
        found = text
    return found if isinstance(found, dict) else {"input": found}


OPENAI_AGENTS: Final = WhenImported(
    "openai_agents",
    "openai-agents",
    {"agents.tool": _patch, "agents.run_internal.tool_execution": _patch},
    "openai-agents 0.24 or newer",
)
