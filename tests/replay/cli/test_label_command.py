"""`trialtape label`: what is said of trials, taken back, listed, and shown elsewhere."""

from __future__ import annotations

import json
import subprocess

import pytest

from replay.home import Home
from tests.replay.recorded import keep, read


@pytest.fixture(autouse=True)
def _git_of_nobody(tmp_path, monkeypatch):
    """No git configuration from outside."""
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(tmp_path / "gitconfig"))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    monkeypatch.setenv("USER", "ada")
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def kept(home):
    place = Home(home)
    keep(place, "base/a#0", [read("find")], passed=True)
    keep(place, "base/a#1", [read("find"), read("find")], passed=False)
    return place


def lines(home):
    path = home / "cassettes/base/labels.jsonl"
    return [json.loads(line) for line in path.read_bytes().splitlines()]


def test_a_label_is_kept_with_all_that_was_said(call, kept, home):
    result = call("label", "base/a#1", "--fault", "tool", "--type", "timeout", "--step", 1, "-m", "no answer")
    assert (result.exit_code, result.stderr) == (0, "by ada, from $USER\n")
    assert result.stdout == "base/a#1  tool (timeout) at step 1, by ada: no answer\n"
    (line,) = lines(home)
    digest = call("label", "--list", "--json")
    assert json.loads(digest.stdout) == [line]
    assert line.pop("at").endswith("+00:00")
    assert len(line.pop("digest")) > 20
    assert line == {
        "trial": "base/a#1",
        "author": "ada",
        "fault": "tool",
        "type": "timeout",
        "step": 1,
        "note": "no answer",
        "source": "person",
        "user_error": None,
        "unanswered": None,
    }


def test_the_author_is_gits_user_unless_one_is_named(call, kept, home):
    subprocess.run(["git", "config", "--global", "user.name", "Bo Lee"], check=True)
    assert call("label", "base/a#1", "--fault", "tool").stderr == "by Bo Lee, from git's user.name\n"
    assert call("label", "@last-fail", "--fault", "tool", "--author", "cy").stderr == ""
    assert [line["author"] for line in lines(home)] == ["Bo Lee", "cy"]


def test_a_label_taken_back_is_gone_and_the_file_only_grew(call, kept, home):
    call("label", "base/a#1", "--fault", "tool")
    call("label", "base/a#1", "--fault", "user", "--author", "bo")
    before = (home / "cassettes/base/labels.jsonl").read_bytes()
    assert call("label", "base/a#1", "--remove").stdout == "base/a#1  taken back\n"
    assert (home / "cassettes/base/labels.jsonl").read_bytes().startswith(before)
    assert call("label", "--list").stdout == "base/a#1  user, by bo\n"
    again = call("label", "base/a#1", "--remove")
    assert again.exit_code == 2
    assert "ada ($USER) has no label on base/a#1" in again.stderr


def test_labels_are_listed_of_a_trial_a_run_an_author_or_all(call, kept):
    keep(kept, "other/a#0", [read("find")])
    for trial, author in (("base/a#0", "bo"), ("base/a#1", "bo"), ("base/a#1", "ada"), ("other/a#0", "ada")):
        call("label", trial, "--fault", "agent", "--author", author)

    def listed(*arguments):
        return [line.split()[0] for line in call("label", "--list", *arguments).stdout.splitlines()]

    assert listed() == ["base/a#0", "base/a#1", "base/a#1", "other/a#0"]
    assert listed("base") == ["base/a#0", "base/a#1", "base/a#1"]
    assert listed("base/a#1") == ["base/a#1", "base/a#1"]
    assert listed("--author", "ada") == ["base/a#1", "other/a#0"]
    none = call("label", "--list", "--author", "cy")
    assert (none.exit_code, none.stdout) == (0, "")
    assert "no label" in none.stderr


def test_show_and_ls_tell_labels(call, kept):
    call("label", "base/a#1", "--fault", "tool", "-m", "no answer")
    call("label", "base/a#1", "--fault", "user", "--author", "bo")
    shown = call("show", "base/a#1").stdout.splitlines()
    assert shown[-2:] == ["fault   tool, by ada: no answer", "fault   user, by bo"]
    assert [said["fault"] for said in json.loads(call("show", "base/a#1", "--json").stdout)["labels"]] == [
        "tool",
        "user",
    ]
    assert "fault" not in call("show", "base/a#0").stdout

    def listed(fault):
        return [row["id"] for row in json.loads(call("ls", "base", "--label", fault, "--json").stdout)]

    assert listed("tool") == listed("user") == ["base/a#1"]
    assert listed("agent") == []
    assert listed("unlabelled") == ["base/a#0"]
    (row,) = json.loads(call("ls", "base", "--label", "tool", "--json").stdout)
    assert [(said["author"], said["fault"], said["note"]) for said in row["labels"]] == [
        ("ada", "tool", "no answer"),
        ("bo", "user", None),
    ]
    assert "base/a#1" in call("ls", "base", "--label", "tool").stdout


