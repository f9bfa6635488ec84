"""An agent and a user who talk until one of tau-bench's ends: a stop phrase, a terminal tool, a cap.

Both sides are *parties*: they are told what happened, and act. Their tools are called here, so that actions and errors
are counted alike for every agent, and whatever a party does with a model is its own affair.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager, ExitStack
from typing import Any, Final, Literal, Protocol

from attrs import field, frozen

from cassettes.errors import BadInput
from replay.actors import acting_as
from replay.trial import Trial

from .tasks import Task

__all__ = ["MODES", "Act", "Dialogue", "Heard", "Made", "Party", "Request", "Result"]

Mode = Literal["default", "no-user", "oracle-plan", "no-user-oracle-plan"]
MODES: tuple[Mode, ...] = ("default", "no-user", "oracle-plan", "no-user-oracle-plan")

Tools = Mapping[str, Callable[..., Any]]

_STOP: Final = "###STOP###"
_OPENING: Final = "Hi! How can I help you today?"


@frozen
class Request:
    """A tool call that a party asks for.

    Attributes:
        arguments: by name; or the JSON text of that, as models give it: one that is no object is a failed call.
        id: the party's own, given back with the result.
    """

    name: str
    arguments: Mapping[str, Any] | str = field(factory=dict)
    id: str | None = None


@frozen
class Result:
    """What came of a request.

    Attributes:
        text: what the tool returned; of something that is no text, its JSON.
        failed: the tool does not exist or raised, or the arguments were no JSON; then ``text`` begins with ``Error``.
    """

    request: Request
    text: str
    failed: bool = False


@frozen
class Heard:
    """What a party is told.

    Attributes:
        text: what the other one said; None if the results of its own calls are told.
        results: of its own calls, in their order.
        plan: in an oracle mode, what is to be done; the agent is told it at its first turn.
    """

    text: str | None = None
    results: tuple[Result, ...] = ()
    plan: str | None = None


def _requests(given: Iterable[Request]) -> tuple[Request, ...]:
    return tuple(given)


@frozen
class Act:
    """What a party does: it says something, or calls tools. A text beside calls is kept, and not said."""

    text: str = ""
    calls: tuple[Request, ...] = field(default=(), converter=_requests)


class Party(Protocol):
    """One side of a dialogue, made anew for each trial."""

    def act(self, heard: Heard) -> Act:
        """What it does now."""
        ...


Made = Party | AbstractContextManager[Party]
"""A side, or a block that gives it: what it opens, such as a client, it closes when the trial is over."""


@frozen
class Dialogue:
    """The ``agent`` of a suite: it lets an agent and a user talk, and ends the trial as tau-bench does.

    Attributes:
        agent: makes the agent's side of a trial.
        user: makes the user's side, which acts as ``user``; not needed in the no-user modes. Its attribute
            ``settings``, if it has one, belongs to the run's configuration.
        tools: makes the agent's tools for a trial, by name, such as methods of an object on ``trial.state``.
        user_tools: likewise the user's own, on the same state or another: dual control.
        opening: what the agent says first; empty: the user begins by itself.
        stop: who says this ends the dialogue; ``user_stop`` or ``agent_stop``.
        terminal_tools: a call of one of these ends it, after its result.
        max_actions: of the agent, messages and calls; the user's do not count. Reached, the trial is capped.
        max_errors: of tool calls of both sides. Reached, the trial is capped.
        mode: ``no-user`` gives the agent the instruction itself; ``oracle-plan`` tells it the ``plan`` first.
        plan: of a task, what is to be done, for the oracle modes.
        versions: of what else decides: the user's prompt, guidelines, the policy; part of the run's configuration.
    """

    agent: Callable[[Trial], Made]
    user: Callable[[Trial], Made] | None = None
    tools: Callable[[Trial], Tools] = field(default=lambda _trial: {})
    user_tools: Callable[[Trial], Tools] = field(default=lambda _trial: {})
    opening: str = _OPENING
    stop: str = _STOP
    terminal_tools: frozenset[str] = field(default=frozenset(), converter=frozenset)
    max_actions: int = 30
    max_errors: int = 10
    mode: Mode = "default"
    plan: Callable[[Task], str] | None = None
    versions: Mapping[str, str] = field(factory=dict)

    def __attrs_post_init__(self) -> None:
        if self.mode not in MODES:
            raise BadInput(f"{self.mode!r} is no mode of a dialogue: {', '.join(MODES)} are")
        if self.user is None and self._has_user:
            raise BadInput(f"a dialogue in mode {self.mode} needs a user")
        if self.plan is None and self._has_plan:
            raise BadInput(f"a dialogue in mode {self.mode} needs plan=..., which tells what is to be done in a task")
        if self.max_actions < 1 or self.max_errors < 1 or not self.stop:
            raise BadInput("max_actions and max_errors are at least 1, and stop is a text")

    @property
    def settings(self) -> dict[str, Any]:
        """What of it belongs to the run's configuration: two runs that differ in it are not alike."""
        user: Mapping[str, Any] = getattr(self.user, "settings", {}) if self._has_user else {}
        return {
            "caps": {"max_actions": self.max_actions, "max_errors": self.max_errors},
            "dialogue": {
                "mode": self.mode,
                "opening": self.opening,
                "stop": self.stop,
                "terminal_tools": sorted(self.terminal_tools),
                "versions": dict(self.versions),
                **({"user": dict(user)} if user else {}),
            },
        }

    def __call__(self, trial: Trial) -> None:
        """Carry out one trial."""
        with ExitStack() as stack:
            agent = _entered(stack, self.agent(trial))
            with acting_as("user"):
                user = _entered(stack, self.user(trial)) if self.user is not None and self._has_user else None
            _Talk(self, trial, agent, user).go_on()

    @property
    def _has_user(self) -> bool:
        return not self.mode.startswith("no-user")

    @property
    def _has_plan(self) -> bool:
        return self.mode.endswith("oracle-plan")

    def plan_for(self, task: Task) -> str | None:
        """What the agent is told of a task beforehand."""
        return self.plan(task) if self.plan is not None and self._has_plan else None


