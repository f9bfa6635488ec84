"""A user that a model plays: a channel of its own, recorded, priced and configured apart from the agent's."""

from __future__ import annotations

import json
import sys

import openai
import pytest

import trialtape as tt
from replay.runs import load_run

STOP = "###STOP###"


class Desk:
    """An agent without a model."""

    def act(self, heard):
        if heard.results:
            return tt.Act("Done")
        return tt.Act(calls=(tt.Request("look", {}),))


@tt.tool(effect="read")
def look():
    return "there"


@tt.tool(effect="write", external=False, ignore=["db"])
def toggle(db):
    db["airplane mode"] = "off"
    return "off"


def suite(user, **options):
    task = tt.Task(id="t", instruction='{"cancel"} W1', state=dict, expected={})
    dialogue = tt.Dialogue(agent=lambda _trial: Desk(), user=user, tools=lambda _trial: {"look": look}, **options)
    return tt.Suite([task], dialogue)


def said(text, *calls):
    """An answer of a provider."""
    made = [
        {"id": f"c{n}", "type": "function", "function": {"name": name, "arguments": arguments}}
        for n, (name, arguments) in enumerate(calls)
    ]
    message = {"role": "assistant", "content": text, **({"tool_calls": made} if made else {})}
    return openai.types.chat.ChatCompletion.model_validate(
        {
            "id": "x",
            "object": "chat.completion",
            "created": 0,
            "model": "m",
            "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
        }
    )


class Client:
    """Answers with what it was given, in turn, and keeps what it was asked."""

    def __init__(self, *answers):
        self.answers = list(answers)
        self.asked = []
        self.chat = self.completions = self

    def create(self, **asked):
        self.asked.append(json.loads(json.dumps(asked)))
        return self.answers.pop(0)


@pytest.fixture
def model(provider, monkeypatch):
    monkeypatch.setenv("OPENAI_BASE_URL", provider.base_url)
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    return provider


def test_it_is_asked_on_behalf_of_the_user_and_told_what_the_agent_said(model, home):
    model.says = f"Thanks {STOP}"
    user = tt.simulated("gpt-4o-mini", "You want: {instruction}", temperature=0.5)
    suite(user).run("r", trials=2, home=home.root)
    asked = model.requests[0].json
    assert asked["messages"] == [
        {"role": "system", "content": 'You want: {"cancel"} W1'},
        {"role": "user", "content": "Hi! How can I help you today?"},
    ]
    assert (asked["model"], asked["temperature"]) == ("gpt-4o-mini", 0.5)
    view = tt.open("r/t#1", home=home.root)
    assert [(step.call.kind, step.call.actor) for step in view.steps] == [("model", "user")]
    assert (view.ending.status, view.ending.reason) == ("completed", "user_stop")


def test_a_seeded_one_is_asked_with_the_seed_of_the_trials_user(model, home):
    model.says = STOP
    suite(tt.simulated("gpt-4o-mini", seeded=True)).run("r", trials=2, home=home.root)
    seeds = [request.json["seed"] for request in model.requests]
    assert len({*seeds}) == 2
    assert load_run(home, "r").config["dialogue"]["user"]["seeded"] is True
    suite(tt.simulated("gpt-4o-mini")).run("other", trials=1, home=home.root)
    assert "seed" not in model.requests[-1].json


def test_a_replay_needs_neither_provider_nor_key(model, home):
    model.says = f"Thanks {STOP}"
    recorded = suite(tt.simulated("gpt-4o-mini"))
    recorded.run("r", trials=1, home=home.root)
    model.stop()
    with tt.trial(run="again", task=recorded.tasks[0], replay="r/t#0", home=home.root) as trial:
        recorded.agent(trial)
    assert trial.verdicts == {"own": 1}


def test_its_settings_are_part_of_the_runs_configuration(model, home):
    model.says = STOP
    prompt = "You want: {instruction}"
    suite(tt.simulated("gpt-4o-mini", prompt, temperature=0.5)).run("r", trials=1, home=home.root)
    told = load_run(home, "r").config["dialogue"]["user"]
    assert (told["model"], told["temperature"], len(told["prompt"])) == ("gpt-4o-mini", 0.5, 8)
    for other in (
        tt.simulated("gpt-4o", prompt, temperature=0.5),
        tt.simulated("gpt-4o-mini", prompt, temperature=0.6),
        tt.simulated("gpt-4o-mini", f"{prompt}!", temperature=0.5),
        tt.simulated("gpt-4o-mini", prompt, temperature=0.5, tools=[{"type": "function"}]),
    ):
        with pytest.raises(tt.BadInput, match="another configuration"):
            suite(other).run("r", trials=1, home=home.root)


def test_it_calls_tools_of_its_own_and_hears_what_they_returned(home):
    client = Client(said("No signal"), said("One moment", ("toggle", "{}")), said(f"It works {STOP}"))
    schema = {"type": "function", "function": {"name": "toggle", "parameters": {"type": "object", "properties": {}}}}
    user = tt.simulated("m", client=client, tools=[schema])
    suite(user, user_tools=lambda trial: {"toggle": lambda: toggle(trial.state)}).run("r", trials=1, home=home.root)
    view = tt.open("r/t#0", home=home.root)
    assert view.state() == {"airplane mode": "off"}
    assert [(step.call.name, step.call.actor) for step in view.steps] == [("look", "agent"), ("toggle", "user")]
    assert client.asked[2]["messages"][-2:] == [
        {
            "role": "assistant",
            "content": "One moment",
            "tool_calls": [{"id": "c0", "type": "function", "function": {"name": "toggle", "arguments": "{}"}}],
        },
        {"role": "tool", "tool_call_id": "c0", "content": "off"},
    ]
    assert client.asked[0]["tools"] == [schema]


def test_without_an_opening_it_begins_by_itself(home):
    client = Client(said("Cancel W1"), said(STOP))
    suite(tt.simulated("m", client=client), opening="").run("r", trials=1, home=home.root)
    assert [message["role"] for message in client.asked[0]["messages"]] == ["system"]


def test_a_prompt_that_does_not_tell_what_is_wanted_is_refused():
    with pytest.raises(tt.BadInput, match=r"no \{instruction\}"):
        tt.simulated("m", "You are a user.")


def test_without_the_sdk_it_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "openai", None)
    with pytest.raises(tt.BadInput, match=r"pip install 'trialtape\[openai\]'"):
        tt.simulated("m")
