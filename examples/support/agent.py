"""The agent under test: a model with tools, over the openai SDK. It is told what happened, and says what it does.

Who calls the tools, lets the customer answer and counts the agent's actions is `tt.Dialogue` in `suite.py`.
"""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import attrs
import openai
from openai.types.chat import ChatCompletionMessageFunctionToolCallParam, ChatCompletionMessageParam

import trialtape as tt
from examples.support.policy import POLICY, tool_schemas

MODEL = os.environ.get("SHOP_MODEL", "shop-agent-1")
TEMPERATURE = 0.7


@attrs.define
class Reply:
    """What the agent's model answered: a text, calls of tools, or both."""

    text: str = ""
    calls: list[ChatCompletionMessageFunctionToolCallParam] = attrs.field(factory=list)


@attrs.define
class Agent:
    """The agent's side of one trial, with the conversation as its model sees it."""

    client: openai.OpenAI
    stream: bool
    settings: Mapping[str, Any]
    messages: list[ChatCompletionMessageParam] = attrs.field(factory=lambda: [{"role": "system", "content": POLICY}])

    def act(self, heard: tt.Heard) -> tt.Act:
        """Tell the model what was said, or what its calls returned, and let it answer."""
        if heard.text is not None:
            self.messages.append({"role": "user", "content": heard.text})
        for result in heard.results:
            self.messages.append({"role": "tool", "tool_call_id": result.request.id or "", "content": result.text})
        reply = self._streamed() if self.stream else self._whole()
        if reply.calls:
            self.messages.append({"role": "assistant", "content": reply.text or None, "tool_calls": reply.calls})
        else:
            self.messages.append({"role": "assistant", "content": reply.text})
        functions = [(call["function"], call["id"]) for call in reply.calls]
        return tt.Act(reply.text, tuple(tt.Request(f["name"], f["arguments"], made) for f, made in functions))

    def _whole(self) -> Reply:
        completion = self.client.chat.completions.create(
            model=self.settings.get("model", MODEL),
            messages=self.messages,
            tools=tool_schemas(),
            temperature=self.settings.get("temperature", TEMPERATURE),
        )
        message = completion.choices[0].message
        reply = Reply(message.content or "")
        for call in message.tool_calls or []:
            if call.type == "function":
                reply.calls.append(_call(call.id, call.function.name, call.function.arguments))
        return reply

    def _streamed(self) -> Reply:
        chunks = self.client.chat.completions.create(
            model=self.settings.get("model", MODEL),
            messages=self.messages,
            tools=tool_schemas(),
            temperature=self.settings.get("temperature", TEMPERATURE),
            stream=True,
            stream_options={"include_usage": True},
        )
        reply = Reply()
        for chunk in chunks:
            for choice in chunk.choices:
                reply.text += choice.delta.content or ""
                for part in choice.delta.tool_calls or []:
                    if part.index == len(reply.calls):
                        reply.calls.append(_call(part.id or "", "", ""))
                    if part.function is not None:
                        function = reply.calls[part.index]["function"]
                        function["name"] += part.function.name or ""
                        function["arguments"] += part.function.arguments or ""
        return reply


@contextmanager
def agent(trial: tt.Trial) -> Iterator[Agent]:
    """The agent of one trial; both ways of asking a model are in every run."""
    with openai.OpenAI(api_key=os.environ.get("OPENAI_API_KEY", "a replay needs no key")) as client:
        yield Agent(client, stream=trial.seed % 2 == 1, settings=trial.settings)


def _call(call_id: str, name: str, arguments: str) -> ChatCompletionMessageFunctionToolCallParam:
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}
