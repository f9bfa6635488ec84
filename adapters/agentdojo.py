"""AgentDojo: its tools, as a pipeline calls them, and models that make no HTTP calls of their own.

`FunctionsRuntime.run_function` is the one place through which pipelines run tools. A call that is an argument of
another one is recorded before it, as a call of its own. Tools act on the environment of their task alone; what a call
changed in it is kept with the call, so that a frozen one changes it too, whether the trial tracks it or not.
"""

from __future__ import annotations

import importlib
import json
import time
from collections.abc import Callable, Mapping, Sequence
from importlib import util
from typing import Any, Final

from cassettes.errors import UnkeepableValue
from cassettes.model import Call, Changed, Reply, ToolRequest
from cassettes.recorder import Recorder, current, hand_out, passed_by, perform
from cassettes.values import pack

from .agentdojo_effects import effect_of
from .patches import PatchingAdapter
from .telemetry import apart

__all__ = ["AGENTDOJO", "AgentDojoAdapter", "recorded_model"]

_RUNTIME: Final = "agentdojo.functions_runtime"


class AgentDojoAdapter(PatchingAdapter):
    """Captures the tool calls of all runtimes."""

    name = "agentdojo"
    distributions = ("agentdojo",)

    def install(self) -> None:
        """Patch the runtime, if the library is installed. A second call does nothing."""
        if self._patches or util.find_spec(self.name) is None:
            return
        runtime = importlib.import_module(_RUNTIME)
        self._patches.wrap(
            runtime.FunctionsRuntime, "run_function", _recording(runtime), f"{_RUNTIME}.FunctionsRuntime"
        )


def _recording(library: Any) -> Callable[[Any], Any]:
    def make(original: Any) -> Any:
        def run_function(
            self: Any,
            env: Any,
            function: str,
            kwargs: Mapping[str, Any],
            raise_on_error: bool = False,  # noqa: FBT001, FBT002  # the library's signature
        ) -> tuple[Any, str | None]:
            recorder = current()
            if recorder is None:
                passed_by(lambda: f"tool {function}")
                answer: tuple[Any, str | None] = original(self, env, function, kwargs, raise_on_error)
                return answer
            nested = any(isinstance(value, library.FunctionCall) for value in kwargs.values())
            if nested and function in self.functions:
                try:
                    kwargs = self._execute_nested_calls(env, kwargs)
                except Exception as error:
                    if raise_on_error:
                        raise
                    return "", f"{type(error).__name__}: {error}"
            call = Call("tool", function, dict(kwargs), effect=effect_of(function), external=False)
            before = _parts_of(env) if call.may_write else {}

            def live() -> Any:
                result, problem = original(self, env, function, kwargs, raise_on_error)
                told = {"result": result, "error": problem}
                now = _parts_of(env) if before else {}
                changes = {name: vars(env)[name] for name, packed in now.items() if before.get(name) != packed}
                return Changed(told, changes) if changes else told

            outcome = perform(recorder, call, live)
            told = outcome.result if isinstance(outcome, Changed) else outcome
            if isinstance(outcome, Changed):
                _change(env, outcome.arguments)
            return told["result"], told["error"]

        return run_function

    return make


def _parts_of(env: Any) -> dict[str, bytes]:
    """The parts of an environment, packed; those that have no lossless form are not watched."""
    packed = {}
    for name, part in vars(env).items() if hasattr(env, "__dict__") else ():
        try:
            packed[name] = pack(part)
        except UnkeepableValue:
            continue
    return packed


def _change(env: Any, parts: Mapping[str, Any]) -> None:
    """Change an environment as a tool did; live, and where the trial tracks it, it is so already."""
    now = _parts_of(env)
    for name, part in parts.items():
        if now.get(name) != pack(part):
            vars(env)[name] = part


def recorded_model(element: Any, name: str | None = None) -> Any:
    """A pipeline element that asks a model, as one whose answers are recorded, and can be frozen.

    It is for elements that send nothing over HTTP, such as a model in this process. Those of AgentDojo itself need it
    not: what they send is seen. What such an element sends all the same is a part of its answer, and not recorded.

    Args:
        element: a ``BasePipelineElement`` whose ``query`` adds what the model said to the messages.
        name: of the model; default: the element's.
    """
    base: Any = importlib.import_module("agentdojo.agent_pipeline.base_pipeline_element").BasePipelineElement
    told = name or getattr(element, "name", None) or type(element).__name__

    class RecordedModel(base):  # type: ignore[misc]
        def __init__(self) -> None:
            self.name = getattr(element, "name", None)

        def query(
            self, query: str, runtime: Any, env: Any = None, messages: Sequence[Any] = (), extra_args: Any = None
        ) -> tuple[Any, ...]:
            extra = {} if extra_args is None else extra_args
            recorder = current()
            if recorder is None:
                passed_by(lambda: f"model {told}")
                asked: tuple[Any, ...] = element.query(query, runtime, env, messages, extra)
                return asked
            before = list(messages)
            request = {"messages": [_shown(message) for message in before], "tools": sorted(runtime.functions)}
            call = Call("model", told, request, effect="unknown", endpoint="agentdojo query", history="messages")
            said = _asked(recorder, call, lambda: element.query(query, runtime, env, messages, extra), before)
            kept = before[: said["kept"]]
            return query, runtime, env, [*kept, *said["messages"]], {**extra, **said["extra_args"]}

    return RecordedModel()


def _asked(recorder: Recorder, call: Call, query: Callable[[], tuple[Any, ...]], before: list[Any]) -> dict[str, Any]:
    """What came of asking: how many of the messages before stayed, those that came, and the extra arguments."""
    ticket = recorder.begin(call)
    if ticket.answer is not None:
        frozen: dict[str, Any] = hand_out(ticket.answer)
        return frozen
    if ticket.delay:
        time.sleep(ticket.delay)
    with apart():
        try:
            *_, messages, extra = query()
        except BaseException as error:
            ticket.failed(error)
            raise
    kept = len(before) if list(messages[: len(before)]) == before else 0
    added = list(messages[kept:])
    said = {"kept": kept, "messages": added, "extra_args": dict(extra)}
    ticket.done(said, _reply(added))
    return said


def _reply(messages: Sequence[Mapping[str, Any]]) -> Reply | None:
    """The last thing that the model said, for the reader."""
    last = next((message for message in reversed(messages) if message["role"] == "assistant"), None)
    if last is None:
        return None
    calls = (
        ToolRequest(call.id, call.function, json.dumps(call.args, default=repr)) for call in last["tool_calls"] or ()
    )
    return Reply(text=_text(last["content"]) or None, tool_calls=tuple(calls))


def _shown(message: Mapping[str, Any]) -> dict[str, Any]:
    """A message without the library's classes."""
    told = {**message, "content": _text(message["content"])}
    if told.get("tool_calls"):
        told["tool_calls"] = [call.model_dump(exclude_none=True) for call in told["tool_calls"]]
    if told.get("tool_call") is not None:
        told["tool_call"] = told["tool_call"].model_dump(exclude_none=True)
    return told


def _text(blocks: Sequence[Mapping[str, Any]] | None) -> str:
    return "\n".join(block["content"] for block in blocks or () if block["type"] == "text" and block["content"])


AGENTDOJO: Final = AgentDojoAdapter()
