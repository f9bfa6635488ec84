"""``trialtape export --to pytest`` (tests/e2e/test_written_test.py runs what it writes by pytest)."""

from __future__ import annotations

import json
import runpy

import pytest

import trialtape as tt
from tests.replay.cli.conftest import SUITE


@pytest.fixture
def exported(call, recorded, suite_file, tmp_path):
    """Export a trial to a folder; gives the result and the folder."""

    def export(trial="base/a#1", *options):
        folder = tmp_path / "tests"
        return call("export", trial, "--to", "pytest", "-o", folder, *options), folder

    return export


def run(folder, name):
    """Run the test of this name as pytest would."""
    return runpy.run_path(str(folder / f"{name}.py"))[name]()


def test_a_failing_trial_becomes_a_test_that_fails_and_says_so(exported):
    done, folder = exported()
    assert done.exit_code == 0
    assert done.stdout == ""
    assert sorted(path.name for path in folder.iterdir()) == ["a_1.cassette", "test_a_1.py"]
    assert done.stderr.splitlines() == [
        f"{folder / 'test_a_1.py'} and a_1.cassette written",
        "it fails now:",
        "base/a#1: first divergent write: other arguments: step 3 put: key is 'wrong', not 'done'",
        "base/a#1: failed: final_state: wrong: path done, expected 1, missing true",
    ]
    with pytest.raises(AssertionError, match="first divergent write: other arguments: step 3 put"):
        run(folder, "test_a_1")


def test_it_passes_once_the_agent_is_mended(exported, suite_file):
    _, folder = exported()
    suite_file.write_text(SUITE.replace('"wrong"', '"done"'))
    mended = folder.parent / "mended_suite.py"
    suite_file.rename(mended)
    test = folder / "test_a_1.py"
    test.write_text(test.read_text().replace("a_suite.py", "mended_suite.py"))
    run(folder, "test_a_1")


def test_the_cassette_is_a_copy(exported, home):
    _, folder = exported()
    original = home / "cassettes" / "base" / "a" / "1.cassette"
    assert (folder / "a_1.cassette").read_bytes() == original.read_bytes()


def test_a_trial_that_passed_becomes_a_test_that_passes(exported):
    done, folder = exported("base/a#0")
    assert done.stderr.endswith("it passes now\n")
    text = (folder / "test_a_0.py").read_text()
    assert "it passed when it was recorded as base/a#0" in text
    assert 'WRITES = [("put", {"key": "done"})]' in text.replace('"db": {"start": 1}, ', "")
    run(folder, "test_a_0")


def test_what_is_frozen_can_be_told_and_a_live_model_is_not_tried(exported):
    done, folder = exported("base/a#1", "--freeze", "external")
    assert "not tried now: it asks a live model" in done.stderr
    assert 'FREEZE = ["external"]' in (folder / "test_a_1.py").read_text()


def test_a_trial_that_passes_by_now_is_told(exported, suite_file, tmp_path):
    mended = tmp_path / "mended.py"
    mended.write_text(SUITE.replace('"wrong"', '"done"'))
    done, _ = exported("base/a#1", "--suite", mended)
    assert "it passes now, though the trial failed: the agent or the check has changed" in done.stderr


def test_nothing_is_overwritten(exported):
    exported()
    done, folder = exported()
    assert done.exit_code == 2
    assert f"{folder / 'test_a_1.py'} exists already; delete it, or name another folder" in done.stderr


def test_a_run_without_a_suite_needs_one(call, home, tmp_path):
    @tt.tool(effect="read", name="look")
    def look():
        return 1

    with tt.trial(run="blocks", task="a", home=home):
        look()
    done = call("export", "blocks/a#0", "--to", "pytest", "-o", tmp_path / "t")
    assert done.exit_code == 2
    assert "run 'blocks' names no suite, so there is no agent to test: give one with --suite SUITE.py" in done.stderr
    assert "tt.Task(id='a', ...)" in done.stderr


def test_without_a_check_and_a_passing_trial_there_is_nothing_to_assert(call, suite_file, tmp_path):
    suite_file.write_text(SUITE.replace(', expected={"done": 1}', ""))
    unchecked = suite_file.rename(tmp_path / "unchecked_suite.py")
    assert call("run", unchecked, "--run", "u", "--trials", 1).exit_code == 0
    done = call("export", "u/a#0", "--to", "pytest", "-o", tmp_path / "t")
    assert done.exit_code == 2
    assert "there is nothing to check: task_checks@1 does not score u/a#0" in done.stderr
    assert not (tmp_path / "t").exists()


@pytest.mark.parametrize(
    ("options", "why"),
    [
        (["--to", "pytest"], "--to pytest needs -o DIR"),
        (["--to", "json", "--freeze", "external"], "--suite and --freeze go with --to pytest"),
        (["--to", "vcr", "--suite", "s.py"], "--suite and --freeze go with --to pytest"),
        (["--to", "pytest", "-o", "t", "--freeze", "modle"], "'modle' is no selector"),
    ],
)
def test_what_does_not_go_together_is_refused(call, recorded, options, why, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = call("export", "base/a#1", *options)
    assert done.exit_code == 2
    assert why in done.stderr
    assert not (tmp_path / "t").exists()


def test_a_trial_that_never_ended_makes_no_test(call, recorded, home, tmp_path):
    path = home / "cassettes" / "base" / "a" / "1.cassette"
    path.write_bytes(path.read_bytes()[:-40])
    done = call("export", "base/a#1", "--to", "pytest", "-o", tmp_path / "t")
    assert done.exit_code == 2
    assert "base/a#1 ended incomplete: nobody knows what came next" in done.stderr


def test_every_view_has_json(call, recorded):
    for words in (["ls"], ["ls", "base"], ["show", "base/a#1"], ["show", "base/a#1", "--step", "1"], ["stats", "base"]):
        done = call(*words, "--json")
        assert done.exit_code == 0, words
        assert json.loads(done.stdout), words
    assert json.loads(call("diff", "base/a#1", "--json").stdout)["equal"] is False
