# ruff: noqa: PT012  # what leaves a trial's block of several calls is what is tested

"""The demo's shop: a trial that failed is forked, offline before the step, and the write that lost it is named."""

from __future__ import annotations

import json
import urllib.request

import pytest
from click.testing import CliRunner

import trialtape as tt
from cassettes.model import Stream
from examples.support.server import serving
from replay.cli import main

SUITE = """
import trialtape as tt
from examples.support.suite import dialogue
from examples.support.tasks import TASKS

suite = tt.Suite(tasks=[task for task in TASKS if task.id == "two-teapots"], agent=dialogue)
"""
SEED = 11


@pytest.fixture
def server(monkeypatch):
    with serving(seed=SEED) as running:
        monkeypatch.setenv("OPENAI_BASE_URL", running.base_url)
        monkeypatch.setenv("OPENAI_API_KEY", "any")
        yield running


@pytest.fixture
def command(home):
    def run(*arguments):
        result = CliRunner().invoke(main, ["--home", str(home), *map(str, arguments)])
        assert result.exit_code == 0, result.stderr
        return json.loads(result.stdout)

    return run


@pytest.fixture
def failed(command, home, server, tmp_path):
    """A trial in which the agent cancelled the wrong one of two orders."""
    suite = tmp_path / "shop_suite.py"
    suite.write_text(SUITE)
    command("run", suite, "--run", "shop", "--trials", 8, "--json")
    for index in range(8):
        view = tt.open(f"shop/two-teapots#{index}", home=home)
        for step in view.steps:
            if step.call.name == "cancel_order" and step.call.arguments["order_id"] == "W1024":
                return view, step.number
    pytest.fail("the stand-in always cancelled the right order; choose another seed")


def asked(server):
    return sum(server.provider._seen.values())


def test_the_write_that_lost_it_is_named(command, failed):
    view, wrong = failed
    document = command("fork", view.id, "--at", "each-write", "-n", 16, "--json")
    assert document["passed"] is False
    [loss] = document["lost"]
    assert loss["steps"] == [wrong]
    assert loss["label"].startswith('cancel_order(order_id="W1024"')
    assert document["verdict"].startswith(f"lost at step {wrong}, cancel_order")
    [beside] = document["beside"]
    assert beside["line"] == f"other arguments: step {wrong} cancel_order: order_id is 'W1024', not 'W1042'"
    assert [bar["counted"] for bar in document["bars"]] == [16] * len(document["bars"])


def test_nobody_is_asked_before_the_step(command, failed, server):
    view, _ = failed
    models = [step.number for step in view.steps if step.call.kind == "model"]
    before = asked(server)
    command("fork", view.id, "--at", models[-1] + 1, "-n", 3, "--json")
    assert asked(server) == before, "all model calls came before the step"
    [fork] = command("fork", view.id, "--at", models[2], "-n", 3, "--json")["forks"]
    lives = 0
    for trial in fork["trials"]:
        origins = [
            step.origin.verdict
            for step in tt.open(trial["id"], home=view._home.root).steps
            if step.call.kind == "model"
        ]
        assert origins[:2] == ["own", "own"]
        lives += origins.count("live")
    assert asked(server) - before == lives > 0


def test_the_provider_may_be_gone_for_what_is_recorded(command, failed, monkeypatch):
    view, _ = failed
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    [fork] = command("fork", view.id, "--at", len(view.steps), "-n", 1, "--json")["forks"]
    assert fork["trials"][0]["status"] == "completed"
    assert fork["trials"][0]["passed"] is False


def test_the_models_decision_may_be_edited(command, failed, tmp_path):
    view, wrong = failed
    request = {"name": "cancel_order", "arguments": json.dumps({"order_id": "W1042", "reason": "ordered twice"})}
    asked_for = [{"index": 0, "id": "call_1", "type": "function", "function": request}]
    if isinstance(view.steps[wrong - 1].outcome, Stream):
        made = {"id": "c", "object": "chat.completion.chunk", "created": 0, "model": "shop-agent-1"}
        deltas = [({"role": "assistant", "tool_calls": asked_for}, None), ({}, "tool_calls")]
        pieces = [made | {"choices": [{"index": 0, "delta": delta, "finish_reason": end}]} for delta, end in deltas]
        text = "".join(f"data: {json.dumps(piece)}\n\n" for piece in pieces) + "data: [DONE]\n\n"
    else:
        message = {"role": "assistant", "content": None, "tool_calls": asked_for}
        choice = {"index": 0, "message": message, "finish_reason": "tool_calls"}
        made = {"id": "c", "object": "chat.completion", "created": 0, "model": "shop-agent-1"}
        text = json.dumps(made | {"choices": [choice]})
    (tmp_path / "edit").write_text(text)
    [fork] = command("fork", view.id, "--at", wrong, "-n", 1, "--edit", tmp_path / "edit", "--json")["forks"]
    assert fork["trials"][0]["passed"] is True
    step = tt.open(fork["trials"][0]["id"], home=view._home.root).steps[wrong - 1]
    assert step.origin.verdict == "emulated"
    assert [request.name for request in step.reply.tool_calls] == ["cancel_order"]


# -- other clients -----------------------------------------------------------------------------------------------------


@tt.tool(effect="read")
def ask(url):
    with urllib.request.urlopen(url) as response:  # a client that no adapter sees
        return response.read()


def test_before_the_step_an_unknown_client_is_refused_and_after_it_is_as_in_a_recording(home, provider):
    url = f"{provider.url}/text"

    def unseen():
        with urllib.request.urlopen(url) as response:
            return response.status

    with tt.trial(run="base", task="t", home=home):
        ask(url)
        ask(url)
    before = provider.count
    with (
        pytest.raises(tt.Refused, match="belongs to no live call"),
        tt.trial(run="refused", task="t", home=home, fork="base/t#0", at=2),
    ):
        ask(url)
        unseen()
    assert provider.count == before
    with tt.trial(run="allowed", task="t", home=home, fork="base/t#0", at=1):
        ask(url)
        assert unseen() == 200
        ask(url)
    assert provider.count == before + 2
