"""What the tests of commands share."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

from replay.cli import main

SUITE = """
import trialtape as tt

@tt.tool(effect="read")
def look(number):
    return number

@tt.tool(effect="write", external=False)
def put(db, key):
    db[key] = 1
    return "put"

def agent(trial):
    for number in range(3):
        look(number)
    put(trial.state, "done" if trial.index % 2 == 0 else "wrong")

tasks = [tt.Task(id=task, state=lambda: {"start": 1}, expected={"done": 1}) for task in ("a", "b")]
suite = tt.Suite(tasks=tasks, agent=agent)
"""


@pytest.fixture
def home(tmp_path):
    return tmp_path / "home"


@pytest.fixture
def call(home):
    """Call the command; a result with ``exit_code``, ``stdout`` and ``stderr``, never a traceback."""

    def run(*arguments):
        result = CliRunner().invoke(main, ["--home", str(home), *map(str, arguments)])
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        assert "Traceback" not in result.stderr
        return result

    return run


@pytest.fixture
def suite_file(tmp_path):
    path = tmp_path / "a_suite.py"
    path.write_text(SUITE)
    return path


@pytest.fixture
def recorded(call, suite_file):
    """A run ``base`` of two tasks with four trials each, half of which pass."""
    assert call("run", suite_file, "--run", "base", "--trials", 4).exit_code == 0
    return "base"


@pytest.fixture
def files(home):
    """The content of every file below the home, without the index."""

    def read():
        return {p: p.read_bytes() for p in home.rglob("*") if p.is_file() and not p.name.startswith("trialtape.db")}

    return read
