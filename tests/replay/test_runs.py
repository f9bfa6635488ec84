from __future__ import annotations

import subprocess
import threading

import pytest
from attrs import evolve

from cassettes.errors import BadInput, CorruptCassette
from replay.home import Home
from replay.runs import RunFile, git_state, load_run, open_run, packages

RUN = RunFile("r", {"mode": "record", "seed": 0, "tasks": {"t": {"state": None}}}, {"created": "now"}, {"p/t#0": "d"})


@pytest.fixture
def home(tmp_path):
    return Home(tmp_path)


def test_a_run_is_created_and_gone_on_with(home):
    open_run(home, RUN)
    assert load_run(home, "r") == RUN
    assert open_run(home, evolve(RUN, about={"created": "later"})) == RUN
    assert [path.name for path in home.run("r").iterdir()] == ["run.json"]


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"config": {**RUN.config, "seed": 1}}, "seed: 0 there, 1 now"),
        ({"config": {**RUN.config, "cap": 3}}, "cap: nothing there, 3 now"),
        ({"config": {**RUN.config, "tasks": {"t": {"state": "x"}}}}, "tasks.t.state: null there, x now"),
        ({"pool": {"p/t#0": "e"}}, r"pool.p/t#0: d there, e now"),
    ],
)
def test_another_configuration_is_refused_with_what_differs(home, change, told):
    open_run(home, RUN)
    before = (home.run("r") / "run.json").read_bytes()
    with pytest.raises(BadInput, match=told):
        open_run(home, evolve(RUN, **change))
    assert (home.run("r") / "run.json").read_bytes() == before


def test_of_many_that_create_a_run_one_does(home):
    barrier, ends = threading.Barrier(6), []

    def create(seed):
        barrier.wait(20)
        try:
            open_run(home, evolve(RUN, config={"seed": seed}))
        except BadInput:
            ends.append("refused")
        else:
            ends.append("made")

    threads = [threading.Thread(target=create, args=(seed,)) for seed in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(ends) == ["made"] + ["refused"] * 5


def test_a_run_that_is_not_there_names_those_that_are(home):
    open_run(home, RUN)
    with pytest.raises(BadInput, match=r"there is no run 'x' in .*; the runs there: r"):
        load_run(home, "x")


@pytest.mark.parametrize("text", ["", "{", "[]", '{"other": 1}', '"text"'])
def test_a_damaged_file_is_told(home, text):
    open_run(home, RUN)
    (home.run("r") / "run.json").write_text(text)
    with pytest.raises(CorruptCassette, match="is damaged"):
        load_run(home, "r")


def test_packages_and_git_are_told(tmp_path):
    assert {"python", "trialtape", "httpx2"} <= set(packages())
    assert git_state(tmp_path) is None
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    identity = ["-c", "user.name=n", "-c", "user.email=e@example.com"]
    subprocess.run(["git", *identity, "commit", "-q", "--allow-empty", "-m", "x"], cwd=tmp_path, check=True)
    assert git_state(tmp_path)["changed"] is False
    (tmp_path / "new").touch()
    assert git_state(tmp_path)["changed"] is True
