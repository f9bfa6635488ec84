from __future__ import annotations

import threading

import pytest

from cassettes.errors import BadInput, CorruptCassette
from cassettes.model import TrialId
from replay.home import Home


@pytest.fixture
def home(tmp_path):
    return Home(tmp_path / "home")


def test_the_home_comes_from_the_argument_then_the_environment_then_the_default(tmp_path, monkeypatch):
    monkeypatch.setenv("TRIALTAPE_HOME", "from-environment")
    assert Home.find(tmp_path).root == tmp_path
    assert str(Home.find().root) == "from-environment"
    monkeypatch.delenv("TRIALTAPE_HOME")
    assert str(Home.find().root) == ".trialtape"


@pytest.mark.parametrize("task", ["a/b", "..", ".hidden", "50%", "täsk ☃", "with space", "x#1", "C:\\x", "a.cassette"])
def test_any_name_is_one_folder_below_the_run_and_found_again(home, task):
    trial = TrialId("my run", task, 3)
    path = home.cassette(trial)
    assert path.parent.parent == home.run("my run")
    assert path.resolve() == path.absolute()
    path.parent.mkdir(parents=True)
    path.touch()
    assert home.runs() == ["my run"]
    assert list(home.trials("my run")) == [(trial, path)]


@pytest.mark.parametrize("name", ["", "a/b", "a\nb", "x" * 300, "ü" * 100])
def test_what_is_no_name_for_a_run(home, name):
    with pytest.raises(BadInput):
        home.run(name)


@pytest.mark.parametrize("task", ["", "#1", "x" * 300])
def test_what_is_no_id_for_a_task(home, task):
    with pytest.raises(BadInput):
        home.task("r", task)


def test_trials_come_by_task_and_number_without_attempts_and_judges(home):
    names = ["10.cassette", "2.cassette", "2.attempt-1.cassette", "2.attempt-2.cassette", "2.s@1.cassette", "x.txt"]
    folder = home.task("r", "t")
    folder.mkdir(parents=True)
    for name in names:
        (folder / name).touch()
    (home.run("r") / "run.json").touch()
    assert [trial.index for trial, _ in home.trials("r")] == [2, 10]
    assert home.attempts("r") == 2
    assert len(home.recordings("r")) == 4
    assert home.next_attempt(TrialId("r", "t", 2)).name == "2.attempt-3.cassette"
    assert home.next_attempt(TrialId("r", "t", 10)).name == "10.attempt-1.cassette"


def test_a_run_that_is_not_there_has_no_trials(home):
    assert (home.runs(), list(home.trials("r")), home.attempts("r")) == ([], [], 0)


def test_the_redaction_key_is_made_once_also_by_many_at_the_same_time(home):
    barrier, keys = threading.Barrier(8), []

    def ask():
        barrier.wait(20)
        keys.append(home.redaction_key())

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(keys) == 8
    assert len(set(keys)) == 1
    assert [path.name for path in home.root.iterdir()] == ["redaction.key"]
    assert (home.root / "redaction.key").stat().st_mode & 0o777 == 0o600


def test_a_damaged_redaction_key_is_told_and_left_alone(home):
    home.root.mkdir()
    (home.root / "redaction.key").write_bytes(b"short")
    with pytest.raises(BadInput, match="no redaction key"):
        home.redaction_key()
    assert (home.root / "redaction.key").read_bytes() == b"short"


def test_a_state_is_stored_once_and_checked(home):
    digest = home.keep_state(b"packed")
    assert home.keep_state(b"packed") == digest
    assert [path.name for path in (home.root / "states").iterdir()] == [digest]
    assert home.state(digest) == b"packed"
    other = home.keep_state(b"other")
    (home.root / "states" / other).write_bytes((home.root / "states" / digest).read_bytes())
    with pytest.raises(CorruptCassette, match="not what its name says"):
        home.state(other)
    (home.root / "states" / digest).write_bytes(b"damaged")
    with pytest.raises(CorruptCassette, match="cannot be read"):
        home.state(digest)
    with pytest.raises(CorruptCassette, match="cannot be read"):
        home.state("0" * 32)
