"""pydantic-ai: each call that a `FunctionToolset` gets, which an agent's own tools are in, is a call of a tool.

Under the name that the model knows: toolsets that prefix or rename the tools of others are asked for it. What `ctx`
holds (the dependencies, the messages) does not belong to the call.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextvars import ContextVar
from typing import Any, Final

from cassettes.model import Call
from cassettes.recorder import aperform, current, passed_by

from .kept_results import is_declared
from .on_import import WhenImported
from .patches import Patches

__all__ = ["PYDANTIC_AI"]

_asked_for: ContextVar[str | None] = ContextVar("trialtape_pydantic_ai_name", default=None)

Calling = Callable[..., Awaitable[Any]]


def _patch_function(patches: Patches, module: Any) -> None:
    patches.wrap(module.FunctionToolset, "call_tool", _calling, "pydantic_ai.FunctionToolset")


def _patch_naming(name: str) -> Callable[[Patches, Any], None]:
    def patch(patches: Patches, module: Any) -> None:
        patches.wrap(getattr(module, name), "call_tool", _naming, f"pydantic_ai.{name}")

    return patch


def _calling(original: Calling) -> Calling:
    async def call_tool(toolset: Any, name: str, tool_args: Any, ctx: Any, tool: Any) -> Any:
        asked_for = _asked_for.get() or name
        token = _asked_for.set(None)  # of this call, and not of those inside it
        try:
            return await _called(asked_for, tool_args, ctx, tool, lambda: original(toolset, name, tool_args, ctx, tool))
        finally:
            _asked_for.reset(token)

    return call_tool


async def _called(name: str, arguments: Any, ctx: Any, tool: Any, real: Callable[[], Awaitable[Any]]) -> Any:
    recorder = current()
    if recorder is None:
        passed_by(lambda: f"tool {name}")
        return await real()
    schema = getattr(tool.call_func, "__self__", None)
    if is_declared(tool.call_func, getattr(schema, "function", None)):
        return await real()
    detail = {"tool_call_id": getattr(ctx, "tool_call_id", None)}
    return await aperform(recorder, Call("tool", name, dict(arguments), detail=detail), real)


def _naming(original: Calling) -> Calling:
    async def call_tool(toolset: Any, name: str, tool_args: Any, ctx: Any, tool: Any) -> Any:
        if _asked_for.get() is not None:
            return await original(toolset, name, tool_args, ctx, tool)
        token = _asked_for.set(name)
        try:
            return await original(toolset, name, tool_args, ctx, tool)
        finally:
            _asked_for.reset(token)

    return call_tool


PYDANTIC_AI: Final = WhenImported(
    "pydantic_ai",
    "pydantic-ai-slim",
    {
        "pydantic_ai.toolsets.function": _patch_function,
        "pydantic_ai.toolsets.prefixed": _patch_naming("PrefixedToolset"),
        "pydantic_ai.toolsets.renamed": _patch_naming("RenamedToolset"),
    },
    "pydantic-ai 2.68 or newer",
)
