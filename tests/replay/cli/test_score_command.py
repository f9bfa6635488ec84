"""`trialtape score`: many runs and scorers, what was there beside what is new, and negative controls."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from replay.cli import main
from replay.home import Home
from replay.scores.scorefile import read_scores
from tests.replay.recorded import needs_airline

SCORERS = """
import trialtape as tt

@tt.scorer(version="1", blind_to=["what was said"])
def first_half(view):
    return view.id.index < 2

@tt.scorer(name="first_half", version="2")
def later(view):
    return view.id.index < 3

@tt.scorer(version="1")
def broken(view):
    return view.nothing

@tt.tool(name="judge-model")
def ask(text):
    return len(text) > 3

judged = tt.judge(lambda view: ask(f"trial {view.id.index}"), name="judged", version="1")
"""


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "cli_scorers.py"
    path.write_text(SCORERS)
    return path


def document(result, code=0):
    assert result.exit_code == code, result.stderr
    return json.loads(result.stdout)


def scores(home, run="base"):
    return [f"{s.scorer}@{s.version}" for s in read_scores(Home(home), run)]


def test_several_runs_and_scorers_are_scored_in_several_processes(call, recorded, suite_file, file):
    assert call("run", suite_file, "--run", "other", "--trials", 2).exit_code == 0
    told = document(
        call("score", "base", "other", "--with", f"{file}:first_half", "--with", "not_capped", "-j", 2, "--json")
    )
    assert [(row["run"], row["score"], row["passed"], row["failed"]) for row in told] == [
        ("base", "first_half@1", 4, 4),
        ("base", "not_capped@1", 8, 0),
        ("other", "first_half@1", 4, 0),
        ("other", "not_capped@1", 4, 0),
    ]


def test_a_broken_scorer_stops_no_other(call, recorded, file):
    told = document(call("score", "base", "--with", f"{file}:broken", "--with", "not_capped", "--json"), code=1)
    assert [(row["passed"], row["unscored"], len(row["problems"])) for row in told] == [(0, 8, 8), (8, 0, 0)]
    text = call("score", "base", "--with", f"{file}:broken")
    assert text.exit_code == 1
    assert "AttributeError" in text.stderr
    assert "and 3 more" in text.stderr


def test_resume_scores_only_what_is_missing(call, home, recorded, file, suite_file):
    assert call("score", "base", "--with", f"{file}:first_half").exit_code == 0
    before = len(scores(home))
    (told,) = document(call("score", "base", "--with", f"{file}:first_half", "--resume", "--json"))
    assert (told["kept"], told["passed"], len(scores(home))) == (8, 0, before)
    (other,) = document(call("score", "base", "--with", f"{file}:later", "--resume", "--json"))
    assert (other["kept"], other["passed"]) == (0, 6)


def test_old_versions_are_kept(call, home, recorded, file):
    call("score", "base", "--with", f"{file}:first_half")
    call("score", "base", "--with", f"{file}:later")
    assert {"first_half@1", "first_half@2", "task_checks@1"} <= {*scores(home)}
    assert document(call("stats", "base", "--score", "first_half@1", "--json"))["score"] == "first_half@1"


def test_new_scores_stand_beside_the_recorded_ones(call, recorded, file):
    (told,) = document(call("score", "base", "--with", f"{file}:first_half", "--compare", "--json"))
    compared = told["compared"]
    assert (compared["recorded"], compared["again"], compared["trials"]) == ("task_checks@1", "first_half@1", 8)
    assert [pair["trial"] for pair in compared["differ"]] == ["base/a#1", "base/a#2", "base/b#1", "base/b#2"]
    text = call("score", "base", "--with", f"{file}:first_half", "--compare").stdout
    assert "4 of 8 like the recorded task_checks@1" in text
    assert [line.split() for line in text.splitlines() if "base/a#1" in line] == [
        ["base/a#1", "0", "failed", "1", "passed"]
    ]
    (alike,) = document(call("score", "base", "--compare", "--json"))
    assert alike["compared"]["differ"] == []


def test_a_score_that_is_not_there_cannot_be_compared_with(call, recorded, file):
    result = call("score", "base", "--with", f"{file}:first_half", "--compare", "--score", "reward")
    assert (result.exit_code, "no score 'reward'" in result.stderr) == (2, True)


def test_a_reward_is_recombined_from_kept_scores(call, home, recorded, file):
    call("score", "base", "--with", f"{file}:first_half")
    for path in (home / "cassettes" / "base").rglob("*.cassette"):
        path.write_bytes(b"nothing of them is read")
    (told,) = document(call("score", "base", "--combine", "reward=task_checks*first_half", "--json"))
    assert (told["passed"], told["failed"]) == (2, 6)
    assert told["score"].startswith("reward@")


def test_what_a_score_cannot_see_is_told_on_every_report(call, recorded, file):
    assert "this score cannot see: what was said" in call("score", "base", "--with", f"{file}:first_half").stdout
    assert "this score cannot see: what was said" in call("stats", "base", "--score", "first_half").stdout
    assert document(call("stats", "base", "--json"))["blind_to"][0].startswith("the way to the state")
    call("score", "base", "--with", f"{file}:later")
    assert "this score cannot see: its scorer does not tell" in call("stats", "base", "--score", "first_half@2").stdout


def test_negative_controls_tell_how_many_passes_survive(call, recorded):
    told = document(call("score", "base", "--control", "drop-last-write", "--json"))[0]
    assert (told["passes"], told["survives"], told["flips"], told["unknown"], told["no_write"]) == (4, 0, 4, 0, 0)
    text = call("score", "base", "--control", "do-nothing").stdout
    assert "base: 4 trials pass by task_checks@1; if nothing is done:" in text
    assert "0 of 4 still pass, 4 fail\n" in text
    assert "this score cannot see" in text


def test_a_control_keeps_no_score(call, home, recorded):
    before = scores(home)
    call("score", "base", "--control", "do-nothing")
    assert scores(home) == before


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--control", "do-nothing", "--resume"), "--control keeps no scores"),
        (("--control", "do-nothing", "-j", "2"), "--control keeps no scores"),
        (("--score", "x"), "--score names the recorded score"),
        (("--combine", "x"), "is no NAME=RULE"),
        (("--combine", "r=nothing"), "no score or component nothing"),
        (("--with", "nothing"), "is no scorer"),
    ],
)
def test_what_does_not_go_together_is_refused(call, recorded, arguments, said):
    result = call("score", "base", *arguments)
    assert (result.exit_code, said in result.stderr) == (2, True), result.stderr


def test_a_judges_grades_are_kept_and_made_again_for_nothing(call, home, recorded, file):
    (told,) = document(call("score", "base", "--with", f"{file}:judged", "--grades", 2, "--json"))
    assert (told["passed"], told["problems"]) == (8, [])
    grades = sorted(p.name for p in (home / "cassettes" / "base" / "a").glob("0.judged*"))
    assert grades == ["0.judged@1.1.cassette", "0.judged@1.cassette"]
    (again,) = document(
        call("score", "base", "--with", f"{file}:judged", "--grades", 2, "--compare", "--score", "judged", "--json")
    )
    assert again["compared"]["differ"] == []
    assert call("verify", "base", "--json").exit_code in {0, 1}  # a judge's cassette is no trial to verify
    assert [row["trials"] for row in document(call("ls", "--json"))] == [8]


@needs_airline
def test_the_airline_rewards_come_out_of_their_components_by_the_command(airline_home):
    command = ["--home", str(airline_home.root), "score", "airline", "--compare", "--json"]
    done = CliRunner().invoke(main, [*command, "--combine", "tau=reward.r_actions? * reward.r_outputs?"])
    (told,) = json.loads(done.stdout)
    assert (told["passed"], told["failed"], told["unscored"]) == (84, 111, 5)
    assert (told["compared"]["trials"], told["compared"]["differ"]) == (200, [])


def test_what_was_scored_before_an_interruption_is_kept_and_resumed(call, home, recorded, tmp_path):
    path = tmp_path / "interrupted_scorers.py"
    path.write_text(
        "import os\nimport trialtape as tt\n\n"
        "@tt.scorer(version='1')\n"
        "def slow(view):\n"
        f"    if str(view.id) == 'base/b#1' and not os.path.exists({str(tmp_path / 'go')!r}):\n"
        "        raise KeyboardInterrupt\n"
        "    return True\n"
    )
    assert call("score", "base", "--with", f"{path}:slow").exit_code == 130
    assert scores(home).count("slow@1") == 5
    (tmp_path / "go").touch()
    (told,) = document(call("score", "base", "--with", f"{path}:slow", "--resume", "--json"))
    assert (told["kept"], told["passed"]) == (5, 3)
