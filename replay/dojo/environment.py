"""AgentDojo's suites as environments in which recorded tool calls are made again: ``--env agentdojo``.

Both for trials that were recorded live, whose tracked state is the environment, and for imported logs.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from cassettes.canonical import canonical, digest
from cassettes.errors import BadInput, UnknownTool
from replay.view import View

from .library import LATEST, FunctionsRuntime, fresh_environment, package_version, suite_named, task_named
from .library import tool_result_to_str as as_text
from .scoring import attack_success, utility

__all__ = ["environment"]

# What the suites' tools take from the clock.
_TIMES: Final = (
    "tool:send_email:result.timestamp",
    "tool:create_file:result.last_modified",
    "tool:append_to_file:result.last_modified",
    "tool:share_file:result.last_modified",
)
_IN_STATE: Final = (
    "inbox.emails.*.timestamp",
    "cloud_drive.files.*.last_modified",
    "cloud_drive.initial_files[*].last_modified",
)


class _Dojo:
    """The environment of one task."""

    ignore_fields = _TIMES
    ignore_state = _IN_STATE

    def __init__(self, suite: Any, version: str, start: Any) -> None:
        self.name = f"agentdojo {suite.name}"
        self.version = f"{package_version()}, benchmark {version}"
        self.data_digest = digest(suite.load_and_inject_default_environment({}))
        self._runtime = FunctionsRuntime(suite.tools)
        self._environment = start

    def _run(self, name: str, arguments: Mapping[str, Any]) -> tuple[Any, str | None]:
        result, error = self._runtime.run_function(self._environment, name, dict(arguments))
        return result, error


class _Live(_Dojo):
    """Of a trial that was recorded live: answers are the runtime's own."""

    def call(self, name: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
        result, error = self._run(name, arguments)
        if name not in self._runtime.functions:
            raise UnknownTool(error)
        return {"result": result, "error": error}

    def state(self) -> Any:
        return self._environment

    def verdict(self, view: View) -> dict[str, Any]:
        """The library's own checks, on the environment of now."""
        checks = (utility, attack_success) if "injection_task" in view.task.tags else (utility,)
        return {by.name: by(view) for by in checks}


class _Imported(_Dojo):
    """Of an imported log: answers are what the model was told, as text."""

    def call(self, name: str, arguments: Mapping[str, Any]) -> str:
        if name not in self._runtime.functions:
            raise UnknownTool(f"Invalid tool {name} provided.")  # what the library tells the model
        result, error = self._run(name, arguments)
        return error if error is not None else str(as_text(result))


def _as_loaded(start: Any) -> Any:
    """The recorded environment with its parts shared as in one that the library loads.

    There an e-mail is one object in the list and in the map of them, so that a change of one shows in both.
    """
    again = type(start).model_validate(start.model_dump())
    return again if canonical(again.model_dump()) == canonical(start.model_dump()) else start


def environment(known: Mapping[str, Any]) -> _Dojo:
    """The environment of a recorded trial.

    Raises:
        BadInput: it is none of AgentDojo's.
    """
    tags = known["tags"]
    if "suite" not in tags or "user_task" not in tags:
        raise BadInput(f"{known['trial']} is no trial of AgentDojo: it names neither suite nor user task")
    version = str(tags.get("benchmark_version") or known["config"].get("benchmark_version") or LATEST)
    suite = suite_named(tags["suite"], version)
    if known["state"] is not None:
        return _Live(suite, version, _as_loaded(known["state"]))
    injections = known.get("injections") or {}
    return _Imported(suite, version, fresh_environment(suite, task_named(suite, tags["user_task"]), injections))
