from __future__ import annotations

import math

import pytest

import trialtape as tt
from replay.scoring import Score, as_scorer, score_trial, scorer


@pytest.fixture
def view(tmp_path):
    @tt.tool(effect="read")
    def look():
        return 1

    with tt.trial(run="r", task="t", home=tmp_path):
        look()
    return tt.open("r/t#0", home=tmp_path)


@pytest.mark.parametrize(
    ("returned", "value", "passed"),
    [
        (True, 1.0, True),
        (False, 0.0, False),
        (1, 1.0, True),
        (0.999, 0.999, False),
        (1 - 1e-7, 1 - 1e-7, True),
        (3, 3.0, True),
        (None, None, None),
        (Score(0.4, passed=True), 0.4, True),
        (Score(None), None, None),
    ],
)
def test_what_a_scorer_may_return(view, returned, value, passed):
    score = score_trial(view, as_scorer(lambda view: returned))
    assert (score.value, score.passed) == (value, passed)
    assert "error" not in score.evidence


@pytest.mark.parametrize("returned", [math.nan, math.inf, Score(math.nan), Score(-math.inf, passed=True)])
def test_a_score_that_is_no_finite_number_is_unscored_and_says_so(view, returned):
    score = score_trial(view, as_scorer(lambda view: returned))
    assert (score.value, score.passed) == (None, None)
    assert "no finite number" in score.evidence["error"]


@pytest.mark.parametrize("returned", ["yes", [1], {"passed": True}])
def test_anything_else_is_unscored_and_says_so(view, returned):
    score = score_trial(view, as_scorer(lambda view: returned))
    assert score.passed is None
    assert "a Score, bool, number or None is needed" in score.evidence["error"]


def test_a_scorer_that_raises_leaves_the_trial_unscored_with_the_evidence(view):
    score = score_trial(view, as_scorer(lambda view: view.nothing))
    assert (score.value, score.passed) == (None, None)
    assert score.evidence["error"].startswith("AttributeError: ")


def test_a_version_is_given_or_comes_from_the_source():
    def first(view):
        return True

    def second(view):
        return False

    assert scorer(version="2", name="n")(first).id == "n@2"
    assert scorer(first).version == scorer(first).version
    assert scorer(first).version != scorer(second).version
    assert as_scorer(scorer(first)).name == "first"


@pytest.mark.parametrize("thing", [3, "text", None])
def test_what_is_no_scorer_is_refused(thing):
    with pytest.raises(tt.BadInput, match="is no scorer"):
        as_scorer(thing)
