"""Many trials and scorers, in one process or several; what goes wrong costs its own trial only."""

from __future__ import annotations

import json

import pytest

import trialtape as tt
from replay.scores.rescoring import rescored
from replay.scores.scorefile import read_scores
from replay.scores.scorer_names import scorer_named, scorers_named
from tests.replay.recorded import keep, needs_airline, read

SCORERS = """
import os
import sys
import trialtape as tt

@tt.scorer(version="1", blind_to=["everything else"])
def short(view):
    return len(view.steps) < 3

@tt.scorer(version="1")
def dies(view):
    if view.id.index == 1:
        os._exit(7)
    return True

@tt.scorer(version="1")
def leaves(view):
    if view.id.index == 1:
        sys.exit(7)
    return True

@tt.scorer(version="1")
def raises(view):
    return 1 / view.id.index
"""


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "pool_scorers.py"
    path.write_text(SCORERS)
    return path


@pytest.fixture
def jobs(home):
    for index in range(5):
        keep(home, f"r/t#{index}", [read(n=n) for n in range(index + 1)])
    return list(home.trials("r"))


def verdicts(found):
    return {str(one.trial): [score.passed for score in one.scores] for one in found}


@pytest.mark.parametrize("processes", [1, 2])
def test_every_trial_gets_every_score(home, jobs, file, processes):
    found = list(rescored(home, jobs, [f"{file}:short", "not_capped"], processes=processes))
    assert verdicts(found) == {f"r/t#{index}": [index < 2, True] for index in range(5)}


@pytest.mark.parametrize("processes", [1, 2])
@pytest.mark.parametrize("name", ["raises", "leaves"])
def test_a_scorer_that_raises_or_leaves_costs_its_own_trial(home, jobs, file, processes, name):
    found = list(rescored(home, jobs, [f"{file}:{name}", "not_capped"], processes=processes))
    broken = {trial for trial, (first, second) in verdicts(found).items() if first is None and second is True}
    assert broken == {"r/t#0" if name == "raises" else "r/t#1"}


def test_a_process_that_dies_costs_its_own_trial(home, jobs, file):
    found = list(rescored(home, jobs, [f"{file}:dies"], processes=2))
    assert {str(one.trial) for one in found} == {f"r/t#{index}" for index in range(5)}
    assert [one.problem for one in found if one.problem] == ["r/t#1: the process that scored it died"]
    assert sum(len(one.scores) for one in found) == 4


@pytest.mark.parametrize("processes", [1, 2])
def test_a_cassette_that_cannot_be_read_costs_its_own_trial(home, jobs, processes):
    home.cassette(jobs[2][0]).write_bytes(b"no cassette")
    found = list(rescored(home, jobs, ["not_capped"], processes=processes))
    assert [str(one.trial) for one in found if one.problem] == ["r/t#2"]
    assert sum(len(one.scores) for one in found) == 4


def test_what_is_scored_already_is_not_scored_again(home, jobs, file):
    first = list(rescored(home, jobs[:3], [f"{file}:short"]))
    known = {(s.trial, f"{s.scorer}@{s.version}"): s.digest for one in first for s in one.scores}
    again = list(rescored(home, jobs, [f"{file}:short", "not_capped"], known=known))
    assert [len(one.scores) for one in again] == [1, 1, 1, 2, 2]
    assert again[0].kept == ("short@1",)
    other = dict.fromkeys(known, "another recording")
    assert [len(one.scores) for one in rescored(home, jobs, [f"{file}:short"], known=other)] == [1] * 5


def test_a_name_that_names_no_scorer_is_refused_before_anything_is_scored(home, jobs):
    with pytest.raises(tt.BadInput, match="is no scorer"):
        next(rescored(home, jobs, ["nothing"], processes=2))


def test_a_scorer_that_is_named_twice_scores_once(file):
    assert len(scorers_named([f"{file}:short", f"{file}:short", "not_capped"])) == 2
    assert scorer_named("not_capped").name == "not_capped"


def test_two_scorers_of_one_name_and_version_are_refused(file, tmp_path):
    other = tmp_path / "other_scorers.py"
    other.write_text(SCORERS.replace("< 3", "< 4"))
    with pytest.raises(tt.BadInput, match="two scorers are called short@1"):
        scorers_named([f"{file}:short", f"{other}:short"])


@needs_airline
def test_five_scorers_over_200_trials_agree_in_one_process_and_in_two(airline_home):
    names = ["consent_before_write", "tau_outputs", "not_capped", "expected_actions", "required_outputs"]
    jobs = list(airline_home.trials("airline"))
    one, two = (
        {(s.trial, s.scorer): (s.value, json.loads(s.evidence)) for found in made for s in found.scores}
        for made in (rescored(airline_home, jobs, names, processes=n) for n in (1, 2))
    )
    assert len(one) == 1000
    assert one == two
    outputs = {
        s.trial: json.loads(s.evidence)["components"]
        for s in read_scores(airline_home, "airline")
        if s.passed is not None and s.scorer == "reward"  # other tests may have scored the same run
    }
    stored = {trial: parts["r_outputs"] for trial, parts in outputs.items() if "r_outputs" in parts}
    assert len(stored) == 13
    assert {trial: one[trial, "tau_outputs"][0] for trial in stored} == stored
