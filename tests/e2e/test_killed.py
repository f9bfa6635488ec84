"""A recording that is killed or interrupted: nothing that had returned is lost, and the same command goes on."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections import Counter

import pytest

import trialtape as tt

TASKS, TRIALS, CALLS = 2, 2, 4

# Each call's return is acknowledged after the tool has given its answer; then the process waits for leave to go on.
SUITE = """
import os
import time
import trialtape as tt

@tt.tool(effect="read")
def look(number):
    return {"number": number, "text": "x" * 50}

def tell(line):
    os.write(int(os.environ["ACK"]), (line + "\\n").encode())
    if "GO" in os.environ:
        os.read(int(os.environ["GO"]), 1)

def agent(trial):
    tell(f"began {trial.task.id} {trial.index}")
    for number in range(CALLS):
        look(number)
        tell(f"returned {trial.task.id} {trial.index}")
        if os.environ.get("UNTIL_STOPPED") == f"{trial.task.id} {trial.index}":
            while trial.session.halt is None:
                time.sleep(0.001)

suite = tt.Suite(tasks=[tt.Task(id=f"t{i}") for i in range(TASKS)], agent=agent, scorers=[lambda view: True])
""".replace("TASKS", str(TASKS)).replace("CALLS", str(CALLS))


@pytest.fixture
def command(tmp_path, home):
    suite = tmp_path / "suite.py"
    suite.write_text(SUITE)
    options = ["run", str(suite), "--run", "r", "--trials", str(TRIALS), "--json"]
    return [sys.executable, "-m", "replay", "--home", str(home), *options]


def stopped_after(command, lines, with_signal, **environment):
    """Run the command until it has told ``lines`` lines, then stop it; what it told, and its exit code."""
    ack_out, ack_in = os.pipe()
    go_out, go_in = os.pipe()
    env = os.environ | {"ACK": str(ack_in), "GO": str(go_out), **environment}
    process = subprocess.Popen(
        command, env=env, pass_fds=(ack_in, go_out), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    os.close(ack_in)
    told = []
    with os.fdopen(ack_out) as acknowledged, os.fdopen(go_in, "wb", buffering=0) as go:
        for line in acknowledged:
            told.append(line.split()[:3])
            if len(told) == lines:
                process.send_signal(with_signal)
            if len(told) < lines or with_signal != signal.SIGKILL:
                go.write(b"g")
        _, errors = process.communicate(timeout=60)
    os.close(go_out)
    return told, process.returncode, errors


def finished(command):
    ack_out, ack_in = os.pipe()
    done = subprocess.run(
        command,
        env=os.environ | {"ACK": str(ack_in)},
        pass_fds=(ack_in,),
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    os.close(ack_in)
    with os.fdopen(ack_out) as acknowledged:
        return [line.split() for line in acknowledged], done


# Of 4 trials with 5 lines each: at the very first line, within a trial, at its last call, at the next one's first, ...
@pytest.mark.parametrize("lines", [1, 2, 4, 5, 6, 13, 20])
def test_killed_at_any_moment_every_call_that_had_returned_is_readable_and_the_run_goes_on(home, command, lines):
    told, code, _ = stopped_after(command, lines, signal.SIGKILL)
    assert code == -signal.SIGKILL
    returned = Counter((task, int(index)) for what, task, index in told if what == "returned")
    began = [(task, int(index)) for what, task, index in told if what == "began"]
    for task, index in began:
        view = tt.open(f"r/{task}#{index}", home=home)
        assert len(view.steps) >= returned[task, index]
        assert [step.outcome.value["number"] for step in view.steps] == list(range(len(view.steps)))
    whole = [trial for trial in began if tt.open(f"r/{trial[0]}#{trial[1]}", home=home).ending.status == "completed"]
    unfinished = [trial for trial in began if trial not in whole]
    assert began[-1] in unfinished
    assert tt.open(f"r/{unfinished[0][0]}#{unfinished[0][1]}", home=home).ending.status == "incomplete"

    told, done = finished(command)
    assert done.returncode == 0, done.stderr
    run_again = {(task, int(index)) for what, task, index in told if what == "began"}
    everything = {(f"t{task}", index) for task in range(TASKS) for index in range(TRIALS)}
    assert run_again == everything - set(whole)
    for task, index in everything:
        assert tt.open(f"r/{task}#{index}", home=home).ending.status == "completed"
    for task, index in unfinished:
        assert (home / "cassettes/r" / task / f"{index}.attempt-1.cassette").exists()

    told, done = finished(command)
    assert told == []
    assert done.returncode == 0


def test_an_interrupt_exits_with_130_and_the_same_command_goes_on(home, command):
    told, code, errors = stopped_after(command, 7, signal.SIGINT, UNTIL_STOPPED="t1 0")
    assert code == 130
    assert errors == "trialtape: interrupted; the same command goes on where this one stopped\n"
    assert told[-1] == ["returned", "t1", "0"]
    assert tt.open("r/t0#0", home=home).ending.status == "completed"
    assert tt.open("r/t1#0", home=home).ending.status == "cancelled"
    told, done = finished(command)
    assert done.returncode == 0
    assert [line[1:] for line in told if line[0] == "began"] == [["t1", "0"], ["t0", "1"], ["t1", "1"]]
