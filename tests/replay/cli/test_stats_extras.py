"""``trialtape stats``: groups, the card, and tables as files."""

from __future__ import annotations

import json

import pytest

from replay.home import Home
from tests.replay.verdicts import make_run, passes


@pytest.fixture
def runs(home):
    place = Home(home)
    tags = {"a": {"domain": "shop"}, "b": {"domain": "air"}}
    for name, c in (("one", 2), ("two", 3)):
        make_run(place, name, {"a": passes(c, 4), "b": passes(4, 4)}, tags=tags, config={"mode": "record"})
    return place


def test_groups_stand_in_a_table(runs, call):
    told = call("stats", "one", "--by", "domain", "-k", 2).stdout
    assert "domain  tasks  passed  pass^2" in told
    assert "shop        1     2/4   0.167" in told
    assert "of 2 groups some look extreme by luck alone" in told
    document = json.loads(call("stats", "one", "--by", "domain", "--json").stdout)
    assert [group["name"] for group in document["groups"]["groups"]] == ["air", "shop"]


def test_an_unknown_group_is_refused(runs, call):
    done = call("stats", "one", "--by", "mood")
    assert done.exit_code == 2
    assert "no task of run 'one' has a tag 'mood' (known: domain); --by task tells each task" in done.stderr


@pytest.mark.parametrize("by", ["tag", "domain"])
def test_where_no_task_has_any_tag_that_is_said(runs, call, by):
    make_run(runs, "bare", {"a": passes(2, 4)})
    done = call("stats", "bare", "--by", by)
    assert done.exit_code == 2
    assert "no task of run 'bare' has any tag; --by task tells each task" in done.stderr


@pytest.mark.parametrize(
    "command", [("stats", "one"), ("lab", "forecast", "one", "--runs-per-day", "9"), ("compare", "one", "two")]
)
def test_an_empty_name_of_a_score_is_none(runs, call, command):
    done = call(*command, "--score", "")
    assert done.exit_code == 2
    assert "run 'one' has no score '' (known: s@1)" in done.stderr


def test_the_card(runs, call):
    told = call("stats", "one", "--card").stdout
    assert "two (live) has 2 of the same tasks: trialtape compare one two" in told
    assert json.loads(call("stats", "one", "--card", "--json").stdout)["card"]["runs"][0]["run"] == "two"
    assert call("stats", "one", "--card", "--by", "task").exit_code == 2


def test_several_runs_go_into_one_table(runs, call, tmp_path):
    done = call("stats", "one", "two", "--out", tmp_path / "t.csv")
    lines = (tmp_path / "t.csv").read_text().splitlines()
    assert [line.split(",")[0] for line in lines] == ["run", *["one"] * 4, *["two"] * 4]
    assert "t.csv: written" in done.stderr
    call("stats", "one", "two", "--by", "domain", "--out", tmp_path / "g.csv")
    assert len((tmp_path / "g.csv").read_text().splitlines()) == 9


def test_a_table_that_cannot_be_written_is_refused_as_bad_input(runs, call, tmp_path):
    done = call("stats", "one", "--out", tmp_path / "no" / "t.csv")
    assert (done.exit_code, done.stdout) == (2, "")
    assert f"there is no folder {tmp_path / 'no'}; make it, or name another" in done.stderr


def test_rewards_that_are_not_only_0_and_1_have_a_threshold_and_a_mean(home, call):
    make_run(Home(home), "graded", {"a": [0.9, 0.5], "b": [0.8, 1.0], "c": [0.2, 0.85]})
    told = call("stats", "graded").stdout
    assert "values go from 0.2 to 1, mean 0.708 over 6 completed trials" in told
    assert "the mean on other tasks like these, tasks as clusters: 95% [0.242, 1.174]" in told
    assert "--threshold X counts values from X on" in told
    assert json.loads(call("stats", "graded", "--json").stdout)["summary"]["rows"][0]["pass_hat_k"] == pytest.approx(
        1 / 6
    )

    passed = call("stats", "graded", "--threshold", "0.8")
    assert "score s@1, passed from 0.8 on" in passed.stdout
    assert "--threshold X counts" not in passed.stdout
    document = json.loads(call("stats", "graded", "--threshold", "0.8", "--json").stdout)
    assert document["summary"]["rows"][0]["pass_hat_k"] == pytest.approx(4 / 6)
    assert document["reward"]["mean"] == pytest.approx(4.25 / 6)


def test_verdicts_of_0_and_1_have_no_mean_beside_them(runs, call):
    assert "values go from" not in call("stats", "one").stdout
    assert json.loads(call("stats", "one", "--json").stdout)["reward"] is None


def test_trials_that_share_worlds_have_no_number_by_group(home, call):
    config = {"mode": "freeze", "freeze": ["external"], "source": "base", "worlds": 2}
    make_run(Home(home), "nested", {"a": passes(3, 4), "b": passes(1, 4)}, config=config)
    refused = {
        ("stats", "nested", "--by", "task"): "trials share recorded worlds, so no number by group holds",
        ("gate", "nested", "pass^1 >= 0.5", "--target", "fixed"): "trials of run 'nested' share recorded worlds",
        ("lab", "forecast", "nested", "--runs-per-day", "9"): "trials of run 'nested' share recorded worlds",
        ("lab", "plan", "nested", "--detect", "0.1"): "trials of run 'nested' share recorded worlds",
        ("lab", "watchlist", "nested"): "trials of run 'nested' share recorded worlds",
        ("lab", "trend", "nested"): "trials of run 'nested' share recorded worlds",
    }
    for arguments, why in refused.items():
        done = call(*arguments)
        assert done.exit_code == 2, arguments
        assert why in done.stderr


def test_of_runs_that_share_worlds_only_pass_1_is_compared(home, call):
    config = {"mode": "freeze", "freeze": ["external"], "source": "base", "worlds": 2}
    for name, c in (("before", 1), ("after", 3)):
        make_run(Home(home), name, {"a": passes(c, 4), "b": passes(2, 4)}, config=config)
    told = call("compare", "before", "after").stdout
    assert "trials share recorded worlds: only pass^1 is compared" in told
    assert "if you rerun this suite" not in told
    assert call("compare", "before", "after", "-k", "2").exit_code == 2
    assert call("gate", "after", "--against", "before", "--margin", "0.1").exit_code == 2
    gated = call("gate", "after", "--against", "before", "--margin", "0.1", "--target", "population")
    assert gated.exit_code == 6
