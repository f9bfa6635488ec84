"""Bad input: one clear line on stderr, the right exit code, nothing damaged, never a traceback."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from cassettes import frames
from tests import factories

GOLDEN = Path(__file__).parents[2] / "golden"

BAD_SUITES = {
    "no_task": ("import trialtape as tt\nsuite = tt.Suite(tasks=[], agent=print)", "the suite has no task"),
    "raises": ("1 / 0", "ZeroDivisionError"),
    "syntax": ("def (", "SyntaxError"),
    "two_tasks": (
        "import trialtape as tt\nsuite = tt.Suite(tasks=[tt.Task(id='x'), tt.Task(id='x')], agent=print)",
        "two tasks with the id 'x'",
    ),
    "no_suite": ("x = 1", "defines no 'suite'"),
    "other": ("suite = 3", "a tt.Suite is needed"),
}


def is_one_line(result, told, code=2):
    assert result.exit_code == code, result.stderr
    assert result.stdout == ""
    assert told in " ".join(result.stderr.split())
    assert len(result.stderr.splitlines()) == 1, result.stderr
    assert result.stderr.startswith("trialtape: ")


@pytest.mark.parametrize("kind", BAD_SUITES)
def test_a_suite_that_is_none(tmp_path, home, call, kind):
    text, told = BAD_SUITES[kind]
    path = tmp_path / f"bad_{kind}.py"
    path.write_text(text)
    is_one_line(call("run", path, "--run", "r"), told)
    assert not home.exists()


def test_a_suite_that_does_not_exist(tmp_path, home, call):
    is_one_line(call("run", tmp_path / "gone.py", "--run", "r"), "does not exist")
    assert not home.exists()


def test_a_name_that_the_suite_file_lacks(suite_file, call):
    is_one_line(call("run", f"{suite_file}:other", "--run", "r"), "defines no 'other'")


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("ls", "nobody"), "there is no run 'nobody'"),
        (("stats", "nobody"), "there is no run 'nobody'"),
        (("score", "nobody"), "there is no run 'nobody'"),
        (("verify", "nobody"), "there is no run 'nobody'"),
        (("show", "nobody/a#0"), "there is no trial nobody/a#0"),
        (("show", "base/a#99"), "there is no trial base/a#99"),
        (("show", "nonsense"), "is no trial id"),
        (("show", "@first"), "names no trial"),
        (("show", "gone.cassette"), "gone.cassette does not exist"),
        (("show", "base/a#0", "--step", "99"), "no step 99"),
        (("verify", "base/a#99"), "there is no trial base/a#99"),
        (("stats", "base", "--score", "unheard"), "no score 'unheard'"),
        (("stats", "base", "--score", "task_checks@7"), "no score 'task_checks@7'"),
        (("stats", "base", "-k", "5"), "k = 5 needs 5 counted trials of every task"),
        (("score", "base", "--with", "unheard"), "is no scorer"),
        (("score", "base", "--with", "gone.py:f"), "gone.py does not exist"),
        (("stats", "a/b"), "no name for a run"),
    ],
)
def test_what_is_not_there(call, recorded, files, arguments, told):
    before = files()
    is_one_line(call(*arguments), told)
    assert files() == before


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (("--seed", "5"), "seed: 0 there, 5 now"),
        (("--timeout", "9"), "timeout"),
        (("--freeze", "external"), "go together"),
        (("--source", "base"), "go together"),
        (("--freeze", "nonsense", "--source", "base"), "is no selector"),
        (("--timeout", "-1"), "above 0"),
    ],
)
def test_a_run_under_another_configuration_or_with_options_that_do_not_fit(
    call, recorded, files, suite_file, options, told
):
    before = files()
    is_one_line(call("run", suite_file, "--run", "base", *options), told)
    assert files() == before


def test_more_frozen_trials_than_worlds(call, recorded, files, suite_file):
    before = files()
    options = ("--freeze", "external", "--source", "base", "--trials", "5")
    is_one_line(call("run", suite_file, "--run", "frozen", *options), "each in a world of its own")
    assert files() == before


@pytest.mark.parametrize(
    "arguments", [("run",), ("stats",), ("run", "x.py"), ("nonsense",), ("stats", "base", "-k", "0")]
)
def test_usage(call, arguments):
    result = call(*arguments)
    assert result.exit_code == 2
    assert result.stdout == ""
    assert "Error" in result.stderr


# -- cassettes that cannot be read -------------------------------------------------------------------------------------


@pytest.fixture
def newer(tmp_path):
    path = tmp_path / "newer.cassette"
    golden = GOLDEN / "v999.cassette"
    if golden.exists():
        shutil.copy(golden, path)
    else:
        factories.write_cassette(path, [factories.interaction(0)])
        data = path.read_bytes()
        head = frames.head()
        path.write_bytes(_newer(head) + data[len(head) :])
    return path


def _newer(head):
    return next(
        changed
        for place in range(len(head))
        for changed in [head[:place] + bytes([head[place] + 1]) + head[place + 1 :]]
        if (frames.format_of(changed) or 0) > frames.format_of(head)
    )


def test_a_cassette_of_a_newer_format(call, newer):
    before = newer.read_bytes()
    is_one_line(call("show", newer), "newer", code=4)
    assert newer.read_bytes() == before


@pytest.mark.parametrize("data", [b"", b"short", os.urandom(4000), b"\0" * 4000])
def test_a_file_that_is_no_cassette(tmp_path, call, data):
    path = tmp_path / "bad.cassette"
    path.write_bytes(data)
    is_one_line(call("show", path), "bad.cassette", code=4)
    assert path.read_bytes() == data


def test_a_cassette_cut_short_shows_what_stands_before_and_says_so(home, call, recorded):
    path = home / "cassettes/base/a/0.cassette"
    path.write_bytes(path.read_bytes()[:-50])
    result = call("show", "base/a#0")
    assert result.exit_code == 0
    assert "incomplete" in result.stdout
    assert result.stdout.count("look") == 3


def test_a_broken_cassette_among_others_is_told_and_the_rest_is_counted(home, call, recorded):
    path = home / "cassettes/base/a/0.cassette"
    path.write_bytes(b"random " * 100)
    for arguments in (("ls", "base"), ("stats", "base")):
        result = call(*arguments)
        assert result.exit_code == 0, result.stderr
        assert "0.cassette" in result.stderr.replace("\n", "")
    assert "7 of 8 trials counted" in call("stats", "base").stdout
    verified = call("verify", "base", "--files")
    assert verified.exit_code == 4
    assert "7 intact, 1 damaged" in verified.stdout
    scored = call("score", "base")
    assert scored.exit_code == 1
    assert "1 skipped" in scored.stdout
    assert path.read_bytes() == b"random " * 100


def test_a_damaged_run_file(home, call, recorded):
    (home / "cassettes/base/run.json").write_text("{")
    result = call("ls", "base")
    assert result.exit_code == 4
    assert "run.json is damaged" in result.stderr.replace("\n", "")


@pytest.mark.parametrize(
    "arguments", [("ls",), ("stats", "r"), ("verify", "r"), ("score", "r"), ("show", "@last"), ("doctor",)]
)
def test_a_home_that_is_a_file(call, home, arguments):
    home.write_text("mine")
    is_one_line(call(*arguments), "no place for a home folder")
    assert home.read_text() == "mine"


def test_a_run_into_a_home_that_is_a_file(call, home, suite_file):
    home.write_text("mine")
    is_one_line(call("run", suite_file, "--run", "r"), "no place for a home folder")
    assert home.read_text() == "mine"


def test_a_folder_that_cannot_be_made(call, home, suite_file):
    home.mkdir()
    (home / "cassettes").write_text("a file where a folder must be")
    is_one_line(call("run", suite_file, "--run", "r"), "cannot be written: Not a directory", code=4)
