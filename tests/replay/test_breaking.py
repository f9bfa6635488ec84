"""The debugger opens before the call that was named, in the agent's own code, and the answers stay frozen."""

from __future__ import annotations

import bdb
import os
import pty
import subprocess
import sys
import threading
from pathlib import Path

import pytest

import trialtape as tt
from cassettes.model import Call
from replay import breaking
from replay.stopping import agents_frame

AGENT = """
import asyncio, sys, threading
import trialtape as tt

@tt.tool(effect="read")
def look(number):
    print("really looked", number)
    return number * 10

@tt.tool(effect="read")
async def alook(number):
    print("really looked", number)
    return number * 10

def agent():
    total = 0
    for number in range(3):
        total += look(number)
    return total

async def async_agent():
    total = 0
    for number in range(3):
        total += await alook(number)
    return total

def threaded_agent():
    worker = threading.Thread(target=agent)
    worker.start()
    worker.join()

AGENTS = {"sync": agent, "async": lambda: asyncio.run(async_agent()), "threaded": threaded_agent}

def record(home):
    for name, act in AGENTS.items():
        with tt.trial(run="base", task=name, home=home):
            act()
"""

REPLAY = """
from agent import *
with tt.trial(run="{run}", task="{name}", home={home!r}, {how}) as trial:
    {stop}
    print("total", AGENTS["{name}"]())
print(trial.ending.status, dict(trial.verdicts))
"""


HOOK = """
import sys, pdb
def tell():
    frame = sys._getframe(1)
    code = frame.f_code
    file, seen = code.co_filename.rpartition("/")[2], frame.f_locals
    print("hook", file, code.co_name, seen["number"], seen["_call"].name)
def debug():
    pdb.Pdb().set_trace(sys._getframe(1))
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with an agent, the environment in which children find it, and a home with its recorded trials."""
    path = tmp_path_factory.mktemp("agent")
    (path / "agent.py").write_text(AGENT)
    (path / "my_hook.py").write_text(HOOK)
    root = str(Path(tt.__file__).parent)
    env = os.environ | {"PYTHONPATH": os.pathsep.join([str(path), root]), "PYTHONDONTWRITEBYTECODE": "1"}
    env.pop("PYTHONBREAKPOINT", None)
    home = str(path / "home")
    command = [sys.executable, "-c", f"import agent; agent.record({home!r})"]
    subprocess.run(command, env=env, check=True, stdout=subprocess.DEVNULL)
    return path, env, home


@pytest.fixture
def debugged(folder, request):
    """Run the agent again in a child, with commands for the debugger on stdin; what it printed, on both streams."""
    tmp_path, env, home = folder

    def run(stop, *commands, name="sync", how=None, environment=None, succeeds=True):
        script = tmp_path / "run_it.py"
        answered = f'replay="base/{name}#0"' if how is None else how
        script.write_text(REPLAY.format(run=request.node.name, name=name, home=home, stop=stop, how=answered))
        done = subprocess.run(
            [sys.executable, str(script)],
            input="".join(f"{command}\n" for command in commands),
            capture_output=True,
            text=True,
            env=env | (environment or {}),
            timeout=60,
            check=False,
        )
        assert (done.returncode == 0) == succeeds, done.stderr
        return done.stdout, done.stderr

    return run


# -- stopping ----------------------------------------------------------------------------------------------------------


def test_it_stops_before_the_call_in_the_agents_frame_and_goes_on_frozen(debugged):
    out, _ = debugged("tt.break_at(1)", "where", "p number, total", "p _call.name, _call.arguments", "c")
    assert "before step 1, tool look {'number': 1}" in out
    frames = [line for line in out.splitlines() if line.startswith(("> ", "  /"))]
    assert frames[-1].endswith("agent()")
    assert "agent.py(18)agent()" in frames[0]
    assert not any("/replay/" in line or "/adapters/" in line for line in frames), "none of ours is on top"
    assert "-> total += look(number)" in out
    assert "(1, 0)" in out
    assert "('look', {'number': 1})" in out
    assert "really looked" not in out
    assert "total 30" in out
    assert "completed {'own': 3}" in out


def test_next_goes_over_the_call(debugged):
    out, _ = debugged("tt.break_at(1)", "n", "p total", "c")
    assert "(Pdb) 10" in out
    assert "completed {'own': 3}" in out


def test_stepping_never_stops_in_trialtape(debugged):
    out, _ = debugged("tt.break_at(1)", *["s"] * 4, "p total", "c")
    stops = [line for line in out.splitlines() if "> /" in line]
    assert len(stops) == 5
    assert all("agent.py" in line for line in stops)
    assert "completed {'own': 3}" in out


def test_stepping_goes_into_a_live_tool(debugged):
    out, _ = debugged("tt.break_at(1)", "s", "s", "p number * 1000", "c", how="fork='base/sync#0', at=1")
    assert "agent.py(7)look()" in out
    assert "(Pdb) 1000" in out


