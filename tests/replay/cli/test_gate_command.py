from __future__ import annotations

import json

import pytest

from replay.home import Home
from tests.replay.verdicts import make_run, passes


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    return tmp_path_factory.mktemp("gates")


@pytest.fixture(scope="module")
def runs(home):
    place = Home(home)
    for name, c in (("bad", 1), ("good", 8), ("new", 6), ("old", 6)):
        make_run(place, name, {f"t{task}": passes(c, 8) for task in range(12)})
    return place


def test_the_verdict_is_the_exit_code(runs, call):
    assert call("gate", "good", "--against", "old", "--margin", "0.05").exit_code == 0
    assert call("gate", "bad", "--against", "old", "--margin", "0.05").exit_code == 1
    undecided = call("gate", "new", "--against", "old", "--margin", "0.05")
    assert undecided.exit_code == 6
    assert (
        undecided.stdout
        == """\
old → new: 12 tasks paired, 96 and 96 trials counted, score s@1
UNDECIDED  pass^1 no more than 0.05 below old, if you rerun this suite: +0.000, 95% sure that it is at least -0.103 \
and at most +0.103
           a run exactly as good as the baseline would pass with chance 0.20; for 80% both runs need about 78 trials \
of each task
few events: a wrong PASS or FAIL may be likelier than --alpha says
UNDECIDED
"""
    )


@pytest.mark.parametrize(("word", "code"), [("pass", 0), ("fail", 1)])
def test_undecided_counts_as_told(runs, call, word, code):
    done = call("gate", "new", "--against", "old", "--margin", "0.05", "--undecided", word)
    assert done.exit_code == code
    assert done.stdout.endswith(f"UNDECIDED (counts as {word}: --undecided {word})\n")
    assert call("gate", "bad", "--against", "old", "--margin", "0.05", "--undecided", word).exit_code == 1


def test_conditions_name_their_target(runs, call):
    refused = call("gate", "good", "pass^4 >= 0.6")
    assert refused.exit_code == 2
    assert "--target fixed for these tasks run again, --target population for tasks like these" in refused.stderr
    done = call("gate", "good", "pass^4 >= 0.6", "pass^8 >= 0.5", "--target", "population")
    assert done.exit_code == 0
    assert (
        "PASS       pass^8 >= 0.5, on other tasks like these: 1.000, 95% sure that it is at least 0.779" in done.stdout
    )


def test_evidence_is_told(runs, call):
    done = call("gate", "good", "pass^1 >= 0.5", "--target", "population", "--sequential")
    assert done.exit_code == 0
    assert "mean 1.000 of the first 7 tasks, evidence 31.7 for and 0.122 against, 20 decides" in done.stdout
    against = call("gate", "good", "--against", "bad", "--margin", "0.1", "--sequential", "--json")
    assert json.loads(against.stdout)["lines"][0]["decision"]["target"] == "population"


def test_a_plan_is_asked_before_anything_is_run(call):
    plan = ["--target", "fixed", "--plan-tasks", "20", "--plan-trials", "8"]
    possible = call("gate", "pass^4 >= 0.9", *plan)
    assert (possible.exit_code, possible.stdout) == (
        0,
        "pass^4 >= 0.9 can pass with 20 tasks of 8 trials: if all of them pass, 0.928 reaches 0.9\n",
    )
    assert json.loads(call("gate", "pass^4 >= 0.9", *plan, "--json").stdout)[0]["possible"] is True
    refused = call("gate", "pass^4 >= 0.99", *plan)
    assert refused.exit_code == 2
    assert "needed: 150 tasks of 8 trials or 60 trials of 20 tasks" in refused.stderr


def test_json_holds_all(runs, call):
    done = call("gate", "bad", "--against", "old", "--margin", "0.05", "--json")
    document = json.loads(done.stdout)
    assert (document["verdict"], document["exit_code"], done.exit_code) == ("FAIL", 1, 1)


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (["good"], "a gate needs --against RUN with --margin, or conditions"),
        (["good", "old", "--against", "bad", "--margin", "0.1"], "a gate is for one run, and 2 are named: good, old"),
        (["good", "pass^4 >= 0.6", "--against", "old", "--margin", "0.1"], "and not both"),
        (["good", "--against", "old"], "--against and --margin go together"),
        (["good", "pass^x >= 0.6", "--target", "fixed"], "is no condition"),
        (["good", "pass^4 > 0.6", "--target", "fixed"], "'pass^4 > 0.6' is no condition: one is 'pass^K >= X'"),
        (["good", "pass^4", ">=", "0.6", "--target", "fixed"], "'pass^4' is no condition: one is 'pass^K >= X'"),
        (["good", "pass^4 >= 0.6", "--target", "fixed", "-k", "2"], "-k belongs to --against RUN"),
        (["good", "pass^4 >= 0.6", "--target", "fixed", "--common"], "--common belongs to --against RUN"),
        (["pass^4 >= 0.6", "--target", "fixed"], "name the run that the gate is for"),
        (["good", "pass^4 >= 0.6", "--target", "fixed", "--sequential"], "--sequential speaks of tasks like these"),
        (["good", "pass^4 >= 0.6", "--target", "fixed", "--plan-tasks", "3"], "go together"),
        (["good", "pass^9 >= 0.6", "--target", "fixed"], "k = 9 needs"),
        (["nothing", "pass^4 >= 0.6", "--target", "fixed"], "there is no run 'nothing'"),
        (["good", "--against", "old", "--margin", "0.1", "--changed", "mood"], "'mood' is no setting"),
    ],
)
def test_what_does_not_go_together_is_refused(runs, call, arguments, why):
    done = call("gate", *arguments)
    assert done.exit_code == 2
    assert why in done.stderr
