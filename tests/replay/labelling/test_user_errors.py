"""Errors of the user: their rates, and pass^k with and without the trials that they decided."""

from __future__ import annotations

import pytest

from replay.analysis.reliability import TrialOutcome
from replay.analysis.run_stats import run_stats
from replay.labelling.labels import Label
from replay.labelling.user_errors import error_of_user, user_errors
from replay.report.faults_text import user_lines
from replay.store import Store
from tests.replay.verdicts import make_run, passes

TASKS = {"a": passes(3, 4), "b": passes(1, 4)}


@pytest.fixture
def count(home):
    """Count what labels say of the users of a run: task ``a`` passes 3 of 4 times, ``b`` once."""
    make_run(home, "r", TASKS)
    outcomes = {
        f"r/{task}#{index}": TrialOutcome(task, index, "completed", None, bool(value))
        for task, values in TASKS.items()
        for index, value in enumerate(values)
    }
    with Store(home) as store:
        store.refresh()
        stats = run_stats(store, "r")
    counted = {trial: bool(outcome.passed) for trial, outcome in outcomes.items()}

    def made(*labels):
        return user_errors(stats, outcomes, counted, [Label(trial=f"r/{name}", **said) for name, said in labels])

    return made


def says(error, author="j", source="judge", fault=None):
    return {"author": author, "source": source, "fault": fault, "user_error": error}


def test_pass_k_stands_with_and_without_the_trials_that_the_user_decided_passed_ones_too(count):
    found = count(("a#0", says("critical")), ("b#1", says("critical", fault="user")), ("a#1", says("minor")))
    assert (found.said, found.trials, found.passed) == (3, 8, 1)
    assert (found.erred.estimate, found.critical.estimate) == (1.0, pytest.approx(2 / 3))
    one, two, three, four = found.pass_k
    assert (one.value, one.without) == (pytest.approx(4 / 8), pytest.approx((2 / 3 + 1 / 3) / 2))
    assert (two.value, two.without) == (pytest.approx(0.25), pytest.approx((1 / 3 + 0) / 2))
    assert (three.without, four.without) == (0.0, None)


@pytest.mark.parametrize(
    ("erred", "critical", "trials", "shares"),
    [(47, 13, 100, (0.47, 0.13)), (20, 6, 50, (0.4, 0.12)), (8, 3, 50, (0.16, 0.06))],
    ids=["airline", "retail", "telecom"],
)
def test_the_published_rates_of_errors_of_simulated_users(home, erred, critical, trials, shares):
    make_run(home, "r", {str(n): passes(1, 1) for n in range(trials)})
    outcomes = {f"r/{n}#0": TrialOutcome(str(n), 0, "completed", None, passed=True) for n in range(trials)}
    said = ["critical"] * critical + ["minor"] * (erred - critical) + ["none"] * (trials - erred)
    labels = [Label(trial=f"r/{n}#0", **says(error)) for n, error in enumerate(said)]
    with Store(home) as store:
        store.refresh()
        found = user_errors(run_stats(store, "r"), outcomes, dict.fromkeys(outcomes, True), labels)
    assert (found.erred.estimate, found.critical.estimate) == pytest.approx(shares)
    assert found.critical.low < shares[1] < found.critical.high
    assert f"it erred in {erred} ({shares[0]:.0%}" in "\n".join(user_lines(found))


def test_the_word_of_people_goes_before_that_of_judges(count):
    found = count(("a#3", says("critical")), ("a#3", says("none", "ada", "person")))
    assert (found.said, found.by_people, found.critical.estimate) == (1, 1, 0.0)


def test_where_authors_differ_the_lesser_error_counts_and_it_is_told(count):
    found = count(("a#3", says("critical", "ada", "person")), ("a#3", says("minor", "bo", "person")))
    assert (found.disputed, found.critical.estimate, found.erred.estimate) == (1, 0.0, 1.0)


def test_to_be_at_fault_for_a_failure_is_a_critical_error(count):
    label = Label(trial="r/a#3", author="ada", fault="user")
    assert error_of_user(label, failed=True) == "critical"
    assert error_of_user(label, failed=False) is None  # of a trial that passed it says nothing of the kind
    assert count(("a#3", {"author": "ada", "fault": "user"})).critical.estimate == 1.0


def test_where_nothing_is_said_of_any_user_there_is_nothing_to_tell(count):
    assert count(("a#3", {"author": "ada", "fault": "agent"})) is None
    assert count() is None