def test_a_tools_pattern_stops_at_each(debugged):
    out, _ = debugged("tt.break_at(tool='lo*')", "c", "c", "c")
    assert out.count("trialtape: before step") == 3


def test_a_condition_is_asked_of_every_call(debugged):
    stop = "tt.break_at(lambda call: call.name == 'look' and call.arguments['number'] == 2)"
    out, _ = debugged(stop, "p number", "c")
    assert out.count("trialtape: before step") == 1
    assert "(Pdb) 2" in out


def test_an_async_agent_is_stopped_where_it_awaits(debugged):
    out, _ = debugged("tt.break_at(1)", "p total, number", "where", "n", "p total", "c", name="async")
    assert "-> total += await alook(number)" in out
    assert "(0, 1)" in out
    assert "(Pdb) 10" in out
    assert "completed {'own': 3}" in out


def test_an_agent_in_a_thread(debugged):
    out, _ = debugged("tt.break_at(2)", "p number", "c", name="threaded")
    assert "agent.py(18)agent()" in out
    assert "(Pdb) 2" in out
    assert "completed {'own': 3}" in out


def test_a_fork_stops_before_and_after_it_goes_live(debugged):
    out, _ = debugged("tt.break_at('tool')", "c", "c", "c", how="fork='base/sync#0', at=2")
    assert out.count("trialtape: before step") == 3
    assert out.count("really looked") == 1
    assert out.index("before step 2") < out.index("really looked 2")


def test_breakpoints_that_are_set_in_the_debugger_hold(debugged):
    out, _ = debugged("tt.break_at(0)", "b agent.py:19", "c", "p total", "c")
    assert "-> return total" in out
    assert "(Pdb) 30" in out


def test_quitting_ends_the_trial(debugged):
    out, err = debugged("tt.break_at(1)", "q", succeeds=False)
    assert "BdbQuit" in err
    assert "completed" not in out


def test_a_block_stops_only_inside(debugged):
    stop = "with tt.break_at(tool='look'):\n        agent()\n    print('outside')"
    out, _ = debugged(stop, "c", "c", "c", how="fork='base/sync#0', at=0")
    inside, _, outside = out.partition("outside")
    assert inside.count("trialtape: before step") == 3
    assert "trialtape: before step" not in outside
    assert outside.count("really looked") == 3


def test_on_a_terminal(folder):
    tmp_path, env, home = folder
    script = tmp_path / "run_it.py"
    script.write_text(
        REPLAY.format(run="pty", name="sync", home=home, stop="tt.break_at(1)", how='replay="base/sync#0"')
    )
    master, slave = pty.openpty()
    with subprocess.Popen([sys.executable, str(script)], stdin=slave, stdout=slave, stderr=slave, env=env) as process:
        os.close(slave)
        shown = b""
        while b"(Pdb) " not in shown:
            shown += os.read(master, 4096)
        os.write(master, b"p number + 100\nc\n")
        try:
            while piece := os.read(master, 4096):
                shown += piece
        except OSError:  # the child has closed its end
            pass
        assert process.wait(timeout=60) == 0
    os.close(master)
    assert b"101" in shown
    assert b"completed {'own': 3}" in shown


# -- other debuggers ---------------------------------------------------------------------------------------------------


def test_the_developers_own_debugger_is_used(debugged):
    out, err = debugged("tt.break_at(1)", environment={"PYTHONBREAKPOINT": "my_hook.tell"})
    assert "hook agent.py agent 1 look" in out
    assert "before step 1, tool look" in err
    assert "completed {'own': 3}" in out


def test_another_debugger_opens_at_the_agents_line(debugged):
    out, _ = debugged("tt.break_at(1)", "p number", "c", environment={"PYTHONBREAKPOINT": "my_hook.debug"})
    assert out.splitlines()[0].endswith("agent.py(18)agent()")
    assert out.splitlines()[1] == "-> total += look(number)"
    assert "(Pdb) 1" in out


def test_breakpoints_that_are_switched_off_stop_nothing(debugged):
    out, err = debugged("tt.break_at(1)", environment={"PYTHONBREAKPOINT": "0"})
    assert "trialtape: before" not in out + err
    assert "completed {'own': 3}" in out


def test_in_a_test_pytests_debugger_opens(folder):
    tmp_path, env, home = folder
    test = tmp_path / "test_it.py"
    test.write_text(
        "from agent import *\ndef test_agent():\n    tt.break_at(1)\n"
        f"    with tt.trial(run='again', task='sync', home={home!r}, replay='base/sync#0'):\n"
        "        assert agent() == 30\n"
    )
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--rootdir", str(tmp_path), str(test)]
    done = subprocess.run(
        command, input="p number + 100\nc\n", capture_output=True, text=True, env=env, timeout=120, check=False
    )
    assert "101" in done.stdout
    assert "-> total += look(number)" in done.stdout
    assert "1 passed" in done.stdout


