from __future__ import annotations

import pytest

from cassettes.errors import BadInput
from cassettes.model import Ending, TrialId
from cassettes.reader import Cassette
from replay.home import Home
from replay.runs import RunFile, open_run
from replay.scores.scorefile import KeptScore, append_scores
from replay.scoring import Score
from replay.selection import find_trial
from tests import factories


@pytest.fixture
def home(tmp_path):
    """Four trials, one after the other: passed, failed, passed, lost to infrastructure."""
    home = Home(tmp_path)
    open_run(home, RunFile("r", primary="s@1"))
    for index, passed in enumerate([True, False, True, None]):
        trial = TrialId("r", "t", index)
        ending = Ending("completed") if passed is not None else Ending("error", "503", "infrastructure")
        began = 1000.0 + index
        factories.write_cassette(home.cassette(trial), [], ending, run="r", task="t", index=index, began=began)
        if passed is not None:
            append_scores(
                home, "r", [KeptScore.of(trial, "s", "1", Score(float(passed)), Cassette(home.cassette(trial)).digest)]
            )
    return home


@pytest.mark.parametrize(("text", "index"), [("@last", 3), ("@last-fail", 1), ("r/t#2", 2)])
def test_a_trial_by_name(home, text, index):
    assert find_trial(text, home).id == TrialId("r", "t", index)


def test_a_trial_by_path(home):
    assert find_trial(str(home.cassette(TrialId("r", "t", 1))), home).id.index == 1


@pytest.mark.parametrize("text", ["@first", "@", "@last-failed"])
def test_another_sign_is_told(home, text):
    with pytest.raises(BadInput, match="names no trial"):
        find_trial(text, home)


@pytest.mark.parametrize(("text", "told"), [("@last", "no trial in"), ("@last-fail", "no failed trial in")])
def test_nothing_there_is_told(tmp_path, text, told):
    with pytest.raises(BadInput, match=told):
        find_trial(text, Home(tmp_path / "empty"))
