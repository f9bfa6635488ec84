"""`trialtape store`: check, scan and redact."""

from __future__ import annotations

import json

from cassettes.redact import Redactor
from tests.factories import call as a_call
from tests.factories import interaction, write_cassette

SECRET = "ghp_0123456789abcdefghij0123456789abcdef"


class Careless(Redactor):
    """Another tool, which keeps what it sees."""

    def packed(self, data):
        return data, {}

    def suspects(self, data):
        return False


def leaky(home):
    path = home / "cassettes" / "base" / "a" / "7.cassette"
    leak = interaction(call=a_call(arguments={"token": f"use {SECRET}"}))
    write_cassette(path, [leak], redactor=Careless(), run="base", task="a", index=7)
    return path


def test_intact_recordings_pass_the_check_and_a_damaged_one_is_named(call, recorded, home):
    result = call("store", "check")
    assert (result.exit_code, result.stdout) == (0, "8 cassettes: 8 intact, 0 damaged or incomplete\n")
    path = home / "cassettes" / "base" / "b" / "3.cassette"
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)
    result = call("store", "check", recorded, "--json")
    assert result.exit_code == 4
    assert list(json.loads(result.stdout)["damaged"]) == [str(path)]


def test_a_scan_tells_how_many_secrets_there_are_and_never_what(call, recorded, home, files):
    path = leaky(home)
    before = files()
    result = call("store", "scan")
    assert result.exit_code == 1
    assert f"{path}: 1 github\n" in result.stdout
    assert SECRET not in result.stdout + result.stderr
    assert files() == before
    assert json.loads(call("store", "scan", "--json").stdout)["found"] == {str(path): {"github": 1}}


def test_what_was_redacted_is_found_no_more(call, recorded, home):
    path = leaky(home)
    result = call("store", "redact", recorded)
    assert (result.exit_code, "1 secrets replaced in 1" in result.stdout) == (0, True)
    assert call("store", "scan").exit_code == 0
    assert call("store", "check").exit_code == 0
    assert call("show", f"base/a#{path.stem}").exit_code == 0


def test_an_unknown_run_is_one_line(call, recorded):
    result = call("store", "scan", "nope")
    assert result.exit_code == 2
    assert result.stderr.startswith("trialtape: there is no run 'nope'")


def test_scores_stay_with_a_trial_whose_secrets_were_removed(call, tmp_path, monkeypatch):
    suite = tmp_path / "told.py"
    suite.write_text(TELLING)
    assert call("run", suite, "--run", "base", "--trials", 2).exit_code == 0
    before = json.loads(call("stats", "base", "--json").stdout)["counted"]
    assert before["successes"] == [2]
    monkeypatch.setenv("SESSION_TOKEN", "a-long-session-id-0123456789")  # learnt of after it was recorded
    assert "2 secrets replaced in 2" in call("store", "redact", "base").stdout
    assert json.loads(call("stats", "base", "--json").stdout)["counted"] == before
    assert "passed  task_checks@1" in call("show", "base/a#0").stdout


TELLING = """
import trialtape as tt

@tt.tool(effect="write", external=False)
def put(db, key):
    db[key] = 1
    return "session a-long-session-id-0123456789"

def agent(trial):
    put(trial.state, "done")

suite = tt.Suite(tasks=[tt.Task(id="a", state=dict, expected={"done": 1})], agent=agent)
"""