class _Talk:
    """One dialogue in progress."""

    def __init__(self, dialogue: Dialogue, trial: Trial, agent: Party, user: Party | None) -> None:
        self._of = dialogue
        self._trial = trial
        self._agent = agent
        self._user = user
        self._tools = dialogue.tools(trial)
        self._user_tools = dialogue.user_tools(trial)
        self._actions = 0
        self._errors = 0

    def go_on(self) -> None:
        """Talk until an end."""
        said: str | None = self._trial.task.instruction if self._user is None else self._opened()
        plan = self._of.plan_for(self._trial.task)
        while said is not None:
            answer = self._agents_turn(Heard(said, plan=plan))
            plan = None
            if answer is None:
                return
            if self._user is None:  # nobody is there to answer: it has said its last word
                self._trial.completed("agent_stop")
                return
            said = self._users_turn(answer)
            if said is not None and self._is_capped():  # the user had the chance to end it
                return

    def _opened(self) -> str | None:
        if self._of.opening:
            self._trial.message("assistant", self._of.opening)
        return self._users_turn(self._of.opening)

    def _agents_turn(self, heard: Heard) -> str | None:
        """What the agent says; None if that was the end."""
        while True:
            act = self._agent.act(heard)
            if not act.calls:
                self._actions += 1
                self._trial.message("assistant", act.text)
                if self._of.stop in act.text:
                    self._trial.completed("agent_stop")
                    return None
                return act.text
            results: list[Result] = []
            for request in act.calls:
                self._actions += 1
                results.append(self._called(self._tools, request))
                if request.name in self._of.terminal_tools and not results[-1].failed:
                    self._trial.completed(request.name)
                    return None
                if self._is_capped():
                    return None
            heard = Heard(results=tuple(results))

    def _users_turn(self, heard: str) -> str | None:
        """What the user says; None if that was the end."""
        assert self._user is not None
        told = Heard(heard)
        while True:
            with acting_as("user"):
                act = self._user.act(told)
                results = tuple(self._called(self._user_tools, request) for request in act.calls)
            if self._has_failed_too_often():
                return None
            if not act.calls:
                break
            told = Heard(results=results)
        self._trial.message("user", act.text)
        if self._of.stop in act.text:
            self._trial.completed("user_stop")
            return None
        return act.text

    def _called(self, tools: Tools, request: Request) -> Result:
        tool = tools.get(request.name)
        if tool is None:
            return self._failed(request, f"Error: there is no tool {request.name!r}")
        arguments = _arguments(request)
        if arguments is None:
            return self._failed(request, f"Error: the arguments are no JSON object: {request.arguments}")
        try:
            return Result(request, _text(tool(**arguments)))
        except Exception as error:  # noqa: BLE001  # a party's call: what goes wrong is told to it, and counted
            return self._failed(request, f"Error: {type(error).__name__}: {error}")

    def _failed(self, request: Request, text: str) -> Result:
        self._errors += 1
        return Result(request, text, failed=True)

    def _has_failed_too_often(self) -> bool:
        """True if the cap of errors is reached, which ends the trial."""
        if self._errors < self._of.max_errors:
            return False
        self._trial.capped(f"{self._errors} errors of tool calls")
        return True

    def _is_capped(self) -> bool:
        """True if a cap is reached, which ends the trial."""
        if self._has_failed_too_often():
            return True
        if self._actions < self._of.max_actions:
            return False
        self._trial.capped(f"{self._actions} agent actions")
        return True


def _entered(stack: ExitStack, made: Made) -> Party:
    return stack.enter_context(made) if isinstance(made, AbstractContextManager) else made


def _arguments(request: Request) -> Mapping[str, Any] | None:
    """By name; None of a text that is no JSON object."""
    if not isinstance(request.arguments, str):
        return request.arguments
    try:
        found = json.loads(request.arguments or "{}")
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def _text(result: Any) -> str:
    return result if isinstance(result, str) else json.dumps(result, ensure_ascii=False, default=str)
