"""LangChain and LangGraph: what `BaseTool.run` and `arun` are asked is a call of a tool.

Arguments that the framework injects (the graph's state, a store, a runtime) are not the model's, and do not belong to
the call. A recorded message comes back with the id of the tool call that it answers now. In a replay the tool's own
callbacks (`on_tool_start`, `on_tool_end`) are not told, as no tool runs.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Awaitable, Callable
from typing import Any, Final

from cassettes.model import Call
from cassettes.recorder import current, passed_by

from .kept_results import Form, acalled, called, is_declared
from .on_import import WhenImported
from .patches import Patches

__all__ = ["LANGCHAIN"]

_MCP: Final = "langchain_mcp_adapters"  # whose tools are recorded as those of their server


def _patch(patches: Patches, module: Any) -> None:
    message, formatted = module.ToolMessage, module._format_output  # noqa: SLF001 - pinned by a contract test
    label = "langchain_core.tools.BaseTool"

    def form(tool: Any, call_id: str | None) -> Form:
        def keep(result: Any) -> Any:
            if type(result) is message and result == formatted(result.content, None, call_id, tool.name, "success"):
                return result.content
            return _answering(result, message, call_id, "")

        def give(answer: Any) -> Any:
            if call_id is None:
                return answer
            return formatted(_answering(answer, message, "", call_id), None, call_id, tool.name, "success")

        return Form(keep, give)

    patches.wrap(module.BaseTool, "run", lambda original: _running(original, form), label)
    patches.wrap(module.BaseTool, "arun", lambda original: _arunning(original, form), label)


def _running(original: Callable[..., Any], form: Callable[[Any, str | None], Form]) -> Callable[..., Any]:
    def run(tool: Any, tool_input: Any, *args: Any, **options: Any) -> Any:
        def real() -> Any:
            return original(tool, tool_input, *args, **options)

        recorder = current()
        if recorder is None or _records_itself(tool):
            _pass(tool)
            return real()
        call_id = options.get("tool_call_id")
        return called(recorder, _call(tool, tool_input, call_id), real, form(tool, call_id))

    return run


def _arunning(
    original: Callable[..., Awaitable[Any]], form: Callable[[Any, str | None], Form]
) -> Callable[..., Awaitable[Any]]:
    async def arun(tool: Any, tool_input: Any, *args: Any, **options: Any) -> Any:
        def real() -> Awaitable[Any]:
            return original(tool, tool_input, *args, **options)

        recorder = current()
        if recorder is None or _records_itself(tool):
            _pass(tool)
            return await real()
        call_id = options.get("tool_call_id")
        return await acalled(recorder, _call(tool, tool_input, call_id), real, form(tool, call_id))

    return arun


def _pass(tool: Any) -> None:
    if current() is None:
        passed_by(lambda: f"tool {tool.name}")


def _records_itself(tool: Any) -> bool:
    functions = [getattr(tool, name, None) for name in ("func", "coroutine", "_run", "_arun")]
    return is_declared(*functions) or any((getattr(f, "__module__", None) or "").startswith(_MCP) for f in functions)


def _call(tool: Any, tool_input: Any, call_id: str | None) -> Call:
    of_model = tool._filter_injected_args  # noqa: SLF001 - pinned by a contract test
    arguments = of_model(tool_input) if isinstance(tool_input, dict) else {"input": tool_input}
    return Call("tool", tool.name, arguments, detail={} if call_id is None else {"tool_call_id": call_id})


def _answering(result: Any, message: type[Any], old: str | None, new: str) -> Any:
    """The result; every message in it (also in the update of a `Command`) that answers ``old`` answers ``new``."""
    if isinstance(result, message):
        return result.model_copy(update={"tool_call_id": new}) if result.tool_call_id == old else result
    if type(result) is list:
        return [_answering(item, message, old, new) for item in result]
    if type(result) is dict:
        return {key: _answering(item, message, old, new) for key, item in result.items()}
    if dataclasses.is_dataclass(result) and not isinstance(result, type) and hasattr(result, "update"):
        return dataclasses.replace(result, update=_answering(result.update, message, old, new))
    return result


LANGCHAIN: Final = WhenImported(
    "langchain", "langchain-core", {"langchain_core.tools.base": _patch}, "langchain-core 1.8 or newer"
)
