"""A judge of faults: asked through a real SDK, kept beside the trial, and asked again for nothing."""

from __future__ import annotations

import json

import openai
import pytest

import trialtape as tt
from replay.labelling.fault_judge import FaultJudge
from replay.view import View
from tests.replay.recorded import keep, read, write

TOLD = {"passed": False, "score": "s@1", "evidence": {}, "rules": None}


def answer(fault="agent", **more):
    kind = "wrong argument" if fault == "agent" else None
    erred = "critical" if fault == "user" else "none"
    return json.dumps({"fault": fault, "type": kind, "user_error": erred, "step": 1, "because": "so", **more})


@pytest.fixture
def view(home):
    return keep(home, "r/t#0", [read(), write(n=9)], passed=False)


@pytest.fixture
def judge(provider):
    """A judge that asks a real server through the real SDK."""

    def ask(messages):
        with openai.OpenAI(base_url=provider.base_url, api_key="x", max_retries=0) as client:
            reply = client.chat.completions.create(model="judge-1", messages=messages)
        return reply.choices[0].message.content

    return tt.fault_judge(ask, name="reviewer", version="1")


def says(*texts, **options):
    """A judge whose model is a recorded function: each live call takes the next answer."""
    left = iter(texts)

    @tt.tool(name="model", effect="read", ignore=["source"])
    def ask(messages, source):
        return next(source)

    made = {"name": "reviewer", "version": "1", "grades": len(texts), **options}
    return tt.fault_judge(lambda messages: ask(messages, left), **made)


def test_a_verdict_is_recorded_beside_the_trial_and_given_again_without_asking(view, judge, provider):
    provider.says = answer()
    first = judge(view, TOLD)
    assert (first.verdict.fault, first.verdict.type, first.verdict.step) == ("agent", "wrong argument", 1)
    assert (first.live, provider.count) == (1, 1)
    beside = view.path.with_name("0.faults.reviewer@1.cassette")
    assert [step.call.actor for step in View(beside).steps if step.call.kind == "model"] == ["judge"]
    provider.stop()
    again = judge(view, TOLD)
    assert (again.verdict, again.said, again.live) == (first.verdict, first.said, 0)


def test_an_answer_of_another_form_is_no_verdict_and_its_text_is_kept(view, judge, provider):
    provider.says = "The agent did it."
    judged = judge(view, TOLD)
    assert (judged.verdict, judged.said) == (None, ("The agent did it.",))
    provider.says = answer()  # it is not asked again until it says something else
    assert judge(view, TOLD).verdict is None


def test_what_it_was_told_is_kept_so_that_later_findings_change_no_recorded_verdict(view, judge, provider):
    provider.says = answer()
    judge(view, {**TOLD, "rules": "agent (wrong tool): x"})
    later = judge(view, {**TOLD, "rules": "another trial passed meanwhile, and the rules say more"})
    assert (later.live, provider.count) == (0, 1)
    assert later.verdict is not None


def test_another_question_under_the_same_version_is_told(view, judge, provider):
    provider.says = answer()
    judge(view, TOLD)
    with pytest.raises(tt.Divergence):
        FaultJudge("reviewer", "1", judge.ask, guidance="Something else.")(view, TOLD)


def test_more_than_half_of_several_answers_must_agree_and_its_noise_is_told(view):
    most = says(answer(), answer("tool"), answer())(view, TOLD)
    assert (most.verdict.fault, most.alike) == ("agent", pytest.approx(1 / 3))


def test_without_a_majority_there_is_no_verdict(view):
    split = says(answer(), answer("tool"))(view, TOLD)
    assert (split.verdict, split.alike) == (None, 0.0)
    assert len(split.said) == 2


def test_answers_without_form_are_no_majority_for_anything(view):
    assert says("?", "??", answer())(view, TOLD).verdict is None


def test_answers_agree_if_they_name_the_same_fault_and_error_of_the_user(view):
    judged = says(answer(), answer(user_error="minor"), answer(type="other", step=None))(view, TOLD)
    assert (judged.verdict.type, judged.alike) == ("wrong argument", pytest.approx(1 / 3))


def test_a_scorer_of_the_same_name_keeps_its_calls_elsewhere(view, judge):
    scorer = tt.judge(lambda view: True, name="reviewer", version="1")
    assert scorer.cassette(view).name == "0.reviewer@1.cassette"


def test_a_judge_is_asked_at_least_once_and_returns_text(view):
    with pytest.raises(tt.BadInput, match="once or more"):
        tt.fault_judge(lambda messages: "", version="1", grades=0)
    with pytest.raises(tt.BadInput, match="returned NoneType; the text of the reply is needed"):
        says(None)(view, TOLD)
