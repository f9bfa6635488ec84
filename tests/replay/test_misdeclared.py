"""Case 16: a tool that is declared a read, and changes the tracked state."""

from __future__ import annotations

import logging
import threading

import pytest
from click.testing import CliRunner

import trialtape as tt
from replay.cli import main


@tt.tool(effect="read", external=False, ignore=("db",))
def look(db: dict, key: str) -> int:
    db["seen"].append(key)
    return len(db["seen"])


@tt.tool(effect="read", external=False, ignore=("db",))
def peek(db: dict) -> int:
    return len(db["seen"])


@tt.tool(effect="write", external=False, ignore=("db", "entered", "leave"))
def put(db: dict, key: str, entered: threading.Event, leave: threading.Event) -> str:
    db["rows"][key] = 1
    entered.set()
    assert leave.wait(20)
    db["rows"][key] = 2
    return key


def start():
    return {"seen": [], "rows": {}}


TOLD = (
    "step 1: look is declared effect='read', but the tracked state changed while it ran, at ['seen']: declare "
    'effect="write"'
)


def agent(trial):
    peek(trial.state)
    look(trial.state, "a")
    look(trial.state, "b")


def test_16_it_is_told_when_it_is_recorded_with_the_tools_name(trial, tmp_path, caplog):
    with caplog.at_level(logging.WARNING, "trialtape"), trial(run="r") as made:
        made.track(start())
        peek(made.state)
        assert caplog.messages == []
        look(made.state, "a")
        assert caplog.messages == [TOLD]
        look(made.state, "b")
        assert caplog.messages == [TOLD], "once"
    view = tt.open("r/t#0", home=tmp_path)
    assert view.problems == [TOLD]
    assert view.state()["seen"] == ["a", "b"]
    assert view.state(step=1)["seen"] == ["a"], "its change is kept where it happened"


def test_16_a_run_tells_it_too(run, tmp_path):
    task = tt.Task(id="t", state=start)
    result = run(agent, suite={"tasks": [task]})
    assert result.misdeclared == {"look": 4}
    shown = CliRunner().invoke(main, ["--home", str(tmp_path), "show", "r/t#0"])
    assert "look is declared effect='read'" in shown.output


SUITE = """
import trialtape as tt

@tt.tool(effect="read", external=False, ignore=("db",))
def look(db):
    db["seen"] = 1

suite = tt.Suite([tt.Task(id="t", state=dict)], lambda trial: look(trial.state))
"""


def test_16_the_command_says_what_to_declare(tmp_path):
    (tmp_path / "misdeclared_suite.py").write_text(SUITE)
    words = ["--home", str(tmp_path), "run", str(tmp_path / "misdeclared_suite.py"), "--run", "r", "-n", "2"]
    done = CliRunner().invoke(main, words)
    assert 'look is declared a read, but changed the tracked state in 2 calls: declare effect="write"' in done.stderr


def test_a_frozen_trial_has_the_same_state(trial, tmp_path):
    with trial(run="r") as made:
        made.track(start())
        look(made.state, "a")
    with trial(run="f", freeze="tool", source="r", offline=True) as frozen:
        frozen.track(start())
        assert look(frozen.state, "a") == 1
        assert frozen.state["seen"] == ["a"]


def test_what_a_write_in_progress_changes_is_not_put_on_a_read(trial, tmp_path):
    entered, leave = threading.Event(), threading.Event()
    with trial(run="r") as made:
        made.track(start())
        writer = threading.Thread(target=put, args=(made.state, "k", entered, leave))
        writer.start()
        assert entered.wait(20)
        peek(made.state)
        leave.set()
        writer.join()
    view = tt.open("r/t#0", home=tmp_path)
    assert view.problems == []
    assert [step.interaction.patch is not None for step in view.steps] == [True, False]


@pytest.mark.parametrize("effect", ["read", "pure"])
def test_without_a_tracked_state_nothing_is_looked_at(trial, effect):
    tool = tt.tool(effect=effect, ignore=("db",))(look.__wrapped__)
    with trial(run="r") as made:
        tool(start(), "a")
    assert made.session.misdeclared == {}