def test_a_damaged_line_is_told_by_every_command_that_reads_labels(call, kept, home):
    call("label", "base/a#1", "--fault", "tool")
    path = home / "cassettes/base/labels.jsonl"
    path.write_bytes(path.read_bytes() + b'{"trial": "base/a#1", "aut')
    for arguments in (("label", "--list"), ("show", "base/a#1"), ("ls", "base"), ("stats", "base", "--by", "fault")):
        result = call(*arguments)
        assert result.exit_code == 0
        assert "line 2 was cut short; that label does not count" in result.stderr
    assert "tool, by ada" in call("label", "--list").stdout


def test_a_secret_in_a_note_does_not_reach_the_disk(call, kept, home):
    secret = "sk-proj-abcdefghijklmnopqrstuvwx012345"
    result = call("label", "base/a#1", "--fault", "agent", "-m", f"it used {secret}")
    assert "1 secret replaced" in result.stderr
    assert all(secret.encode() not in path.read_bytes() for path in home.rglob("*") if path.is_file())


def test_labels_stay_with_a_trial_whose_secrets_were_removed(call, home, monkeypatch):
    place = Home(home)
    keep(place, "base/a#0", [read("find", session="a-long-session-id-0123456789")], passed=False)
    call("label", "base/a#0", "--fault", "agent")
    monkeypatch.setenv("SESSION_TOKEN", "a-long-session-id-0123456789")
    assert "1 secrets replaced in 1" in call("store", "redact", "base").stdout
    assert call("label", "--list").stdout == "base/a#0  agent, by ada\n"
    assert "fault   agent, by ada" in call("show", "base/a#0").stdout


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("label", "base/a#1"), "give one of --fault FAULT (or --user-error, or both), --remove and --list"),
        (("label", "base/a#1", "--fault", "tool", "--remove"), "give one of"),
        (("label", "base/a#1", "--remove", "--step", "1"), "go with --fault"),
        (("label", "--list", "-m", "x"), "go with --fault"),
        (("label", "--fault", "tool"), "which trial?"),
        (("label", "base/a#9", "--fault", "tool"), "there is no trial base/a#9"),
        (("label", "base/a#1", "--fault", "tool", "--step", "2"), "no step 2; it has 2 steps, counted from 0"),
        (("label", "base/a#1", "--fault", "tool", "--author", " "), "--author NAME"),
        (("label", "--list", "nobody"), "there is no run 'nobody'"),
        (("ls", "--label", "tool"), "--label goes with a RUN"),
    ],
)
def test_what_does_not_go_together_is_one_line_and_changes_nothing(call, kept, files, arguments, told):
    before = files()
    result = call(*arguments)
    assert (result.exit_code, result.stdout) == (2, "")
    assert told in result.stderr
    assert files() == before


def test_a_cassette_of_another_home_is_refused(call, kept, tmp_path):
    view = keep(Home(tmp_path / "elsewhere"), "base/a#0", [read("find")])
    result = call("label", view.path, "--fault", "tool")
    assert result.exit_code == 2
    assert "is no trial of" in result.stderr


def test_an_error_of_the_user_is_said_with_a_fault_or_alone_of_a_trial_that_passed(call, kept):
    done = call("label", "base/a#0", "--user-error", "critical", "-m", "it gave the answer away")
    assert done.stdout == "base/a#0  a critical user error, by ada: it gave the answer away\n"
    call("label", "base/a#1", "--fault", "user", "--user-error", "critical")
    held = json.loads(call("label", "--list", "--json").stdout)
    assert [(label["fault"], label["user_error"]) for label in held] == [(None, "critical"), ("user", "critical")]
    assert "a critical user error, by ada" in call("show", "base/a#0").stdout
    assert "base/a#0" in call("ls", "base", "--label", "unlabelled").stdout  # no fault is named
    assert call("label", "base/a#0", "--remove").exit_code == 0
