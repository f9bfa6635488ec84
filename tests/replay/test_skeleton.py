"""`trialtape new suite`: a suite that works as it is."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

import trialtape as tt
from replay.cli import main
from replay.skeleton import write_suite


@pytest.fixture
def call(tmp_path, monkeypatch):
    """Call the command in an empty folder."""
    monkeypatch.chdir(tmp_path)
    return lambda *arguments: CliRunner().invoke(main, ["--home", str(tmp_path / "home"), *map(str, arguments)])


def test_it_runs_is_scored_verified_and_controlled(call):
    made = call("new", "suite", "-o", "mine.py", "--json")
    assert json.loads(made.stdout) == {"suite": "mine.py", "tasks": "mine_tasks.yaml"}
    assert call("run", "mine.py", "--run", "first", "--trials", 8).exit_code == 0
    stats = json.loads(call("stats", "first", "--json").stdout)
    assert (len(stats["counted"]["tasks"]), sum(stats["counted"]["trials"])) == (3, 24)
    assert 0 < stats["summary"]["rows"][0]["pass_hat_k"] < 1  # its agent is careless now and then
    assert call("verify", "first").exit_code == 0
    control = json.loads(call("score", "first", "--control", "do-nothing", "--json").stdout)[0]
    assert (control["survives"], control["unknown"]) == (0, 0)


def test_nothing_is_overwritten(tmp_path):
    (tmp_path / "suite_tasks.yaml").write_text("mine")
    with pytest.raises(tt.BadInput, match="exists already; nothing was written"):
        write_suite(tmp_path / "suite.py")
    assert not (tmp_path / "suite.py").exists()


def test_a_suite_is_a_python_file(tmp_path):
    with pytest.raises(tt.BadInput, match="no Python file"):
        write_suite(tmp_path / "suite.yaml")
