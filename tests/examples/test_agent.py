"""The agent serves a customer through the real SDK, streamed or not, and gives up at its cap."""

import attrs
import pytest

from examples.support import agent as module
from examples.support.agent import run_agent
from examples.support.provider import Answer, Provider
from examples.support.script import Call
from examples.support.tasks import TASKS


@attrs.define
class FakeTrial:
    """As much of a trial as the agent uses."""

    task: object
    state: dict
    seed: int
    reason: str = ""
    settings: dict = attrs.field(factory=dict)

    def capped(self, reason):
        self.reason = reason


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
    run_agent(made)
    items = made.state["orders"]["W1008"]["items"]
    assert [items[sku]["status"] for sku in ("PLATES", "BOWLS", "TEAPOT")] == [
        "returned",
        "returned",
        "delivered",
    ]
    assert made.reason == ""


def test_a_wish_that_comes_later(trial):
    made = trial("mugs-and-call", 0)
    run_agent(made)
    assert made.state["customers"]["finn@example.com"]["notes"]["callback"]["open"]


@pytest.mark.parametrize("seed", [0, 1], ids=["whole", "streamed"])
def test_the_cap_and_the_errors_that_the_model_is_told(trial, monkeypatch, seed):
    requests = []

    def answer(self, body):
        if body["model"] == "shop-customer-1":
            return Answer("Where is W1001?")
        requests.append(body["messages"])
        names = {"get_order": {}, "launch_rocket": {}, "cancel_order": {"order_id": "W1001"}}
        made = [(f"call_{len(requests)}_{name}", Call(name, given)) for name, given in names.items()]
        return Answer("One moment.", tuple(made))

    monkeypatch.setattr(Provider, "answer", answer)
    made = trial("order-status", seed)
    run_agent(made)
    assert made.reason == "30 agent actions"
    assert len(requests) == 10
    said, *told = requests[1][-4:]
    assert said["content"] == "One moment."
    assert [message["role"] for message in told] == ["tool"] * 3
    missing, unknown, refused = (message["content"] for message in told)
    assert "order_id" in missing
    assert "launch_rocket" in unknown
    assert "only pending orders" in refused
