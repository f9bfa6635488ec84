from __future__ import annotations

from collections import Counter, defaultdict

import pytest

from cassettes.model import Ending
from replay.references import expected_actions, references
from replay.scores.scorefile import read_scores
from replay.view import View
from replay.writes import first_divergent_write, first_divergent_write_from_expected
from tests.replay.recorded import keep, needs_airline, read, write


def ids(views):
    return [str(view.id) for view in views]


def test_only_trials_that_completed_and_passed_are_references(home):
    view = keep(home, "r/t#0", [write()], passed=False)
    keep(home, "r/t#1", [write()], passed=True)
    keep(home, "r/t#2", [write()], passed=False)
    keep(home, "r/t#3", [write()])
    keep(home, "r/t#4", [write()], passed=True, ending=Ending("capped"))
    keep(home, "r/other#0", [write()], passed=True)
    assert ids(references(home, view)) == ["r/t#1"]


def test_a_trial_is_no_reference_of_itself(home):
    assert references(home, keep(home, "r/t#0", [write()], passed=True)) == []


def test_the_nearest_has_the_longest_common_write_prefix_then_the_most_in_common(home):
    view = keep(home, "r/t#0", [read(id=1), write(id=1), write(id=2), read(id=5)])
    keep(home, "r/t#1", [read(id=1), write(id=9), write(id=2), read(id=5)], passed=True)
    keep(home, "r/t#2", [write(id=1), write(id=3)], passed=True)
    keep(home, "r/t#3", [read(id=1), write(id=1), write(id=3), read(id=5)], passed=True)
    assert ids(references(home, view)) == ["r/t#3", "r/t#2", "r/t#1"]


def test_other_runs_come_after_the_same_run_and_only_with_the_same_task(home):
    same = {"task_definition": {"id": "t", "digests": {"instruction": "a", "expected": None, "state": "s"}}}
    other = {"task_definition": {"id": "t", "digests": {"instruction": "b", "expected": None, "state": "s"}}}
    view = keep(home, "r/t#0", [write(id=1)], **same)
    keep(home, "r/t#1", [write(id=2)], passed=True, **other)
    keep(home, "q/t#0", [write(id=1)], passed=True, **same)
    keep(home, "p/t#0", [write(id=1)], passed=True, **other)
    assert ids(references(home, view)) == ["r/t#1", "q/t#0"]


def test_expected_actions_are_those_of_the_task(home):
    actions = [{"name": "put", "kwargs": {}}]
    assert expected_actions(keep(home, "r/t#0", task_definition={"id": "t", "actions": actions})) == actions
    assert expected_actions(keep(home, "r/t#1")) is None


# -- the real recordings -----------------------------------------------------------------------------------------------


@pytest.fixture(scope="session")
def passed(airline_home):
    """The ids of the trials that passed."""
    return {score.trial for score in read_scores(airline_home, "airline") if score.passed}


@pytest.fixture(scope="session")
def flipping(airline_home, passed):
    """The trials of the tasks that some trials pass and some fail, by task."""
    tasks = defaultdict(list)
    for identity, path in airline_home.trials("airline"):
        tasks[identity.task].append(View(path, airline_home))
    return [views for views in tasks.values() if 0 < sum(str(view.id) in passed for view in views) < len(views)]


@needs_airline
def test_the_first_divergent_write_explains_57_of_60_failures_of_tasks_that_flip(airline_home, passed, flipping):
    failing = [view for views in flipping for view in views if str(view.id) not in passed]
    assert (len(flipping), len(failing)) == (26, 60)
    told = [first_divergent_write(view, references(airline_home, view)[0]) for view in failing]
    kinds = Counter("identical" if found is None else found.kind for found in told)
    assert kinds == {"extra": 22, "missing": 18, "arguments": 16, "other tool": 1, "identical": 3}
    assert all("\n" not in found.line() for found in told if found is not None)


@needs_airline
def test_the_expected_actions_explain_as_many_and_most_passing_trials_did_just_those(passed, flipping):
    kinds = {True: Counter(), False: Counter()}
    for view in (view for views in flipping for view in views):
        found = first_divergent_write_from_expected(view, expected_actions(view))
        kinds[str(view.id) in passed]["identical" if found is None else found.kind] += 1
    assert kinds[False] == {"extra": 24, "missing": 19, "arguments": 14, "identical": 3}
    assert kinds[True] == {"identical": 36, "extra": 4, "arguments": 3, "other tool": 1}
