"""The commands of ``trialtape lab`` that rest on statistics."""

from __future__ import annotations

import json

import pytest

from replay.home import Home
from tests.replay.verdicts import UNANSWERED, make_run, passes


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    place = Home(tmp_path_factory.mktemp("lab"))
    for number in (1, 2):
        tasks = {f"t{task}": passes(max(0, task % 5 - (number == 2 and task < 9)), 4) for task in range(20)}
        make_run(place, f"night-{number}", tasks, about={"created": f"2026-01-0{number}"})
    return place.root


def test_plan(call):
    told = call("lab", "plan", "night-1", "--detect", "0.1", "-k", "4").stdout
    assert told.startswith("to find +0.1 in pass^4 (0.2")
    assert "n = k is the worst use of money: 4 trials per task need" in told
    document = json.loads(call("lab", "plan", "night-1", "--detect", "0.1", "-n", 6, "--json").stdout)
    assert [design["trials"] for design in document["designs"]] == [6]
    assert call("lab", "plan", "night-1", "--detect", "0.9").exit_code == 2


def test_forecast(call):
    told = call("lab", "forecast", "night-1", "--runs-per-day", "100").stdout
    assert "k = 4      0.200   counted" in told
    assert "k = 8      0." in told
    assert "model-based (beta-binomial); without assumptions" in told
    assert "k = 100    not identified" in told
    assert "0.99      0.366               1                       299" in told
    assert json.loads(call("lab", "forecast", "night-1", "--runs-per-day", "9", "--json").stdout)["per_day"] == 9


def test_watchlist(call):
    told = call("lab", "watchlist", "night-1", "--size", "8").stdout
    assert "guards: 4 tasks of night-1 (always passed; drawn at random" in told
    fell = call("lab", "watchlist", "night-1", "--size", "8", "--check", "night-2", "--alpha", "0.4")
    assert "trials passed" in fell.stdout
    document = json.loads(call("lab", "watchlist", "night-1", "--check", "night-2", "--json").stdout)
    assert document["fell"] is (document["guards"]["test"]["p"] <= 0.025 or document["flaky"]["test"]["p"] <= 0.025)
    assert call("lab", "watchlist", "night-1", "--json").exit_code == 0


def test_a_list_that_fell_is_exit_code_1(call):
    done = call("lab", "watchlist", "night-1", "--check", "night-2", "--size", "20", "--alpha", "0.9")
    assert done.exit_code == 1
    assert "FELL" in done.stdout


def test_a_run_is_not_checked_against_its_own_lists(call):
    done = call("lab", "watchlist", "night-1", "--check", "night-1")
    assert done.exit_code == 2
    assert "'night-1' is checked against its own lists; name a later run with --check" in done.stderr


def test_trend(call):
    done = call("lab", "trend", "night-*")
    assert done.exit_code == 0
    assert "pass^1 over 2 nights, 20 tasks that are the same in all, score s@1" in done.stdout
    assert "night-1  0.500 │" in done.stdout
    assert json.loads(call("lab", "trend", "night-*", "--json").stdout)["alarm"] is None
    assert call("lab", "trend", "week-*").exit_code == 2


def test_judge(call, tmp_path):
    labels = tmp_path / "labels.csv"
    rows = [f"night-1/t{task}#{index},{index < task % 5}" for task in range(10) for index in range(4)]
    labels.write_text("trial,passed\n" + "\n".join(rows) + "\nnight-1/t10#0,true\n", encoding="utf-8")
    told = call("lab", "judge", "night-1", "--labels", labels).stdout
    assert told.startswith(f"night-1: s@1 against {labels}, 41 of 80 judged trials labelled")
    assert "recall       0.952" in told
    assert "specificity  1.000" in told
    assert "  night-1/t10#0   failed by the judge, not by people" in told
    assert json.loads(call("lab", "judge", "night-1", "--labels", labels, "--json").stdout)["labelled"] == 41
    refused = call("lab", "judge", "night-1")
    assert (refused.exit_code, "--labels FILE, or --human SCORE" in refused.stderr) == (2, True)


def test_noise_of_a_live_run_is_refused(call):
    done = call("lab", "noise", "night-1")
    assert done.exit_code == 2
    assert "is not frozen in a recorded world, so its noise cannot be split" in done.stderr


def test_an_unknown_command_is_refused(call):
    assert call("lab", "nothing").exit_code == 2


def test_one_of_each_is_one(home, call):
    make_run(Home(home), "lone", {"a": [True]}, config={"mode": "record"})
    make_run(Home(home), "pair", {"a": [True, False]}, config={"mode": "record"})
    told = {
        ("stats", "lone", "--card"): "1 task, 1 counted trial each; 1 trial in all",
        ("lab", "forecast", "pair", "--runs-per-day", "1"): "pair: 1 task, 2 trials counted, score s@1",
        ("lab", "forecast", "pair", "--runs-per-day", "1", "-k", "2"): "\n1 request a day, each a task like these",
        ("lab", "trend", "lone"): "pass^1 over 1 night, 1 task that is the same in all, score s@1",
        ("lab", "watchlist", "lone"): "guards: 1 task of lone",
    }
    for command, line in told.items():
        assert line in call(*command).stdout, command
    refused = call("gate", "pass^4 >= 0.5", "--target", "fixed", "--plan-tasks", 1, "--plan-trials", 1)
    assert "pass^4 >= 0.5: needs at least 4 trials of every task, and there is 1" in refused.stderr
    bounded = "1 of 1 trial ended unanswered"
    make_run(Home(home), "unanswered", {"a": [UNANSWERED]}, config={"mode": "record"})
    assert bounded in call("stats", "unanswered").stdout