# -- where nothing stops -----------------------------------------------------------------------------------------------


@tt.tool(effect="read")
def peek(number: int) -> int:
    return number


@pytest.fixture
def stops(monkeypatch):
    seen = []
    monkeypatch.setattr(breaking, "stop_here", lambda call, step: seen.append((step, call.name)))
    return seen


def test_a_trial_that_is_only_recorded_does_not_stop(trial, stops):
    with tt.break_at(0), tt.break_at("tool"), trial(run="r"):
        peek(1)
    assert stops == []


def test_frozen_trials_stop_at_live_calls_too(trial, stops):
    with trial(run="r"):
        peek(1)
    with tt.break_at("tool:peek"), trial(run="f", freeze="tool:other", source="r"):
        peek(1)
    assert stops == [(0, "peek")]


def test_a_breakpoint_can_be_removed_more_than_once(trial, stops):
    with trial(run="r"):
        peek(1)
    point = tt.break_at(0)
    other = tt.break_at(0)
    point.remove()
    point.remove()
    with trial(run="again", replay="r/t#0"):
        peek(1)
    assert stops == [(0, "peek")], "the other still stands"
    other.remove()
    with trial(run="again", replay="r/t#0"):
        peek(1)
    assert stops == [(0, "peek")]


def test_both_must_hold(trial, stops):
    with trial(run="r"):
        peek(1)
        peek(2)
    with tt.break_at(1, tool="peek"), tt.break_at(0, tool="other"), trial(run="again", replay="r/t#0"):
        peek(1)
        peek(2)
    assert stops == [(1, "peek")]


def test_a_condition_that_raises_is_told(trial, stops):
    with trial(run="r"):
        peek(1)
    with (
        tt.break_at(lambda call: call.arguments["id"]),
        pytest.raises(tt.BadInput, match="raised KeyError: 'id' at step 0, tool peek"),
        trial(run="again", replay="r/t#0"),
    ):
        peek(1)
    assert stops == []


@pytest.mark.parametrize(
    ("where", "told"), [(None, "needs a place"), (-1, "0 or more"), (True, "0 or more"), ("nonsense", "is no selector")]
)
def test_a_place_that_is_none(where, told):
    with pytest.raises(tt.BadInput, match=told):
        tt.break_at(where)


def test_a_quit_leaves_the_trial_as_an_error_of_the_agent(trial, monkeypatch):
    with trial(run="r"):
        peek(1)

    def leave(call, step):
        raise bdb.BdbQuit

    monkeypatch.setattr(breaking, "stop_here", leave)
    with pytest.raises(bdb.BdbQuit), tt.break_at(0), trial(run="again", replay="r/t#0") as again:
        peek(1)
    assert again.ending.status == "error"


# -- the frame ---------------------------------------------------------------------------------------------------------


def test_frames_of_the_library_and_of_what_is_installed_are_passed_over():
    found = []
    thread = threading.Thread(target=lambda: found.append(agents_frame(sys._getframe())))
    thread.start()
    thread.join()
    assert found[0].f_code.co_filename == __file__

    namespace = {"__name__": "installed", "agents_frame": agents_frame, "sys": sys}
    site = str(Path(pytest.__file__).parent / "client.py")
    exec(compile("def ask():\n    return agents_frame(sys._getframe())", site, "exec"), namespace)
    assert namespace["ask"]().f_code.co_filename == __file__


def test_of_a_dialogue_which_calls_the_tools_itself_the_frame_that_calls_counts(home, monkeypatch):
    stopped = []

    class Party:
        def act(self, heard):
            return tt.Act("bye ###STOP###") if heard.results else tt.Act(calls=(tt.Request("look", {"number": 1}),))

    @tt.tool(effect="read")
    def look(number):
        return number

    dialogue = tt.Dialogue(agent=lambda _trial: Party(), mode="no-user", tools=lambda _trial: {"look": look})
    suite = tt.Suite([tt.Task(id="t", instruction="look")], dialogue)
    suite.run("r", trials=1, home=home.root)
    monkeypatch.setattr(breaking, "stop_here", lambda *_: stopped.append(agents_frame(sys._getframe(1))))
    with tt.break_at(tool="look"), tt.trial(run="again", task=suite.tasks[0], replay="r/t#0", home=home.root) as trial:
        dialogue(trial)
    assert stopped[0].f_globals["__name__"] == "replay.orchestration.dialogue"
    assert stopped[0].f_locals["request"].name == "look"


def test_stopping_is_asked_for_by_a_call_and_its_step():
    breaking.stop_before(Call("tool", "f", {}), 0)  # no breakpoint: nothing happens
