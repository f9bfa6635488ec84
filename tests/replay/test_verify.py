# ruff: noqa: PT012  # what leaves a trial's block of several calls is what is tested

"""Everything frozen: is anything different?"""

from __future__ import annotations

import threading

import pytest

import trialtape as tt
from cassettes.model import TrialId
from replay.home import Home
from replay.verify import Checked, check_file, verify_trial

ran = []


@tt.tool(effect="read")
def look(number: int) -> int:
    ran.append(number)
    return number


@tt.tool(effect="write", external=False, ignore=("db",))
def put(db: dict, key: str) -> str:
    ran.append(key)
    db[key] = 1
    return key


def steady(trial):
    for number in range(3):
        look(number)
    put(trial.state, "k")


def failing(trial):
    steady(trial)
    raise ValueError("always")


def capped(trial):
    steady(trial)
    trial.capped("3 steps")


@pytest.fixture
def verify(tmp_path):
    """Record with one agent, verify with another (the same by default)."""

    def run(agent, again=None, task=None, again_task=None):
        recorded = task or tt.Task(id="t", state=lambda: {"start": 1})
        tt.Suite([recorded], agent).run("r", trials=1, home=tmp_path)
        ran.clear()
        home = Home(tmp_path)
        trial = TrialId("r", "t", 0)
        view = check_file(trial, home.cassette(trial), home)
        if isinstance(view, Checked):
            return view
        return verify_trial(view, home, again_task or recorded, again or agent)

    return run


@pytest.mark.parametrize("agent", [steady, failing, capped])
def test_the_same_agent_is_identical_and_nothing_runs(tmp_path, verify, agent):
    checked = verify(agent)
    assert (checked.status, checked.why) == ("identical", "")
    assert ran == []
    assert len(list(tmp_path.rglob("*.cassette"))) == 1  # the replay's own is gone


def fewer(trial):
    look(0)


def more(trial):
    steady(trial)
    look(3)


def other_argument(trial):
    look(0)
    look(7)


def not_failing(trial):
    steady(trial)


def other_state(trial):
    steady(trial)
    trial.state["more"] = 1


@pytest.mark.parametrize(
    ("agent", "again", "told"),
    [
        (steady, fewer, "the replay ended early"),
        (steady, more, "the recording has ended"),
        (steady, other_argument, "diverges at step 1"),
        (failing, not_failing, "the recording ended error (ValueError: always), the replay completed"),
        (steady, failing, "the recording ended completed, the replay error (ValueError: always)"),
        (steady, other_state, "the final state is another"),
    ],
)
def test_what_differs_is_told(verify, agent, again, told):
    checked = verify(agent, again)
    assert checked.status == "differs"
    assert told in checked.why
    assert ran == []


def test_a_changed_task_is_told_as_such(verify):
    checked = verify(steady, again_task=tt.Task(id="t", instruction="other", state=lambda: {"start": 2}))
    assert checked.why == "the task is another than when it was recorded: its instruction and state changed"


def test_a_trial_that_ran_out_of_time_is_not_replayed(tmp_path):
    gate = threading.Event()

    def slow(trial):
        look(1)
        gate.wait(20)

    tt.Suite([tt.Task(id="t")], slow).run("r", trials=1, timeout=1.0, home=tmp_path)
    gate.set()
    home = Home(tmp_path)
    checked = check_file(TrialId("r", "t", 0), home.cassette(TrialId("r", "t", 0)), home)
    assert checked.status == "not replayed"
    assert "timeout" in checked.why


def test_a_damaged_file_is_told(tmp_path):
    tt.Suite([tt.Task(id="t", state=dict)], steady).run("r", trials=1, home=tmp_path)
    home = Home(tmp_path)
    path = home.cassette(TrialId("r", "t", 0))
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)
    assert check_file(TrialId("r", "t", 0), path, home).status == "damaged"


def test_a_cancelled_trial_is_not_replayed(tmp_path):
    with pytest.raises(KeyboardInterrupt), tt.trial(run="r", task="t", home=tmp_path):
        look(1)
        raise KeyboardInterrupt
    home = Home(tmp_path)
    checked = check_file(TrialId("r", "t", 0), home.cassette(TrialId("r", "t", 0)), home)
    assert (checked.status, checked.why) == ("not replayed", "it ended cancelled")
