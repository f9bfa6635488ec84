"""Whatever tells a number tells what it does not rest on."""

from __future__ import annotations

import json

import pytest

from replay.home import Home
from tests.replay.verdicts import INFRASTRUCTURE, make_run, passes


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    return tmp_path_factory.mktemp("not-counted")


@pytest.fixture(scope="module")
def torn(home):
    for name in ("torn-1", "torn-2"):
        tasks = {f"t{task}": passes(3 if task % 2 else 4, 4) for task in range(12)}
        make_run(Home(home), name, {**tasks, "lost": [INFRASTRUCTURE] * 4, "part": [True, True, INFRASTRUCTURE]})
    return "torn-1"


@pytest.mark.parametrize(
    "command",
    [
        ("stats", "torn-1"),
        ("gate", "torn-1", "pass^1 >= 0.1", "--target", "fixed"),
        ("lab", "forecast", "torn-1", "--runs-per-day", "10"),
        ("lab", "watchlist", "torn-1", "--size", "6"),
        ("lab", "plan", "torn-1", "--detect", "0.1"),
    ],
    ids=" ".join,
)
def test_left_out_trials_and_tasks_are_named(torn, call, command):
    told = call(*command).stdout
    assert "left out: 5 error (infrastructure)" in told
    assert "tasks without any counted trial: lost" in told
    found = json.loads(call(*command, "--json").stdout)
    held = found["counted"] if command[0] == "stats" else found["not_counted"]
    assert held["left_out"] == {"error (infrastructure)": 5}
    assert held["empty"] == ["lost"]


def test_of_nights_those_of_each(torn, call):
    told = call("lab", "trend", "torn-*").stdout
    assert "left out of torn-1: 5 error (infrastructure)" in told
    assert "left out of torn-2: 5 error (infrastructure)" in told


def test_a_gate_of_few_tasks_is_called_so_and_evidence_is_not(home, call):
    for name in ("small", "smaller"):
        make_run(Home(home), name, {f"t{task}": passes(4, 4) for task in range(3)})
    held = ("gate", "small", "--against", "smaller", "--margin", "0.2")
    assert "few events" in call(*held).stdout
    assert "few events" not in call(*held, "--sequential").stdout
