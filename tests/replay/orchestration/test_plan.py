from __future__ import annotations

from collections import defaultdict

import pytest

import trialtape as tt
from replay.home import Home
from replay.reruns.rerunning import Terms, rerun
from replay.runs import load_run
from replay.verify import verify_trial
from replay.view import open_trial


@tt.tool(effect="read")
def look(name: str) -> str:
    return name


def steady(trial):
    look(f"{trial.task.id}#{trial.index}")


@pytest.mark.parametrize(
    "change",
    [{"seed": 5}, {"timeout": 9.0}, {"suite": {"tasks": [tt.Task(id="a", instruction="other"), tt.Task(id="b")]}}],
)
def test_another_configuration_is_refused_and_nothing_is_changed(tmp_path, run, change):
    run(steady)
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    with pytest.raises(tt.BadInput, match="already with another configuration"):
        run(steady, **change)
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before


def test_more_trials_than_worlds_are_refused_before_anything_happens(tmp_path, run):
    run(steady, "base")
    with pytest.raises(tt.BadInput, match=r"3 trials, each in a world of its own, .* 2 finished trials .* --worlds R"):
        run(steady, "frozen", trials=3, freeze="external", source="base")
    assert not (tmp_path / "cassettes/frozen").exists()


def test_trials_of_a_world_share_its_users_and_trials_of_different_worlds_share_none(tmp_path, run):
    seeds = {}

    def noting(trial):
        look(trial.task.id)
        seeds[trial.task.id, trial.index] = trial.user_seed, trial.seed

    run(noting, "base", trials=2)
    assert all(user == own for user, own in seeds.values())
    run(noting, "nested", trials=5, freeze="external", source="base", worlds=2, user_seeds=2)

    cells = defaultdict(set)
    for (task, index), (user, _) in seeds.items():
        cells[user].add((task, index % 2, index // 2 % 2))
    assert all(len(cell) == 1 for cell in cells.values())
    assert len(cells) == 2 * 2 * 2  # tasks, worlds, users
    assert len({own for _, own in seeds.values()}) == len(seeds)
    assert all(0 <= user < 2**31 for user in cells)
    assert load_run(Home(tmp_path), "nested").config["user_seeds"] == 2


def test_what_carries_a_trial_out_again_gives_its_user_the_same_seed(tmp_path, run):
    seeds = []

    def noting(trial):
        look(trial.task.id)
        seeds.append(trial.user_seed)

    run(noting, "base", trials=2)
    run(noting, "nested", trials=4, freeze="external", source="base", worlds=2, user_seeds=2)
    home = Home(tmp_path)
    view = open_trial("nested/a#5", home)
    wanted = view.cassette.header.config["user_seed"]
    seeds.clear()
    suite = tt.Suite(tasks=[tt.Task(id="a")], agent=noting)

    assert verify_trial(view, home, view.task, noting).status == "identical"
    rerun(view, home, suite, Terms())
    tt.retrial(view.path, suite=suite)
    with tt.trial(run="again", task="a", replay="nested/a#5", home=tmp_path) as trial:
        noting(trial)
    with tt.trial(run="fork", task="a", fork="nested/a#5", at=1, home=tmp_path) as trial:
        noting(trial)
    assert seeds == [wanted] * 5
    assert open_trial("fork/a#0", home).cassette.header.config["user_seed"] == wanted


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"trials": 0}, "at least 1"),
        ({"concurrency": 0}, "at least 1"),
        ({"retries": -1}, "at least 0"),
        ({"timeout": 0}, "above 0"),
        ({"timeout": float("nan")}, "finite"),
        ({"freeze": "tool"}, "go together"),
        ({"source": "base"}, "go together"),
        ({"freeze": "nonsense", "source": "base"}, "is no selector"),
        ({"freeze": "tool", "source": "nobody"}, "no finished trial"),
        ({"user_seeds": 2}, "name how many worlds"),
        (
            {"freeze": "tool", "source": "base", "worlds": 2, "user_seeds": 2, "trials": 3},
            r"2 user seeds and 3 trials in each world cannot tell .* \(2 seeds need at least 4 trials\)",
        ),
        ({"freeze": "tool", "source": "base", "worlds": 2, "user_seeds": 1, "trials": 4}, "there are 2 seeds or more"),
    ],
)
def test_what_does_not_go_together_is_told(tmp_path, run, options, told):
    run(steady, "base")
    with pytest.raises(tt.BadInput, match=told):
        run(steady, **options)
    assert not (tmp_path / "cassettes/r").exists()
