"""The demo's outside world drifts, and that is told: no model is asked, and nothing is written outside."""

from __future__ import annotations

import pytest

import trialtape as tt
from examples.support.suite import suite
from replay.home import Home
from replay.reruns.drift import Drift
from replay.reruns.rerunning import Terms, rerun
from replay.view import View

TASKS = ("move-rug", "exchange-size", "cancel-kettle")


@pytest.fixture
def drift(server, tmp_path, monkeypatch):
    """Record some tasks; then carry the trials out again, with the model gone."""
    monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-any")
    few = tt.Suite([task for task in suite.tasks if task.id in TASKS], suite.agent)
    few.run("r", trials=2, home=tmp_path)
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    home = Home(tmp_path)

    def again():
        return Drift(tuple(rerun(View(path, home), home, few, Terms()) for _, path in home.trials("r")))

    return again


def test_in_the_same_world_nothing_differs(drift):
    found = drift()
    assert len(found.trials) == 6
    assert found.asked
    assert not found.changed
    assert found.kept == {}


def test_in_another_one_only_the_outside_differs(drift, monkeypatch):
    monkeypatch.setenv("SHOP_DRIFT", "0")
    found = drift()
    tools = found.by_tool()
    assert {name for name, (_, differ, _) in tools.items() if differ} == {"shipping_quote", "stock_check"}
    assert tools["shipping_quote"][2]["price changed"]
    assert all(trial.parting is not None and trial.parting.goes_on for trial in found.parted)
    assert not any(trial.parts_by_itself for trial in found.parted)
