"""``trialtape report``, and ``export --to html``."""

from __future__ import annotations

import json
import re

import pytest


@pytest.fixture
def out(tmp_path):
    return tmp_path / "out" / "report.html"


def test_the_report_is_one_file(call, recorded, out):
    done = call("report", recorded, "-o", out)
    assert (done.exit_code, done.stdout) == (0, "")
    assert re.search(r"report\.html: \d+ kB, 8 of 8 trials in it", done.stderr)
    assert "<title>base: reliability</title>" in out.read_text()
    assert [path.name for path in out.parent.iterdir()] == ["report.html"]


def test_its_numbers_are_those_of_stats(call, recorded, out):
    told = json.loads(call("report", recorded, "-o", out, "--json").stdout)
    stats = json.loads(call("stats", recorded, "--json").stdout)
    assert told["stats"] == stats
    inside = re.search(r'<script type="application/json" id="stats">(.*?)</script>', out.read_text())
    assert json.loads(inside[1]) == stats
    assert (told["file"], told["bytes"], told["run"]) == (str(out), out.stat().st_size, "base")
    assert (told["trials"], told["listed"], told["opened"], told["left_out"], told["against"]) == (8, 8, 8, None, None)


def test_the_same_command_gives_the_same_bytes(call, recorded, out):
    call("report", recorded, "-o", out)
    first = out.read_bytes()
    call("report", recorded, "-o", out)
    assert out.read_bytes() == first


@pytest.mark.parametrize(("wanted", "opened"), [("all", 8), ("failing", 4), ("none", 0)])
def test_which_trials_it_holds_can_be_chosen(call, recorded, out, wanted, opened):
    told = json.loads(call("report", recorded, "-o", out, "--trials", wanted, "--json").stdout)
    assert told["opened"] == opened
    assert (told["left_out"] is None) == (wanted == "all")


def test_another_run_can_stand_beside(call, recorded, suite_file, out):
    call("run", suite_file, "--run", "again", "--trials", 2)
    assert call("report", "again", "--against", recorded, "-o", out).exit_code == 0
    assert "again beside base" in out.read_text()


def test_the_convention_can_be_chosen(call, recorded, out):
    told = json.loads(
        call("report", recorded, "-o", out, "--errors", "fail", "--score", "task_checks", "--json").stdout
    )
    assert (told["stats"]["errors"], told["stats"]["score"]) == ("fail", "task_checks@1")


def test_it_lies_here_unless_told_otherwise(call, recorded, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert call("report", recorded).exit_code == 0
    assert (tmp_path / "report.html").exists()


def test_a_browser_can_be_opened(call, recorded, out, monkeypatch):
    opened = []
    monkeypatch.setattr("webbrowser.open", opened.append)
    call("report", recorded, "-o", out, "--open")
    assert opened == [out.as_uri()]


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["nowhere"], "there is no run 'nowhere'"),
        (["base", "--against", "nowhere"], "there is no run 'nowhere'"),
        (["base", "--score", "other"], "has no score 'other'"),
        (["base", "--trials", "some"], "'some' is not one of"),
        (["base", "-o", "."], "is a directory"),
    ],
)
def test_what_cannot_be_reported_is_one_clear_error(call, recorded, arguments, told):
    done = call("report", *arguments)
    assert done.exit_code == 2
    assert told in done.stderr
    assert done.stdout == ""


def test_a_place_that_cannot_be_written_is_told_and_nothing_is_left(call, recorded, tmp_path):
    (tmp_path / "file").write_text("x")
    done = call("report", recorded, "-o", tmp_path / "file" / "report.html")
    assert done.exit_code == 2
    assert "cannot be written" in done.stderr
    assert not list(tmp_path.glob(".report*"))


def test_a_report_that_was_there_is_replaced_whole(call, recorded, out):
    out.parent.mkdir()
    out.write_text("old")
    assert call("report", recorded, "-o", out).exit_code == 0
    assert out.read_text().startswith("<!doctype html>")


def test_a_damaged_cassette_is_told_and_the_rest_is_reported(call, recorded, home, out):
    path = min(home.rglob("3.cassette"))
    path.write_bytes(path.read_bytes()[:30])
    done = call("report", recorded, "-o", out)
    assert done.exit_code == 0
    assert "not indexed" in done.stderr
    assert "7 of 8 trials in it" in done.stderr


def test_one_trial_becomes_a_page_of_its_own(call, recorded, out):
    done = call("export", f"{recorded}/a#1", "--to", "html", "-o", out)
    assert done.exit_code == 0
    page = out.read_text()
    assert "<title>base/a#1</title>" in page
    assert "final_state: wrong" in page
    assert "<noscript>" not in page


def test_a_page_of_one_trial_needs_a_name(call, recorded):
    done = call("export", f"{recorded}/a#1", "--to", "html")
    assert (done.exit_code, "--to html needs -o FILE" in done.stderr) == (2, True)


def test_a_cassette_from_elsewhere_becomes_a_page_too(call, recorded, home, out, tmp_path):
    alone = tmp_path / "sent.cassette"
    alone.write_bytes(next(home.rglob("1.cassette")).read_bytes())
    done = call("export", alone, "--to", "html", "-o", out)
    assert done.exit_code == 0
    assert "The steps" in out.read_text()
