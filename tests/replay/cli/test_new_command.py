from __future__ import annotations

import json

import pytest

import trialtape as tt


@tt.tool(effect="write", external=False, ignore=["db"])
def put(db, key):
    db[key] = 1


@pytest.fixture
def incident(home, tmp_path, monkeypatch):
    """A session ``prod/session#0``, and an empty folder to work in."""
    monkeypatch.chdir(tmp_path)
    with tt.session(home=home) as session:
        db = {"start": 1}
        session.track(db)
        session.message("user", "please")
        put(db, "done")
    return "prod/session#0"


def test_an_incident_becomes_a_task_that_runs(call, incident, tmp_path):
    outcome = call("new", "task", "--from", incident)
    assert outcome.exit_code == 0, outcome.stderr
    path = tmp_path / "task_prod_session_0.py"
    assert "task session-0" in outcome.stdout
    assert call("run", path, "--run", "stub", "-n", 1).exit_code == 0
    text = path.read_text()
    assert "instruction='please'" in text
    stub = 'raise NotImplementedError("call your agent in agent(trial)")'
    assert stub in text
    path.with_name("mine.py").write_text(
        text.replace(stub, "put(trial.state, 'done')") + "\n\n@tt.tool(effect='write', external=False, ignore=['db'])\n"
        "def put(db, key):\n    db[key] = 1\n"
    )
    assert call("run", path.with_name("mine.py"), "--run", "mine", "-n", 2).exit_code == 0
    assert call("ls", "mine").stdout.count("passed") == 2


def test_the_same_as_data(call, incident, tmp_path):
    outcome = call("new", "task", "--from", "@last", "-o", tmp_path / "a.py", "--json")
    assert json.loads(outcome.stdout) == {
        "file": str(tmp_path / "a.py"),
        "task": "session-0",
        "beside": [str(tmp_path / "a.cassette")],
    }


def test_what_cannot_be_is_told(call, incident, tmp_path):
    assert call("new", "task", "--from", "prod/nothing#0").exit_code == 2
    assert call("new", "task", "--from", incident, "-o", tmp_path / "a-b.py").exit_code == 2
    assert call("new", "task", "--from", incident, "-o", tmp_path / "a.py").exit_code == 0
    again = call("new", "task", "--from", incident, "-o", tmp_path / "a.py")
    assert again.exit_code == 2
    assert "exists already" in again.stderr
