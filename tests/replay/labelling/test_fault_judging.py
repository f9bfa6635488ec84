"""A judge at work on a run: its labels, what it could not say, and what went wrong."""

from __future__ import annotations

import json
import re
import threading

import openai
import pytest

import trialtape as tt
from replay.labelling.fault_judging import judge_faults
from replay.labelling.labels import current, read_labels
from replay.store import Store
from tests.replay.recorded import keep, read

SECRET = "sk-proj-" + "Ab3dEf6hIj9kLm2nOp5qRs8tUv1wXy4z" + "T3BlbkFJ" + "Ab3dEf6hIj9kLm2nOp5q"


def answer(fault="agent", because="so"):
    kind = "partial" if fault == "agent" else None
    erred = "critical" if fault == "user" else "none"
    return json.dumps({"fault": fault, "type": kind, "user_error": erred, "step": 0, "because": because})


@tt.tool(name="model", effect="read", ignore=["say"])
def _model(messages, say):
    return say()


@pytest.fixture
def work(home):
    """Let a judge that says ``text`` of each trial judge ``r/t#0`` (failed) and ``r/t#1`` (passed)."""
    keep(home, "r/t#0", [read()], passed=False)
    keep(home, "r/t#1", [read()], passed=True)

    def run(say, trials=(("r/t#0", False),), **options):
        judge = tt.fault_judge(lambda messages: _model(messages, say), name="j", **{"version": "1", **options})
        with Store(home) as store:
            store.refresh()
            return judge_faults(store, judge, trials, "s@1")

    return run


def lines(home):
    return read_labels(home, "r")[0]


def test_a_verdict_becomes_a_label_of_the_judge_once(home, work):
    done = work(answer)
    assert (done.judge, done.trials, done.live, done.unanswered) == ("j@1", 1, 1, ())
    work(answer)
    (label,) = lines(home)
    assert (label.author, label.source, label.fault, label.type) == ("j@1", "judge", "agent", "partial")
    assert (label.user_error, label.step, label.note) == ("none", 0, "so")


def test_of_a_passed_trial_a_label_tells_of_the_user_only(home, work):
    text = '{"fault": null, "type": null, "user_error": "critical", "step": null, "because": "It gave the plan away."}'
    work(lambda: text, [("r/t#1", True)])
    (label,) = current(lines(home))
    assert (label.fault, label.user_error) == (None, "critical")


def test_what_is_no_answer_is_kept_as_said_and_is_no_label(home, work):
    assert work(lambda: "the agent, I guess").unanswered == ("r/t#0",)
    (line,) = lines(home)
    assert (line.fault, line.unanswered) == (None, "the agent, I guess")
    assert current(lines(home)) == []


def test_several_answers_are_counted_in_the_note_and_their_noise_is_told(home, work):
    left = iter([answer(), answer("tool"), answer()])
    done = work(lambda: next(left), grades=3)
    assert done.alike == pytest.approx(1 / 3)
    assert lines(home)[0].note == "so (2 of 3 answers)"


def test_a_trial_that_cannot_be_judged_costs_itself_only(home, work):
    def fails():
        raise ValueError("no model today")

    done = work(fails, [("r/t#0", False), ("r/t#7", False)])
    assert done.trials == 0
    assert done.problems["r/t#0"] == "ValueError: no model today"
    assert "r/t#7" in done.problems
    assert lines(home) == []


def test_a_secret_in_an_answer_does_not_reach_the_labels(home, work):
    work(lambda: answer(because=f"It showed {SECRET}"))
    assert SECRET not in (home.run("r") / "labels.jsonl").read_text()
    assert "{secret:" in lines(home)[0].note


def test_several_trials_are_judged_at_once_and_each_gets_its_own_answer(home):
    views = [keep(home, f"r/t#{n}", [read(n=n)], passed=False) for n in range(6)]
    together = threading.Barrier(3, timeout=20)

    def say(messages):
        together.wait()  # three at a time, or nobody gets past it
        (number,) = re.findall(r'get\(\{"n": (\d)\}\)', messages[-1]["content"])
        return answer(because=f"number {number}")

    @tt.tool(name="model", effect="read")
    def ask(messages):
        return say(messages)

    with Store(home) as store:
        store.refresh()
        judge = tt.fault_judge(ask, name="j", version="1")
        done = judge_faults(store, judge, [(str(view.id), False) for view in views], "s@1", jobs=3)
    assert (done.trials, done.live, done.problems) == (6, 6, {})
    assert {label.trial: label.note for label in lines(home)} == {f"r/t#{n}": f"number {n}" for n in range(6)}


def test_a_trial_that_counts_otherwise_by_now_is_not_answered_with_the_old_verdict(work):
    work(answer)
    done = work(answer, [("r/t#0", True)])
    assert "it was judged as one that failed by s@1, and passed by s@1" in done.problems["r/t#0"]


def test_what_the_live_answers_cost_is_told(home, provider):
    keep(home, "r/t#0", [read()], passed=False)
    provider.says = answer()

    def ask(messages):
        with openai.OpenAI(base_url=provider.base_url, api_key="x", max_retries=0) as client:
            return client.chat.completions.create(model="gpt-4o-mini", messages=messages).choices[0].message.content

    with Store(home) as store:
        store.refresh()
        judge = tt.fault_judge(ask, version="1")
        first, again = (judge_faults(store, judge, [("r/t#0", False)], "s@1") for _ in range(2))
    assert (first.cost.calls, again.cost.calls) == (1, 0)
    assert first.cost.amount > 0
