"""Fixtures that several test modules of replay use."""

from __future__ import annotations

import functools

import pytest
from click.testing import CliRunner

import trialtape as tt
from replay.cli import main
from replay.home import Home
from tests.replay.recorded import AIRLINE


@pytest.fixture
def run(tmp_path):
    """Run an agent over tasks ``a`` and ``b``."""

    def carry_out(agent, name="r", *, ids="ab", trials=2, suite=None, **options):
        made = {"tasks": [tt.Task(id=task) for task in ids], "agent": agent, **(suite or {})}
        return tt.Suite(**made).run(name, trials=trials, home=tmp_path, **options)

    return carry_out


@pytest.fixture
def trial(tmp_path):
    """Make a trial of task ``t``."""
    return functools.partial(tt.trial, task="t", home=tmp_path)


@tt.tool(effect="read", name="look")
def _look(number: int) -> int:
    return number


def _agent(trial):
    for number in range(3):
        _look(number)
    if trial.index == 1:
        raise ValueError("agent")


@pytest.fixture
def home(tmp_path):
    """An empty home."""
    return Home(tmp_path / "home")


@pytest.fixture
def make(home):
    """Carry out a run of three calls a trial, in which every second trial fails."""

    def run(name="r", trials=2, ids="ab"):
        suite = tt.Suite([tt.Task(id=task) for task in ids], _agent, [lambda view: view.id.index == 0])
        return suite.run(name, trials=trials, home=home.root)

    return run


@pytest.fixture(scope="session")
def airline_home(tmp_path_factory):
    """A home with the 200 airline trials of tau-bench as run ``airline``; for tests that need them."""
    root = tmp_path_factory.mktemp("airline")
    done = CliRunner().invoke(main, ["--home", str(root), "import", "taubench", str(AIRLINE), "--run", "airline"])
    assert done.exit_code == 0, done.output
    return Home(root)
