"""A user that a model plays, by the openai SDK: a channel of its own, with its own model, prompt and settings."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from importlib import import_module
from typing import Any, Final

from attrs import frozen

from cassettes.canonical import digest
from cassettes.errors import BadInput, UnkeepableValue
from replay.trial import Trial

from .dialogue import Act, Heard, Party, Request

__all__ = ["simulated"]

_PROMPT: Final = """\
You play a user who writes to an assistant. Stay in this role and never say that you are a model. This is what you want:

{instruction}

Write one short message at a time, in your own words. Do not invent facts that are not given here, and do not tell all
of it at once. If the assistant asks whether to go ahead with what you want, say yes. Once you have what you want, or it
is clear that you will not get it, end your last message with ###STOP###.
"""

_INSTRUCTION: Final = "{instruction}"


@frozen
class _Player:
    """The user of one trial, with its side of the conversation, in which the agent is the user."""

    client: Any
    asked: Mapping[str, Any]
    messages: list[dict[str, Any]]

    def act(self, heard: Heard) -> Act:
        """Let the model answer."""
        self.messages.extend(
            {"role": "tool", "tool_call_id": result.request.id, "content": result.text} for result in heard.results
        )
        if heard.text:
            self.messages.append({"role": "user", "content": heard.text})
        message = self.client.chat.completions.create(messages=list(self.messages), **self.asked).choices[0].message
        text = message.content or ""
        calls = [call for call in message.tool_calls or [] if call.type == "function"]
        said: dict[str, Any] = {"role": "assistant", "content": text}
        if calls:
            told = ({"name": call.function.name, "arguments": call.function.arguments} for call in calls)
            made = zip(calls, told, strict=True)
            said["tool_calls"] = [{"id": call.id, "type": "function", "function": function} for call, function in made]
        self.messages.append(said)
        return Act(text, tuple(Request(call.function.name, call.function.arguments, call.id) for call in calls))


@frozen
class _Simulated:
    """Makes the user of each trial."""

    model: str
    prompt: str
    tools: Sequence[Mapping[str, Any]]
    parameters: Mapping[str, Any]
    client: Any
    seeded: bool

    @property
    def settings(self) -> dict[str, Any]:
        """What belongs to the run's configuration."""
        told: dict[str, Any] = {"model": self.model, "prompt": digest(self.prompt)[:8]}
        if self.seeded:
            told["seeded"] = True
        try:
            return told | dict(self.parameters) | ({"tools": digest([*self.tools])[:8]} if self.tools else {})
        except UnkeepableValue as error:
            raise BadInput(f"the tools of the simulated user are no plain data: {error}") from error

    def __call__(self, trial: Trial) -> Party:
        """The user of one trial."""
        asked: dict[str, Any] = {"model": self.model, **self.parameters}
        if self.tools:
            asked["tools"] = [*self.tools]
        if self.seeded:
            asked["seed"] = trial.user_seed
        system = self.prompt.replace(_INSTRUCTION, trial.task.instruction)
        client = self.client
        if client is None:
            client = _shared_client(os.environ.get("OPENAI_BASE_URL"), os.environ.get("OPENAI_API_KEY"))
        return _Player(client, asked, [{"role": "system", "content": system}])


def simulated(
    model: str,
    prompt: str = _PROMPT,
    *,
    tools: Sequence[Mapping[str, Any]] = (),
    client: Any = None,
    seeded: bool = False,
    **parameters: Any,
) -> Callable[[Trial], Party]:
    """A user that a model plays; give it to a `Dialogue`.

    It is asked by the openai SDK, with ``OPENAI_BASE_URL`` and ``OPENAI_API_KEY``. Model, prompt, tools and parameters
    are part of the run's configuration.

    Args:
        model: the name of the user's model.
        prompt: what the model is told; ``{instruction}`` in it becomes the task's. The default one lets it say
            ``###STOP###`` at the end.
        tools: schemas of the user's own tools, which `Dialogue` has as ``user_tools``.
        client: another client of the SDK, such as ``openai.OpenAI(base_url=..., api_key=...)``, for all trials.
        seeded: each request has ``seed=trial.user_seed``, which trials of a run with ``user_seeds`` share. The provider
            must take a seed.
        parameters: of the request, such as ``temperature``.

    Raises:
        BadInput: the prompt has no place for the instruction; the openai SDK is not installed.
    """
    if _INSTRUCTION not in prompt:
        raise BadInput("the prompt of the simulated user has no {instruction}, so it would not know what it wants")
    if client is None:
        _openai()
    return _Simulated(model, prompt, tuple(tools), parameters, client, seeded)


def _openai() -> Any:
    try:
        return import_module("openai")
    except ModuleNotFoundError as error:
        if error.name != "openai":
            raise
        raise BadInput(
            "a user is simulated with the openai SDK, which is not installed: pip install 'trialtape[openai]'"
        ) from error


@lru_cache(maxsize=4)
def _shared_client(base_url: str | None, key: str | None) -> Any:
    """One for all trials, whose connections are kept: making one takes longer than recording a trial's calls."""
    return _openai().OpenAI(base_url=base_url, api_key=key or "none: a replay needs no key")
