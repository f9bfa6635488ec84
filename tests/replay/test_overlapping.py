"""Writes of the tracked state that overlapped share their change, whichever is asked for first in a replay."""

from __future__ import annotations

import threading

import pytest

import trialtape as tt
from cassettes.errors import Divergence
from cassettes.model import Call, Interaction, TrialId, Value
from replay.recording import Recording


class Shop:
    """Two writes, of which the slow one begins first and ends last; both change the same row."""

    def __init__(self):
        self.begun, self.done = threading.Event(), threading.Event()

    @tt.tool(effect="write", external=False, ignore=["db"])
    def slow(self, db: dict) -> str:
        db["a"] = 1
        self.begun.set()
        assert self.done.wait(10)
        db["n"] += 1
        return "slow"

    @tt.tool(effect="write", external=False, ignore=["db"])
    def quick(self, db: dict) -> str:
        db["b"] = 1
        db["n"] += 1
        return "quick"

    @tt.tool(effect="read", external=False, ignore=["db"])
    def look(self, db: dict) -> int:
        return db["n"]


TASK = tt.Task(id="t", state=lambda: {"n": 0})
BOTH = {"a": 1, "b": 1, "n": 2}


@pytest.fixture
def home(tmp_path):
    """With one recording, in which the writes overlapped."""
    shop = Shop()
    with tt.trial(run="base", task=TASK, home=tmp_path) as trial:
        thread = threading.Thread(target=shop.slow, args=(trial.state,))
        thread.start()
        assert shop.begun.wait(10)
        shop.quick(trial.state)
        shop.done.set()
        thread.join()
        shop.look(trial.state)
    assert trial.state == BOTH
    return tmp_path


def asked(trial, first, second):
    """The same calls, one after the other."""
    shop = Shop()
    getattr(shop, first)(trial.state)
    getattr(shop, second)(trial.state)
    return shop


@pytest.mark.parametrize("order", [("slow", "quick"), ("quick", "slow")])
def test_a_replay_reaches_the_same_state_in_either_order(home, order):
    with tt.trial(run="again", task=TASK, home=home, replay="base/t#0") as trial:
        asked(trial, *order).look(trial.state)
    assert trial.state == BOTH
    view = tt.open("again/t#0", home=home)
    assert view.state() == BOTH
    assert [step.interaction.patch is None for step in view.steps] == [False, True, True]
    assert view.problems == []


@pytest.mark.parametrize("order", [("slow", "quick"), ("quick", "slow")])
def test_a_fork_after_them_goes_on_from_the_state_of_both(home, order):
    with tt.trial(run="fork", task=TASK, home=home, fork="base/t#0", at=2) as trial:
        assert asked(trial, *order).look(trial.state) == 2
    assert trial.state == BOTH


def test_a_fork_in_the_midst_of_them_diverges(home):
    with (
        pytest.raises(Divergence, match="that does not fit the state"),
        tt.trial(run="fork", task=TASK, home=home, fork="base/t#0", at=1) as trial,
    ):
        asked(trial, "slow", "quick")


def test_what_overlaps_is_told_with_all_that_it_overlaps_with():
    def write(step, started, ended, effect="write"):
        return Interaction(step, Call("tool", f"w{step}", {}, effect=effect), Value(None), started, ended)

    writes = [
        write(0, 1, 2),
        write(1, 3, 8),
        write(2, 4, 5),
        write(3, 6, 9),
        write(4, 10, 12),
        write(5, 11, 13, "read"),
    ]
    groups = Recording(TrialId("r", "t", 0), writes).overlapping
    assert {step: [one.step for one in group] for step, group in groups.items()} == {
        1: [2, 1, 3],
        2: [2, 1, 3],
        3: [2, 1, 3],
    }
