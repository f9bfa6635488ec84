"""A fork that is started from the debugger: a real process, a real agent."""

from __future__ import annotations

import asyncio
import subprocess
import sys

import pytest

from cassettes.errors import BadInput
from cassettes.model import TrialId
from replay.debugger.forked import Order, Running, free_name, options_from
from replay.home import Home
from replay.view import open_trial
from tests.replay.debugger.driving import drive

SUITE = """
import trialtape as tt

@tt.tool(effect="read")
def look(number: int) -> int:
    return number + 1

def agent(trial):
    number = 0
    for _ in range(4):
        number = look(number)

suite = tt.Suite([tt.Task(id="count up")], agent, [lambda view: view.steps[3].outcome.value == 4])
"""


@pytest.fixture
def view(tmp_path, monkeypatch):
    """A trial recorded by the command, with its suite in the working folder."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "suite.py").write_text(SUITE)
    home = Home(tmp_path / "home")
    command = [sys.executable, "-m", "replay", "--home", str(home.root), "run", "suite.py", "--run", "r", "-n", "1"]
    subprocess.run(command, check=True, capture_output=True, timeout=120)
    return open_trial("r/count up#0", home)


def test_f_goes_on_live_from_the_step_and_its_capital_opens_the_fork_beside_its_parent(view, tmp_path):
    async def scenario(driver):
        await driver.press("n", "n", "f")
        asked = driver.screen
        await driver.press("enter")
        await driver.settle()
        panel = driver.screen
        await driver.press("F")
        fork = driver.app.desk.side.name, driver.app.desk.other.name, driver.step
        await driver.press("F")
        back = driver.app.desk.side.name
        await driver.press("escape")
        assert "fork of" not in driver.screen
        return asked, panel, fork, back

    asked, panel, fork, back = drive(view, scenario)
    assert "go live from step 2; options:" in asked
    assert "fork of r/count up#0 at step 2: ✓ passed completed" in panel
    assert "2 ▸ read  look" in panel.partition("fork of")[2]
    assert "1 ▸ read  look" not in panel.partition("fork of")[2]
    assert fork == ("r.debug-count up-0-at2/count up#0", "r/count up#0", 2)
    assert back == "r/count up#0"
    steps = open_trial("r.debug-count up-0-at2/count up#0", Home(tmp_path / "home")).steps
    assert [step.call.arguments["number"] for step in steps] == [0, 1, 2, 3]


def test_an_edited_outcome_is_what_the_agent_is_told(view, tmp_path, monkeypatch):
    monkeypatch.setattr("replay.debugger.app.edited_by_hand", lambda _text: "41\n")
    monkeypatch.setattr("replay.debugger.app.Debugger.suspend", lambda _self: _Nothing())

    async def scenario(driver):
        await driver.press("n", "e", "f")
        asked = driver.screen
        await driver.press("enter")
        await driver.settle()
        return asked, driver.screen

    asked, panel = drive(view, scenario)
    assert "go live from step 2; options:" in asked
    assert "✗ failed" in panel
    steps = open_trial("r.debug-count up-0-at2/count up#0", Home(tmp_path / "home")).steps
    assert [step.call.arguments["number"] for step in steps] == [0, 1, 41, 42]


class _Nothing:
    def __enter__(self):
        return self

    def __exit__(self, *_):
        return None


def test_what_the_command_says_against_it_is_shown(view):
    async def scenario(driver):
        await driver.answer("f", "--suite nowhere.py")
        await driver.settle()
        return driver.screen

    screen = drive(view, scenario, size=(120, 40))
    assert "exit code 2" in screen
    assert "nowhere.py" in screen


def test_an_open_quote_starts_nothing(view):
    async def scenario(driver):
        await driver.answer("f", "--suite 'x")
        return driver.status

    assert "cannot be read as options" in drive(view, scenario)


def test_to_open_a_fork_where_there_is_none_says_how_to_make_one(view):
    async def scenario(driver):
        await driver.press("F")
        return driver.status

    assert "f makes one" in drive(view, scenario)


def test_q_warns_while_a_fork_runs_then_ends_it(view, tmp_path):
    waiting = SUITE.replace(
        "number = look(number)", "number = look(number)\n        import time\n        time.sleep(600)"
    )
    (tmp_path / "waiting.py").write_text(waiting)

    async def scenario(driver):
        await driver.pilot.press("f")
        await driver.type("--suite waiting.py")
        await driver.pilot.press("enter")
        running = driver.app._fork
        while not running.steps:  # noqa: ASYNC110  # a file that grows sets no event
            await asyncio.sleep(0.05)
        await driver.pilot.press("f")
        busy = driver.status
        await driver.pilot.press("q")
        warned = driver.status
        await driver.pilot.press("q")
        await running._process.wait()
        return busy, warned, running._process.returncode, len(running.steps)

    busy, warned, code, steps = drive(view, scenario)
    assert "a fork is running; wait for its end" in busy
    assert "q again ends it" in warned
    assert code != 0
    assert steps == 1  # watched while it ran


def test_each_fork_has_a_run_of_its_own(home):
    parent = TrialId("r", "a/b", 3)
    first = free_name(home, parent, 7)
    home.run(first).mkdir(parents=True)
    assert first == "r.debug-a%2Fb-3-at7"
    assert free_name(home, parent, 7) == f"{first}-2"


def test_the_command_names_home_trial_step_and_run(home, tmp_path):
    order = Order(home, TrialId("r", "t", 0), 5, "x", tmp_path / "outcome.json", ("--freeze", "external"))
    assert order.command()[1:] == [
        *("-m", "replay", "--home", str(home.root), "fork", "r/t#0", "--at", "5", "--trials", "1", "--run", "x"),
        *("--edit", str(tmp_path / "outcome.json"), "--json", "--freeze", "external"),
    ]
    assert order.trial == TrialId("x", "t", 0)


def test_options_are_split_as_a_shell_does():
    assert options_from("--suite 'my suite.py' -j 2") == ("--suite", "my suite.py", "-j", "2")
    with pytest.raises(BadInput, match="cannot be read as options"):
        options_from('"')


def test_a_process_that_ends_without_a_word_has_no_verdict(home):
    running = Running(Order(home, TrialId("r", "t", 0), 1, "x"))
    assert running.state() == "running"
    running.code = 0
    assert running.state().startswith("? unscored")
