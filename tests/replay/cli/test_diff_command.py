from __future__ import annotations

import json
import shutil

import pytest
from click.testing import CliRunner

import trialtape as tt
from replay.cli import main
from replay.home import Home
from tests.replay.recorded import keep, needs_airline, read, write


def diff(home, *arguments):
    return CliRunner().invoke(main, ["--home", str(home.root), "diff", *map(str, arguments)], catch_exceptions=False)


@pytest.fixture
def home(tmp_path):
    """An empty home."""
    return Home(tmp_path / "home")


@pytest.fixture
def two(home):
    """A trial that failed, and one that passed."""
    keep(home, "r/t#0", [read(id=1), read(id=2), read(id=3), write("cancel", id="W1")], passed=False)
    keep(home, "r/t#1", [read(id=1), read(id=2), read(id=3), write("cancel", id="W2"), read(id=4)], passed=True)
    return home


def test_the_verdict_on_top_is_the_first_divergent_write(two):
    done = diff(two, "r/t#0")
    assert done.exit_code == 1
    assert done.stdout.splitlines()[:2] == [
        "r/t#0 (failed) against r/t#1 (passed): the only other trial of this task that passed",
        "first divergent write: other arguments: step 3 cancel: id is 'W1', not 'W2'",
    ]


def test_both_trajectories_stand_side_by_side_and_equal_stretches_are_folded(two):
    lines = [line.rstrip() for line in diff(two, "r/t#0", "--width", "70").stdout.splitlines()[3:]]
    assert lines == [
        "  r/t#0                            │ r/t#1",
        "  … 3 equal steps",
        '~    3 ✎ cancel(id="W1")           │    3 ✎ cancel(id="W2")',
        "         id: 'W1'                  │        id: 'W2'",
        "-                                  │    4 ▸ get(id=4)",
    ]


def test_all_unfolds_the_equal_stretches(two):
    assert diff(two, "r/t#0", "--all").stdout.count("= ") == 3
    assert "equal steps" not in diff(two, "r/t#0", "--all").stdout


def test_writes_leaves_the_rest_out(two):
    told = diff(two, "r/t#0", "--writes").stdout
    assert "cancel" in told
    assert "get(" not in told


def test_equal_trials_give_exit_code_0(two):
    done = diff(two, "r/t#0", "r/t#0")
    assert done.exit_code == 0
    assert "the writes are identical; and so is all else that was compared" in done.stdout


def test_identical_writes_name_the_first_other_call(home):
    keep(home, "r/t#0", [read(id=1), write(id=1)])
    keep(home, "q/t#0", [read(id=2), write(id=1)])
    done = diff(home, "r/t#0", "q/t#0")
    assert done.exit_code == 1
    assert "the writes are identical; the first other call is step 0, get (other arguments)" in done.stdout
    assert diff(home, "r/t#0", "q/t#0", "--writes").exit_code == 0


def test_trials_may_be_paths(two, tmp_path):
    copy = shutil.copy(two.root / "cassettes" / "r" / "t" / "0.cassette", tmp_path / "copy.cassette")
    assert "against r/t#1" in diff(two, copy).stdout
    assert diff(two, copy, "r/t#0").exit_code == 0


def test_json_holds_the_same(two):
    done = diff(two, "r/t#0", "--json")
    document = json.loads(done.stdout)
    assert done.exit_code == 1
    assert document["left"] == {"trial": "r/t#0", "ending": "completed", "passed": False}
    assert document["right"] == {"trial": "r/t#1", "ending": "completed", "passed": True}
    assert document["first_divergent_write"]["changes"] == [{"path": "id", "left": "W1", "right": "W2"}]
    assert [row["kind"] for row in document["rows"]] == ["same", "same", "same", "arguments", "missing"]
    assert (document["equal"], document["state"], document["expected_actions"]) == (False, None, None)


# -- what it is compared with ------------------------------------------------------------------------------------------


