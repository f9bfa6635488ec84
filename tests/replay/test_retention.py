from __future__ import annotations

import os
import threading
import time

import pytest

import trialtape as tt
from replay import retention
from replay.home import Home
from replay.retention import delete_expired, expired, seconds_of, sweep
from tests.factories import write_cassette

DAY = 86_400


@pytest.fixture
def home(tmp_path):
    """Of run ``prod`` sessions 0 (40 days old) and 1 (new), a trial and a damaged file, both 40 days old."""
    for name, config, days in [
        ("prod/session/0", {"mode": "session"}, 40),
        ("prod/session/1", {"mode": "session"}, 0),
        ("prod/other/0", {"mode": "record"}, 40),
        ("base/session/0", {"mode": "session"}, 40),
    ]:
        path = write_cassette(tmp_path / f"cassettes/{name}.cassette", config=config)
        _age(path, days)
    damaged = tmp_path / "cassettes/prod/session/2.cassette"
    damaged.write_bytes(b"no cassette")
    _age(damaged, 40)
    return Home(tmp_path)


def _age(path, days):
    then = time.time() - days * DAY
    os.utime(path, (then, then))


@pytest.mark.parametrize(
    ("age", "seconds"),
    [("30d", 30 * DAY), ("12h", 43_200), ("1.5h", 5400), ("90m", 5400), ("45s", 45), ("2w", 14 * DAY)],
)
def test_ages(age, seconds):
    assert seconds_of(age) == seconds


@pytest.mark.parametrize("age", ["", "30", "d", "-1d", "30 days", None])
def test_what_is_no_age(age):
    with pytest.raises(tt.BadInput, match="is no age"):
        seconds_of(age)


def test_only_old_sessions_of_the_run_expire(home):
    assert [p.parent.name + "/" + p.name for p in expired(home, "prod", 30 * DAY)] == ["session/0.cassette"]
    assert list(expired(home, "prod", 50 * DAY)) == []
    assert list(expired(home, "nothing", DAY)) == []


def test_what_has_expired_is_deleted(home):
    (gone,) = delete_expired(home, "prod", 30 * DAY)
    assert not gone.exists()
    assert len(home.recordings("prod")) == 3
    assert len(home.recordings("base")) == 1


def test_what_cannot_be_deleted_is_told(home, monkeypatch):
    def refuse(*_, **__):
        raise PermissionError(1, "not yours")

    monkeypatch.setattr("pathlib.Path.unlink", refuse)
    with pytest.raises(tt.BadInput, match="not yours"):
        delete_expired(home, "prod", DAY)


def test_a_process_looks_once_a_minute(home):
    thread = sweep(home, "prod", "30d")
    thread.join()
    assert len(home.recordings("prod")) == 3
    assert sweep(home, "prod", "30d") is None
    other = sweep(home, "base", "30d")
    other.join()
    assert home.recordings("base") == []


def test_a_session_that_begins_deletes_the_old_ones(home, monkeypatch):
    (home.run("prod") / "other/0.cassette").unlink()
    monkeypatch.setattr(retention, "SWEEP_SECONDS", 0.0)
    with tt.session(home=home.root, keep="30d") as session:
        pass
    for thread in threading.enumerate():
        if thread.name == "trialtape-retention":
            thread.join()
    assert session.ending.status == "completed"
    assert not (home.run("prod") / "session/0.cassette").exists()
    with tt.session(home=home.root, keep=None):
        pass
