"""``trialtape lab effects`` and ``trialtape lab worlds``: on a small run, and on the airline recordings."""

from __future__ import annotations

import json

import pytest

from tests.replay.recorded import AIRLINE

needs_airline = pytest.mark.skipif(
    not AIRLINE.exists(), reason=f"{AIRLINE} is not here: the tau-bench recordings are no part of the project"
)


@needs_airline
def test_the_airline_recordings_cover_what_was_measured(call, airline_home, tmp_path):
    def told(*options):
        done = call("--home", str(airline_home.root), "lab", "worlds", "airline", "--leave-one-out", "--json", *options)
        assert done.exit_code == 0, done.stderr
        return json.loads(done.stdout)

    declared = told()
    names = ("exact", "own", "borrowed", "stale", "missed", "whole", "whole_with_write", "with_write", "other")
    assert [declared[name] for name in names] == [710, 519, 191, 55, 399, 55, 22, 118, 0]
    assert len(declared["tasks"]) == 50
    unknown = told("--effects", "none")
    assert [unknown[name] for name in ("exact", "stale", "missed", "whole")] == [520, 245, 399, 45]
    file = tmp_path / "effects.toml"
    done = call("--home", str(airline_home.root), "lab", "effects", "airline", "-o", str(file))
    assert done.exit_code == 0, done.stderr
    assert told("--effects", str(file)) == declared


def test_what_a_live_run_could_answer_is_told_by_task(call, recorded):
    done = call("lab", "worlds", "base")
    assert done.exit_code == 0, done.stderr
    assert "calls" in done.stdout
    assert "answered whole" in done.stdout
    assert [line.split()[0] for line in done.stdout.splitlines() if line.startswith(("a ", "b "))] == ["a", "b"]


@pytest.fixture
def frozen(call, suite_file, recorded, tmp_path):
    """``base`` frozen by an agent whose odd trials of task ``b`` look for what nobody recorded."""
    changed = suite_file.read_text().replace("range(3)", 'range(9 if trial.task.id == "b" and trial.index % 2 else 3)')
    suite_file.write_text(changed)
    options = ("--source", "base", "--freeze", "external", "--on-miss", "fail", "--trials", 4)
    assert call("run", suite_file, "--run", "frozen", *options).exit_code == 0
    return "frozen"


def test_how_a_frozen_run_was_answered_is_told_by_task_and_by_writing(call, frozen):
    told = json.loads(call("lab", "worlds", frozen, "--json").stdout)
    assert (told["source"], told["calls"], told["exact"]) == ("base", 26, 24)
    assert (told["trials"], told["whole"], told["with_write"], told["whole_with_write"]) == (8, 6, 6, 6)
    assert told["unanswered"] == 2
    assert told["tasks"]["a"]["verdicts"] == {"own": 12}
    assert told["tasks"]["b"]["verdicts"] == {"own": 12, "missed": 2}
    done = call("lab", "worlds", frozen)
    assert "of 26 frozen calls 24 exact, 2 missed" in done.stdout
    assert "2 of 8 trials ended unanswered" in done.stdout
    rows = {line.split()[0]: line.split()[1:] for line in done.stdout.splitlines() if line.startswith(("a ", "b "))}
    assert rows == {"a": ["12/12", "0", "4/4", "4/4"], "b": ["12/14", "2", "2/4", "2/2"]}


def test_a_frozen_run_may_be_asked_what_its_trials_hold_for_each_other(call, frozen):
    told = json.loads(call("lab", "worlds", frozen, "--leave-one-out", "--json").stdout)
    assert told["trials"] == 6  # those that ended
    done = call("lab", "worlds", frozen, "--effects", "none")
    assert done.exit_code == 2
    assert "--leave-one-out" in done.stderr


def test_effects_are_told_with_their_evidence(call, recorded, tmp_path):
    done = call("lab", "effects", "base")
    assert done.exit_code == 0, done.stderr
    assert "look" in done.stdout
    assert "it is declared read" in done.stdout
    found = json.loads(call("lab", "effects", "base", "--json").stdout)
    assert {proposal["name"]: proposal["effect"] for proposal in found} == {"look": "read", "put": "write"}
    file = tmp_path / "effects.toml"
    assert call("lab", "effects", "base", "-o", str(file)).exit_code == 0
    again = call("lab", "effects", "base", "-o", str(file))
    assert again.exit_code == 2
    assert "exists" in again.stderr


def test_a_run_of_single_trials_cannot_answer_itself(call, suite_file):
    assert call("run", suite_file, "--run", "one", "-n", "1").exit_code == 0
    done = call("lab", "worlds", "one")
    assert done.exit_code == 2
    assert "one finished trial only" in done.stderr


@pytest.mark.parametrize("command", ["effects", "worlds"])
def test_an_unknown_run_is_one_line(call, command):
    done = call("lab", command, "nowhere")
    assert done.exit_code == 2
    assert len(done.stderr.splitlines()) == 1
