"""The agent serves a customer through the real SDK, streamed or not, and gives up at its caps."""

import attrs
import pytest

from examples.support import agent as module
from examples.support.provider import Answer, Provider
from examples.support.script import Call
from examples.support.suite import dialogue
from examples.support.tasks import TASKS


@attrs.define
class FakeTrial:
    """As much of a trial as the dialogue uses."""

    task: object
    state: dict
    seed: int
    reason: str = ""
    settings: dict = attrs.field(factory=dict)
    user_seed: int = 0
    said: list = attrs.field(factory=list)

    def message(self, role, content):
        self.said.append((role, content))

    def capped(self, reason):
        self.reason = reason

    completed = capped


@pytest.fixture
def trial(server, monkeypatch):
    monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
    monkeypatch.setenv("OPENAI_API_KEY", "any")
    monkeypatch.setattr(module, "TEMPERATURE", 0.0)

    def make(task_id, seed):
        task = next(task for task in TASKS if task.id == task_id)
        return FakeTrial(task, task.state(), seed)

    return make


@pytest.mark.parametrize("seed", [0, 1], ids=["whole", "streamed"])
def test_a_wish_is_fulfilled(trial, seed):
    made = trial("return-two", seed)
    dialogue(made)
    items = made.state["orders"]["W1008"]["items"]
    assert [items[sku]["status"] for sku in ("PLATES", "BOWLS", "TEAPOT")] == [
        "returned",
        "returned",
        "delivered",
    ]
    assert made.reason == "user_stop"
    assert {role for role, _ in made.said} == {"user", "assistant"}


def test_a_wish_that_comes_later(trial):
    made = trial("mugs-and-call", 0)
    dialogue(made)
    assert made.state["customers"]["finn@example.com"]["notes"]["callback"]["open"]


@pytest.fixture
def answers(monkeypatch):
    """Lets the agent's model make these calls at every turn; gives the messages that it was asked with."""

    def let(**names):
        requests = []

        def answer(self, body):
            if body["model"] == "shop-customer-1":
                return Answer("Where is W1001?")
            requests.append(body["messages"])
            made = [(f"call_{len(requests)}_{name}", Call(name, given)) for name, given in names.items()]
            return Answer("One moment.", tuple(made))

        monkeypatch.setattr(Provider, "answer", answer)
        return requests

    return let


@pytest.mark.parametrize("seed", [0, 1], ids=["whole", "streamed"])
def test_the_cap_of_actions(trial, answers, seed):
    requests = answers(get_order={"order_id": "W1001"}, add_up={"amounts": [1.0]})
    made = trial("order-status", seed)
    dialogue(made)
    assert (made.reason, len(requests)) == ("30 agent actions", 15)


@pytest.mark.parametrize("seed", [0, 1], ids=["whole", "streamed"])
def test_the_errors_that_the_model_is_told_and_their_cap(trial, answers, seed):
    requests = answers(get_order={}, launch_rocket={}, cancel_order={"order_id": "W1001"})
    made = trial("order-status", seed)
    dialogue(made)
    assert made.reason == "10 errors of tool calls"
    said, *told = requests[1][-4:]
    assert said["content"] == "One moment."
    assert [message["role"] for message in told] == ["tool"] * 3
    missing, unknown, refused = (message["content"] for message in told)
    assert "order_id" in missing
    assert "launch_rocket" in unknown
    assert "only pending orders" in refused