def test_without_a_passing_trial_the_expected_actions_take_its_place(home):
    actions = [{"name": "cancel", "kwargs": {"id": "W2"}}]
    keep(home, "r/t#0", [read(), write("cancel", id="W1")], task_definition={"id": "t", "actions": actions})
    done = diff(home, "r/t#0")
    assert done.exit_code == 1
    assert done.stdout.splitlines()[:2] == [
        "r/t#0 (unscored) against expected actions: no other trial of this task passed",
        "first divergent write: other arguments: step 1 cancel: id is 'W1', not 'W2'",
    ]


def test_expected_asks_for_them(home):
    definition = {"id": "t", "actions": [{"name": "cancel", "kwargs": {"id": "W1"}}]}
    keep(home, "r/t#0", [write("cancel", id="W1")], task_definition=definition)
    keep(home, "r/t#1", [write("cancel", id="W2")], passed=True)
    assert diff(home, "r/t#0", "--expected").exit_code == 0
    told = diff(home, "r/t#0").stdout
    assert "first divergent write: other arguments: step 0 cancel: id is 'W1', not 'W2'" in told
    assert "against the expected actions: the writes are identical" in told


def test_with_neither_it_says_what_to_do(home):
    keep(home, "r/t#0", [write()])
    done = diff(home, "r/t#0")
    assert done.exit_code == 2
    assert done.stderr == (
        "trialtape: no other trial of task 't' passed, and the task tells no expected actions: name a trial to compare "
        "with, as in `trialtape diff r/t#0 OTHER`\n"
    )


@pytest.mark.parametrize(
    ("options", "why"),
    [
        (["r/t#1", "--expected"], "--expected takes the place of B"),
        (["--expected"], "tells no expected actions"),
        (["--expected", "--state"], "expected actions have no state"),
        (["--expected", "--model"], "expected actions hold no model call"),
        (["--writes", "--model"], "do not go together"),
        (["--state"], "tracked no state"),
        (["r/t#9"], "there is no trial r/t#9"),
    ],
)
def test_what_does_not_go_together_is_refused(two, options, why):
    done = diff(two, "r/t#0", *options)
    assert done.exit_code == 2
    assert why in done.stderr


# -- states ------------------------------------------------------------------------------------------------------------


@tt.tool(effect="write", external=False, ignore=["db"], name="rename")
def _rename(db: dict, key: str, name: str) -> str:
    db[key]["name"] = name
    return "done"


def test_final_states_are_compared_on_demand(home):
    for index, name in enumerate(["new", "old", "new"]):
        with tt.trial(run="r", task="t", index=index, home=home.root) as trial:
            db = {"x": {"name": "old", "n": 1}}
            trial.track(db)
            _rename(db, "x", name)
    told = diff(home, "r/t#0", "r/t#1", "--state").stdout
    assert "the final states differ in 1 place:" in told
    assert "x.name: 'new'" in told
    equal = diff(home, "r/t#0", "r/t#2", "--state")
    assert equal.exit_code == 0
    assert "the final states are equal" in equal.stdout
    changes = json.loads(diff(home, "r/t#0", "r/t#1", "--state", "--json").stdout)["state"]
    assert changes == [{"path": "x.name", "left": "new", "right": "old"}]


# -- the real recordings -----------------------------------------------------------------------------------------------


@needs_airline
def test_a_failing_airline_trial_is_explained_in_one_line(airline_home):
    done = diff(airline_home, "airline/26#1")
    assert done.exit_code == 1
    assert done.stdout.splitlines()[1:3] == [
        "first divergent write: other arguments: step 6 cancel_reservation: reservation_id is 'IFOYYZ', not 'NQNU5R'",
        "against the expected actions: the same",
    ]


@needs_airline
def test_a_history_that_differs_is_told_once(airline_home):
    told = diff(airline_home, "airline/39#1", "--model").stdout
    assert told.count("messages[1].content") == 2  # once, on both sides
