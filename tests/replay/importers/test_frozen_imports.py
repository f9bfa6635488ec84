"""Tool calls of imported trials answer live agents: those of the agent the agent, those of the user the user."""

from __future__ import annotations

import json

import pytest

import trialtape as tt
from replay.effects import read_effects
from replay.home import Home
from replay.importers.conversations import read_conversations
from replay.importers.importing import import_findings
from replay.importers.tau2 import read_tau2
from replay.importers.toolemu import read_toolemu
from tests.replay.importers.records import asks as plain_asks
from tests.replay.importers.records import result as plain_result
from tests.replay.importers.records import says as plain_says
from tests.replay.importers.simulations import GREETING, STOP, asks, result, results, simulation, written
from tests.replay.importers.test_toolemu import lines, trajectory


@tt.tool(effect="read")
def look(number):
    raise AssertionError("the real tool was called")


@tt.tool(effect="write")
def TerminalExecute(command):  # noqa: N802  # as ToolEmu names it
    raise AssertionError("the real tool was called")


@pytest.fixture
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("TRIALTAPE_HOME", str(tmp_path / "home"))
    return Home(tmp_path / "home")


def effects(tmp_path):
    path = tmp_path / "effects.toml"
    path.write_text('[tools.look]\neffect = "read"\n')
    return read_effects(path)


def test_calls_of_a_plain_conversation(tmp_path, home):
    talk = [plain_asks(("c", "look", {"number": 7})), plain_result("c", "look", "shipped"), plain_says("ok")]
    path = tmp_path / "in.jsonl"
    path.write_text(json.dumps({"task_id": "t", "messages": talk}) + "\n")
    import_findings(home, "source", path, read_conversations(path, effects(tmp_path)))
    with tt.trial(run="frozen", task="t", freeze="tool", source="source") as trial:
        assert look(7) == "shipped"
    assert trial.ending.status == "completed"


def test_calls_of_both_sides_of_a_simulation(tmp_path, home):
    told = simulation(
        GREETING,
        asks("assistant", ("c", "look", {"number": 7})),
        result("c", "of the agent"),
        asks("user", ("u", "look", {"number": 7})),
        result("u", "of the user", "user"),
        STOP,
    )
    path = written(tmp_path, results(told))
    import_findings(home, "source", path, read_tau2(path, effects(tmp_path)))
    with tt.trial(run="frozen", task="t1", freeze=["agent/tool", "user/tool"], source="source"):
        assert look(7) == "of the agent"
        with tt.acting_as("user"):
            assert look(7) == "of the user"


def test_what_an_emulator_made_up(tmp_path, home):
    path = lines(tmp_path, trajectory())
    import_findings(home, "source", path, read_toolemu(path))
    with tt.trial(run="frozen", task="clean-up", freeze="tool", source="source"):
        assert TerminalExecute("ls") == '{"output": "a"}'
