"""`trialtape stats --by fault`: the failed trials by their labels."""

from __future__ import annotations

import csv
import json

import pytest

from cassettes.model import Ending
from replay.home import Home
from tests.replay.recorded import keep, read, write


@pytest.fixture
def labelled(call, home):
    """Two tasks of four trials: five fail, of which four are labelled, two by two authors."""
    place = Home(home)
    for task, verdicts in {"a": (True, False, False, True), "b": (True, False, False, False)}.items():
        for index, passed in enumerate(verdicts):
            keep(place, f"base/{task}#{index}", [read("find")], passed=passed)
    for trial, author, fault in (
        ("a#1", "ada", "agent"),
        ("a#2", "ada", "tool"),
        ("b#1", "ada", "tool"),
        ("b#2", "ada", "tool"),
        ("a#1", "bo", "agent"),
        ("b#2", "bo", "task"),
    ):
        assert call("label", f"base/{trial}", "--fault", fault, "--author", author).exit_code == 0
    return "base"


def test_the_table_and_what_must_be_read_with_it(call, labelled):
    result = call("stats", labelled, "--by", "fault")
    assert (result.exit_code, result.stderr) == (0, "")
    shown = [line.split() for line in result.stdout.splitlines()]
    assert ["agent", "1", "20%"] in shown
    assert ["tool", "2", "40%", "0.500"] in shown
    assert ["disputed", "1", "20%"] in shown
    assert ["unlabelled", "1", "20%"] in shown
    assert "pass^1 is 0.375" in result.stdout
    assert "without the failed trials labelled as no fault of the agent (2) it would be 0.500:" in result.stdout
    assert "conditional on these labels, and no substitute" in result.stdout
    assert "unlabelled: 1 of 5 failed trials, left out nowhere" in result.stdout
    assert "disputed (its authors name different faults): 1 of 5 failed trials, left out nowhere" in result.stdout
    assert "ada and bo both labelled 2 trials: 50% alike, Cohen's kappa 0.33" in result.stdout
    assert "1 x tool by ada, task by bo" in result.stdout


def test_the_file_has_the_rows_of_the_table(call, labelled, tmp_path):
    assert call("stats", labelled, labelled, "--by", "fault", "--out", tmp_path / "t.csv").exit_code == 0
    rows = list(csv.DictReader((tmp_path / "t.csv").read_text(encoding="utf-8").splitlines()))
    assert len(rows) == 2 * 7
    told = {row["group"]: row for row in rows}
    assert {row["group_by"] for row in rows} == {"fault"}
    assert (told["tool"]["failed_trials"], told["tool"]["share"], told["tool"]["pass_1_without"]) == ("2", "0.4", "0.5")
    assert (told["agent"]["pass_1"], told["agent"]["pass_1_without"]) == ("0.375", "")


def test_json_has_it_beside_the_numbers(call, labelled):
    plain = json.loads(call("stats", labelled, "--json").stdout)
    document = json.loads(call("stats", labelled, "--by", "fault", "--json").stdout)
    faults = document.pop("faults")
    assert document == plain
    assert faults["failed"] == 5
    assert faults["by_fault"]["tool"] == {
        "trials": 2,
        "share": 0.4,
        "by_judge": 0,
        "pass_1_without": pytest.approx(0.5),
    }
    assert faults["agreement"][0]["kappa"] == pytest.approx(1 / 3)


def test_several_runs_are_told_one_after_the_other(call, home, labelled):
    keep(Home(home), "other/a#0", [read("find")], passed=False)
    documents = json.loads(call("stats", labelled, "other", "--by", "fault", "--json").stdout)
    assert [document["faults"]["failed"] for document in documents] == [5, 1]
    shown = call("stats", labelled, "other", "--by", "fault").stdout
    assert shown.index("base: ") < shown.index("other: ")


def test_rules_that_rest_on_other_runs_name_them(call, home):
    place, same = Home(home), {"task_definition": {"id": "a", "digests": {"instruction": "a"}}}
    keep(place, "base/a#0", [write("put", key=1)], passed=False, **same)
    assert "other runs" not in call("stats", "base", "--by", "fault").stdout
    keep(place, "other/a#0", [write("put", key=2)], passed=True, **same)
    shown = call("stats", "base", "--by", "fault").stdout
    assert "1 trial held against passing trials of other runs in this home (other):" in shown
    keep(place, "base/a#1", [write("put", key=2)], passed=True, **same)
    assert "other runs" not in call("stats", "base", "--by", "fault").stdout


def test_one_and_the_same_label_only_leaves_kappa_undefined(call, home):
    keep(Home(home), "base/a#0", [read("find")], passed=False)
    for author in ("ada", "bo"):
        call("label", "base/a#0", "--fault", "agent", "--author", author)
    shown = call("stats", "base", "--by", "fault").stdout
    assert "100% alike, Cohen's kappa undefined, as both gave one and the same label only" in shown


def test_where_no_trial_is_left_the_number_is_undefined(call, home):
    keep(Home(home), "base/a#0", [read("find")], passed=False)
    call("label", "base/a#0", "--fault", "task", "--author", "ada")
    shown = call("stats", "base", "--by", "fault").stdout
    assert "it would be undefined:" in shown
    assert "without any trial then, and not in it: a" in shown


def test_where_only_bounds_are_told_no_pass_1_is(call, home):
    place = Home(home)
    keep(place, "base/a#0", [read("find")], passed=False)
    keep(place, "base/a#1", [read("find")], ending=Ending("unanswered", "missed"))
    call("label", "base/a#0", "--fault", "tool", "--author", "ada")
    shown = call("stats", "base", "--by", "fault").stdout
    assert "pass^1 lies between" in shown
    assert "pass^1 is" not in shown
    assert "it would be" not in shown
