"""A judge's calls lie beside the trial's, so that its verdict can be given again for nothing."""

from __future__ import annotations

import openai
import pytest

import trialtape as tt
from cassettes.model import Ending
from replay.home import Home
from replay.scoring import score_trial
from replay.view import View
from tests import factories


@pytest.fixture
def view(tmp_path):
    @tt.tool(effect="read")
    def look():
        return 1

    with tt.trial(run="r", task="t", home=tmp_path):
        look()
    return tt.open("r/t#0", home=tmp_path)


@pytest.fixture
def judged(provider):
    """A judge that asks a real server through the real SDK."""

    def ask(view):
        with openai.OpenAI(base_url=provider.base_url, api_key="x", max_retries=0) as client:
            reply = client.chat.completions.create(
                model="judge-1", messages=[{"role": "user", "content": f"{len(view.steps)} steps: polite?"}]
            )
        text = reply.choices[0].message.content
        return tt.Score(1.0 if text else 0.0, evidence={"said": text})

    return lambda **options: tt.judge(ask, **{"name": "polite", "version": "1", **options})


def test_a_grade_is_recorded_beside_the_trial_and_made_again_without_asking(view, judged, provider):
    by = judged()
    first = score_trial(view, by)
    asked = len(provider.requests)
    assert first.passed is True, first.evidence
    assert asked == 1
    assert by.cassette(view).name == "0.polite@1.cassette"
    provider.stop()
    again = score_trial(view, by)
    assert (again.value, again.evidence) == (first.value, first.evidence)
    assert len(provider.requests) == asked


def test_its_calls_are_the_judges_and_its_cassette_is_no_trial_of_the_run(view, judged, tmp_path):
    score_trial(view, judged())
    grade = View(judged().cassette(view))
    assert [step.call.actor for step in grade.steps if step.call.kind == "model"] == ["judge"]
    assert grade.cassette.header.config["of"] == view.cassette.digest
    assert [str(trial) for trial, _ in Home(tmp_path).trials("r")] == ["r/t#0"]


def test_several_grades_tell_how_far_they_differ(view, tmp_path):
    answers = iter([1.0, 0.0, 1.0])
    by = _asking(answers, grades=3)
    score = score_trial(view, by)
    assert score.value == pytest.approx(2 / 3)
    assert score.passed is True
    assert score.evidence["grades"] == [1.0, 0.0, 1.0]
    assert score.evidence["alike"] == pytest.approx(1 / 3)
    assert score_trial(view, by).evidence == score.evidence  # nothing is left in `answers`


def _asking(answers, **options):
    """A judge whose model is a recorded function: each live call takes the next answer."""

    @tt.tool(name="model", effect="read", ignore=["source"])
    def ask(text, source):
        return next(source)

    return tt.judge(lambda view: ask("polite?", answers), name="polite", version="1", **options)


def test_another_question_under_the_same_version_is_told(view):
    score_trial(view, _asking(iter([1.0])))

    @tt.tool(name="model", effect="read")
    def ask(text):
        return 1.0

    score = score_trial(view, tt.judge(lambda view: ask("rude?"), name="polite", version="1"))
    assert score.passed is None
    assert "Divergence" in score.evidence["error"]


def test_a_grade_that_was_cut_short_or_went_wrong_is_set_aside_and_made_anew(view):
    def fails(view):
        raise RuntimeError("no judge today")

    by = tt.judge(fails, name="polite", version="1")
    assert "no judge today" in score_trial(view, by).evidence["error"]
    path = by.cassette(view)
    assert View(path).ending.status == "error"
    assert score_trial(view, _asking(iter([1.0]))).passed is True
    assert path.with_name(f"{path.name}.1.aside").exists()


def test_a_grade_of_another_recording_is_not_taken_for_this_ones(view, tmp_path):
    score_trial(view, _asking(iter([1.0])))
    view.path.unlink()
    factories.write_cassette(view.path, [factories.interaction(0)], Ending("completed"), run="r", task="t")
    assert score_trial(View(view.path), _asking(iter([0.0]))).passed is False


def test_a_judge_that_asks_nobody_is_an_error(view):
    score = score_trial(view, tt.judge(lambda view: True, name="idle", version="1"))
    assert "0 calls captured" in score.evidence["error"]


def test_a_judge_grades_at_least_once():
    with pytest.raises(tt.BadInput, match="once or more"):
        tt.judge(lambda view: True, name="j", version="1", grades=0)


def test_a_cassette_outside_a_home_cannot_be_judged(tmp_path):
    path = factories.write_cassette(tmp_path / "0.cassette", [factories.interaction(0)])
    score = score_trial(View(path), _asking(iter([1.0])))
    assert "lies in no home folder" in score.evidence["error"]
