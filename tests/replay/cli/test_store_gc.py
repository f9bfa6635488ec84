from __future__ import annotations

import json
import os
import time

import pytest

import trialtape as tt


@pytest.fixture
def old(home, recorded):
    """A session of 40 days, one of now, and trials of run ``base`` of 40 days."""
    for _ in range(2):
        with tt.session(home=home):
            pass
    then = time.time() - 40 * 86_400
    path = home / "cassettes/prod/session/0.cassette"
    for file in (path, *(home / "cassettes/base").rglob("*.cassette")):
        os.utime(file, (then, then))
    return path


def test_old_sessions_are_deleted_and_trials_never(call, home, old):
    before = len(list(home.rglob("*.cassette")))
    told = call("store", "gc", "--keep", "30d", "--dry-run")
    assert told.stdout == f"{old}\n1 sessions older than 30d would be deleted\n"
    assert old.exists()
    assert json.loads(call("store", "gc", "prod", "--keep", "30d", "--json").stdout) == {
        "deleted": [str(old)],
        "expired": [str(old)],
    }
    assert len(list(home.rglob("*.cassette"))) == before - 1
    assert call("store", "gc", "--keep", "30d").stdout == "0 sessions older than 30d were deleted\n"
    assert "prod/session#1" in call("ls", "prod").stdout
    assert "prod/session#0" not in call("ls", "prod").stdout


def test_what_cannot_be_is_told(call, old):
    assert call("store", "gc", "--keep", "a month").exit_code == 2
    assert call("store", "gc", "nothing", "--keep", "30d").exit_code == 2
