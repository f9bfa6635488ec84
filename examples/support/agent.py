"""The agent under test: a plain tool-calling loop over the openai SDK, in dialogue with a simulated customer.

It knows nothing of recording: all that ties it to trialtape is the trial that hands it a task, a database
and a seed, and `tt.acting_as`, which marks the customer's model calls.
"""

import json
import os
from typing import Any

import attrs
import openai
from openai.types.chat import (
    ChatCompletionMessageFunctionToolCallParam,
    ChatCompletionMessageParam,
)

import trialtape as tt
from examples.support.policy import CUSTOMER, GREETING, POLICY, tool_schemas
from examples.support.shop import TOOL_NAMES, Shop, ShopError

STOP = "###STOP###"
MAX_ACTIONS = 30
MODEL = os.environ.get("SHOP_MODEL", "shop-agent-1")
TEMPERATURE = 0.7


@attrs.define
class Reply:
    """What the agent's model answered: a text, calls of tools, or both."""

    text: str = ""
    calls: list[ChatCompletionMessageFunctionToolCallParam] = attrs.field(factory=list)


def run_agent(trial: tt.Trial) -> None:
    """Serve one customer until they are done, or until the agent has acted 30 times."""
    shop = Shop(trial.state, seed=trial.seed)
    stream = trial.seed % 2 == 1  # both ways of asking a model are in every run
    customer: list[ChatCompletionMessageParam] = [
        {"role": "system", "content": CUSTOMER.format(instruction=trial.task.instruction)}
    ]
    agent: list[ChatCompletionMessageParam] = [{"role": "system", "content": POLICY}]
    seed = trial.user_seed if os.environ.get("SHOP_SEEDED_CUSTOMER", "0") == "1" else openai.omit
    text, actions = GREETING, 0
    with openai.OpenAI(api_key=os.environ.get("OPENAI_API_KEY", "a replay needs no key")) as client:
        while actions < MAX_ACTIONS:
            if text:
                wish = _ask_customer(client, customer, text, seed)
                if STOP in wish:
                    return
                agent.append({"role": "user", "content": wish})
            reply = _ask_model(client, agent, trial.settings, stream=stream)
            actions += max(1, len(reply.calls))
            text = "" if reply.calls else reply.text
            for call in reply.calls:
                result = _run_tool(shop, call["function"]["name"], call["function"]["arguments"])
                agent.append({"role": "tool", "tool_call_id": call["id"], "content": result})
    trial.capped(f"{MAX_ACTIONS} agent actions")


def _ask_customer(
    client: openai.OpenAI, messages: list[ChatCompletionMessageParam], text: str, seed: int | openai.Omit
) -> str:
    """Say something to the customer: the roles are turned round, since here the customer is the model."""
    messages.append({"role": "user", "content": text})
    with tt.acting_as("user"):
        completion = client.chat.completions.create(
            model=os.environ.get("SHOP_USER_MODEL", "shop-customer-1"),
            messages=messages,
            temperature=TEMPERATURE,
            seed=seed,
        )
    answer = completion.choices[0].message.content or ""
    messages.append({"role": "assistant", "content": answer})
    return answer


def _ask_model(
    client: openai.OpenAI, messages: list[ChatCompletionMessageParam], settings: dict[str, Any], *, stream: bool
) -> Reply:
    """Let the agent's model answer, and append its answer to the messages."""
    reply = (_streamed if stream else _whole)(client, messages, settings)
    if reply.calls:
        messages.append({"role": "assistant", "content": reply.text or None, "tool_calls": reply.calls})
    else:
        messages.append({"role": "assistant", "content": reply.text})
    return reply


def _whole(client: openai.OpenAI, messages: list[ChatCompletionMessageParam], settings: dict[str, Any]) -> Reply:
    completion = client.chat.completions.create(
        model=settings.get("model", MODEL),
        messages=messages,
        tools=tool_schemas(),
        temperature=settings.get("temperature", TEMPERATURE),
    )
    message = completion.choices[0].message
    reply = Reply(message.content or "")
    for call in message.tool_calls or []:
        if call.type == "function":
            reply.calls.append(_call(call.id, call.function.name, call.function.arguments))
    return reply


def _streamed(client: openai.OpenAI, messages: list[ChatCompletionMessageParam], settings: dict[str, Any]) -> Reply:
    chunks = client.chat.completions.create(
        model=settings.get("model", MODEL),
        messages=messages,
        tools=tool_schemas(),
        temperature=settings.get("temperature", TEMPERATURE),
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


def _call(call_id: str, name: str, arguments: str) -> ChatCompletionMessageFunctionToolCallParam:
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}


def _run_tool(shop: Shop, name: str, arguments: str) -> str:
    """Run one tool call; what goes wrong is told to the model, which may do better."""
    if name not in TOOL_NAMES:
        return json.dumps({"error": f"no tool named {name!r}"})
    try:
        result: Any = getattr(shop, name)(**json.loads(arguments))
    except (ShopError, TypeError, ValueError) as error:
        return json.dumps({"error": str(error)})
    return json.dumps(result, ensure_ascii=False)
