"""`trialtape new suite`: a suite that works as it is."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
from click.testing import CliRunner

import trialtape as tt
from replay.cli import main, new_command
from replay.orchestration.skeleton import write_suite


@pytest.fixture
def call(tmp_path, monkeypatch):
    """Call the command in an empty folder."""
    monkeypatch.chdir(tmp_path)
    return lambda *arguments: CliRunner().invoke(main, ["--home", str(tmp_path / "home"), *map(str, arguments)])


def test_it_runs_is_scored_verified_and_controlled(call):
    made = call("new", "suite", "-o", "mine.py", "--json")
    beside = {"tasks": "mine_tasks.yaml", "stand_in": "mine_standin.py"}
    assert json.loads(made.stdout) == {"suite": "mine.py", **beside}
    assert call("run", "mine.py", "--run", "first", "--trials", 8).exit_code == 0
    stats = json.loads(call("stats", "first", "--json").stdout)
    assert (len(stats["counted"]["tasks"]), sum(stats["counted"]["trials"])) == (3, 24)
    assert 0 < stats["summary"]["rows"][0]["pass_hat_k"] < 1  # its model is careless now and then
    assert stats["cost"]["calls"] > 24, "its model calls are recorded"
    assert call("verify", "first").exit_code == 0
    control = json.loads(call("score", "first", "--control", "do-nothing", "--json").stdout)[0]
    assert (control["survives"], control["unknown"]) == (0, 0)


@pytest.mark.parametrize("name", ["suite_tasks.yaml", "suite_standin.py", "suite.py"])
def test_nothing_is_overwritten(tmp_path, name):
    (tmp_path / name).write_text("mine")
    with pytest.raises(tt.BadInput, match="exists already; nothing was written"):
        write_suite(tmp_path / "suite.py")
    assert [file.name for file in tmp_path.iterdir()] == [name]


@pytest.mark.parametrize("name", ["suite.yaml", "my-suite.py", "2.py"])
def test_a_suite_is_a_file_that_python_can_import(tmp_path, name):
    with pytest.raises(tt.BadInput, match="no Python module"):
        write_suite(tmp_path / name)


def test_what_is_written_is_formatted_and_has_no_fault_that_a_linter_sees(tmp_path):
    write_suite(tmp_path / "suite.py")
    for check in (["format", "--check"], ["check", "--select", "E,F,W,B,UP,C4"]):
        done = subprocess.run(
            [sys.executable, "-m", "ruff", *check, "--isolated", "--line-length", "120", tmp_path],
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout


def test_without_the_sdk_of_its_agent_it_says_what_to_install(call, monkeypatch):
    monkeypatch.setattr(new_command, "find_spec", lambda _name: None)
    assert "pip install 'trialtape[openai]'" in call("new", "suite").stderr
