"""What is used of the installed agentdojo, in one place."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.metadata import version
from typing import Any, Final

from cassettes.errors import BadInput

try:
    from agentdojo.agent_pipeline.errors import AbortAgentError
    from agentdojo.agent_pipeline.tool_execution import tool_result_to_str
    from agentdojo.attacks.attack_registry import load_attack
    from agentdojo.functions_runtime import FunctionCall, FunctionsRuntime
    from agentdojo.task_suite.load_suites import get_suite
    from agentdojo.types import get_text_content_as_str
except ImportError as error:
    raise BadInput(f"AgentDojo is not installed here ({error}): pip install 'trialtape[agentdojo]'") from error

__all__ = [
    "LATEST",
    "AbortAgentError",
    "FunctionCall",
    "FunctionsRuntime",
    "fresh_environment",
    "holds",
    "load_attack",
    "package_version",
    "suite_named",
    "task_named",
    "text_of",
    "tool_result_to_str",
]

LATEST: Final = "v1.2.2"


def package_version() -> str:
    """Of the installed library."""
    return version("agentdojo")


def suite_named(name: str, benchmark: str) -> Any:
    """A suite in a version of the benchmark.

    Raises:
        BadInput: there is none.
    """
    try:
        return get_suite(benchmark, name)
    except (KeyError, ValueError) as error:
        raise BadInput(
            f"AgentDojo {package_version()} has no suite {name!r} in benchmark version {benchmark}"
        ) from error


def task_named(suite: Any, name: str) -> Any:
    """A user task or an injection task of a suite.

    Raises:
        BadInput: there is none.
    """
    tasks = {**suite.user_tasks, **suite.injection_tasks}
    if name not in tasks:
        raise BadInput(f"suite {suite.name} has no task {name!r}; its tasks: {', '.join(tasks)}")
    return tasks[name]


def fresh_environment(suite: Any, task: Any, injections: Mapping[str, str]) -> Any:
    """The environment in which a task begins, as the library makes it."""
    made = suite.load_and_inject_default_environment(dict(injections))
    prepare = getattr(task, "init_environment", None)  # an injection task has none
    return made if prepare is None else prepare(made)


def text_of(blocks: Sequence[Any] | None) -> str:
    """The text of a message as the library's checks see it."""
    text: str = get_text_content_as_str(list(blocks or ()))
    return text


def holds(task: Any, output: str, before: Any, after: Any, traces: Sequence[Any]) -> bool:
    """Whether a user task is solved, or the goal of an injection reached; the traces decide if it looks at them."""
    solves = hasattr(task, "utility")
    by_traces = task.utility_from_traces if solves else task.security_from_traces
    decided = by_traces(output, before, after, list(traces))
    if decided is not None:
        return bool(decided)
    return bool((task.utility if solves else task.security)(output, before, after))
