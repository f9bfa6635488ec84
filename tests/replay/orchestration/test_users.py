"""Users that need no model."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

import trialtape as tt


def said(user, seed=0, turns=4):
    party = user(SimpleNamespace(id="r/t#0", user_seed=seed, task=SimpleNamespace(id="t")))
    return [party.act(tt.Heard("x")).text for _ in range(turns)]


def test_a_script_is_said_line_by_line_and_then_the_stop_phrase():
    assert said(tt.scripted(["a", "b"])) == ["a", "b", "###STOP###", "###STOP###"]
    assert said(tt.scripted(["a"], last="bye"), turns=2) == ["a", "bye"]


def test_the_users_seed_draws_among_ways_to_say_it():
    user = tt.scripted([["a", "b", "c"]] * 4)
    assert said(user, seed=1) == said(user, seed=1)
    assert {*said(user, seed=1, turns=4)} <= {"a", "b", "c"}
    assert len({tuple(said(user, seed=seed)) for seed in range(20)}) > 1


def test_each_task_may_have_its_own_script():
    assert said(tt.scripted(lambda trial: [f"my task is {trial.task.id}"]), turns=1) == ["my task is t"]


def test_each_trial_begins_the_script_anew():
    user = tt.scripted(["a", "b"])
    assert said(user, turns=1) == said(user, turns=1) == ["a"]


def test_behind_the_script_it_says_yes_as_often_as_it_is_asked():
    party = tt.scripted(["a"], yes=["yes", "sure"])(SimpleNamespace(id="r/t#0", user_seed=1, task=None))
    heard = ["x?", "shall I?", "and this?", "done", "shall I?"]
    said = [party.act(tt.Heard(text)).text for text in heard]
    assert said[0] == "a"
    assert {*said[1:3], said[4]} <= {"yes", "sure"}
    assert said[3] == "###STOP###"


def test_what_it_says_is_told_for_the_runs_configuration():
    assert tt.scripted(["a", tt.Act("b")]).settings == tt.scripted(["a", tt.Act("b")]).settings
    assert tt.scripted(["a"]).settings != tt.scripted(["b"]).settings
    assert tt.scripted(lambda trial: [trial.id], yes=["y"]).settings == {
        "script": "of each trial",
        "last": "###STOP###",
        "yes": ["y"],
    }


def test_an_empty_choice_is_refused():
    with pytest.raises(tt.BadInput, match="empty list"):
        said(tt.scripted(["a", []]))
