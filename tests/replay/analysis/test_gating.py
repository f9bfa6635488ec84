"""Gates on runs."""

from __future__ import annotations

import json

import pytest

import trialtape as tt
from replay.analysis.conditions import Condition
from replay.analysis.gating import gate_against, gate_run
from replay.analysis.run_compare import compare_runs
from replay.analysis.task_order import drawn_order
from replay.store import Store
from tests.replay.verdicts import INFRASTRUCTURE, UNANSWERED, make_run, passes

HALF = Condition("pass^k", 1, 0.5)


@pytest.fixture
def held(home):
    def told(run, *conditions, target="fixed", **options):
        with Store(home) as store:
            store.refresh()
            return gate_run(store, run, conditions, target, **options)

    return told


@pytest.fixture
def against(home):
    def told(margin, target="fixed", ks=(1,), common=False, **options):
        with Store(home) as store:
            store.refresh()
            compared = compare_runs(store, "old", "new", ks=ks, common=common)
            return gate_against(compared, margin, target, **options)

    return told


def suite(c, n=8, tasks=12):
    return {f"t{task}": passes(c, n) for task in range(tasks)}


@pytest.mark.parametrize(("c", "verdict"), [(8, "PASS"), (7, "PASS"), (4, "UNDECIDED"), (1, "FAIL")])
def test_a_run_is_held_against_a_condition(home, held, c, verdict):
    make_run(home, "r", suite(c))
    assert held("r", HALF).verdict == verdict


def test_one_failing_condition_fails_the_gate(home, held):
    make_run(home, "r", suite(6))
    found = held("r", HALF, Condition("pass^k", 8, 0.5), Condition("pass@k", 2, 0.9))

    assert [line.decision.verdict for line in found.lines] == ["PASS", "FAIL", "UNDECIDED"]
    assert found.verdict == "FAIL"


def test_one_undecided_condition_leaves_it_undecided(home, held):
    make_run(home, "r", suite(6))
    assert held("r", HALF, Condition("pass^k", 1, 0.75)).verdict == "UNDECIDED"


def test_an_impossible_condition_is_refused(home, held):
    make_run(home, "r", suite(8))
    with pytest.raises(tt.BadInput, match=r"pass\^1 >= 0.9 cannot pass with 12 tasks of 8 trials, target population"):
        held("r", Condition("pass^k", 1, 0.9), target="population")


def test_unanswered_trials_may_decide_nothing(home, held):
    nearly = {task: [*verdicts[:-1], UNANSWERED] for task, verdicts in suite(8).items()}
    make_run(home, "r", nearly)

    assert held("r", HALF).verdict == "PASS"
    found = held("r", Condition("pass^k", 1, 0.9))
    assert (found.verdict, found.lines[0].bounds) == ("UNDECIDED", True)
    assert held("r", Condition("pass^k", 1, 0.9), errors="fail").lines[0].bounds is False


def test_a_run_without_enough_trials_is_refused(home, held):
    make_run(home, "r", {"a": passes(2, 2), "b": passes(4, 4)})
    with pytest.raises(tt.BadInput, match="k = 4 needs as many counted trials of every task, but 'a' has 2 in 'r'"):
        held("r", Condition("pass^k", 4, 0.5))


def test_a_run_of_which_nothing_counts_is_refused(home, held):
    make_run(home, "r", {"a": [INFRASTRUCTURE] * 2})
    with pytest.raises(tt.BadInput, match="no trial can be counted by s@1"):
        held("r", HALF)


def test_evidence_decides_before_the_last_task(home, held):
    make_run(home, "r", suite(8, tasks=30))
    found = held("r", HALF, target="population", order=3)

    assert found.verdict == "PASS"
    assert found.lines[0].decision.tasks_used < 30
    assert held("r", HALF, target="population", order=3) == found


@pytest.mark.parametrize(("c", "margin", "verdict"), [(8, 0.05, "PASS"), (6, 0.05, "UNDECIDED"), (2, 0.05, "FAIL")])
def test_a_run_is_held_against_its_baseline(home, against, c, margin, verdict):
    make_run(home, "old", suite(6))
    make_run(home, "new", suite(c))
    found = against(margin)

    assert (found.verdict, found.lines[0].decision.threshold) == (verdict, -margin)
    assert 0 < found.lines[0].chance_if_alike < 1
    assert found.lines[0].trials_for_80 > 8


def test_every_k_asked_for_must_hold(home, against):
    make_run(home, "old", suite(6))
    make_run(home, "new", suite(7))
    assert [line.what for line in against(0.02, ks=(1, 4)).lines] == [
        "pass^1 no more than 0.02 below old",
        "pass^4 no more than 0.02 below old",
    ]


def test_evidence_of_a_difference(home, against):
    make_run(home, "old", suite(4, tasks=40))
    make_run(home, "new", suite(8, tasks=40))
    found = against(0.1, target="population", order=0)

    assert (found.verdict, found.lines[0].decision.estimate) == ("PASS", pytest.approx(0.5))
    assert found.lines[0].decision.threshold == pytest.approx(-0.1)


def test_evidence_of_a_growing_run_is_a_beginning_of_what_will_be_seen(home, held):
    planned = [f"t{number}" for number in range(30)]
    order = drawn_order(planned, 3)
    config = {"tasks": {task: {} for task in planned}}
    make_run(home, "third", {task: passes(8, 8) for task in [*order[:4], *order[6:]]}, config=config)
    make_run(home, "whole", {task: passes(8, 8) for task in planned}, config=config)
    third, whole = (held(run, HALF, target="population", order=3).lines[0].decision for run in ("third", "whole"))

    assert (third.verdict, third.tasks_used) == ("UNDECIDED", 4)  # the fifth has not begun
    assert (whole.verdict, whole.tasks_used) == ("PASS", 7)


def test_evidence_of_a_growing_run_against_its_baseline(home, against):
    planned = [f"t{number}" for number in range(30)]
    order = drawn_order(planned, 0)
    make_run(home, "old", {task: passes(2, 8) for task in planned})
    make_run(home, "new", {task: passes(8, 8) for task in [*order[:4], *order[6:]]})
    found = against(0.1, target="population", order=0, common=True)

    assert (found.verdict, found.lines[0].decision.tasks_used) == ("UNDECIDED", 4)


def test_a_growing_run_without_its_first_task_has_no_evidence(home, held):
    planned = [f"t{number}" for number in range(30)]
    first = drawn_order(planned, 0)[0]
    tasks = {task: passes(8, 8) for task in planned if task != first}
    make_run(home, "r", tasks, config={"tasks": {task: {} for task in planned}})
    with pytest.raises(tt.BadInput, match="there is no evidence yet"):
        held("r", HALF, target="population", order=0)


def test_a_margin_of_zero_needs_an_improvement(home, against):
    make_run(home, "old", suite(4))
    make_run(home, "new", suite(8))
    found = against(0.0)
    assert (found.verdict, found.lines[0].trials_for_80) == ("PASS", None)


def test_as_data_it_is_json(home, against):
    make_run(home, "old", suite(4))
    make_run(home, "new", suite(8))
    document = json.loads(json.dumps(against(0.1).to_dict(), allow_nan=False))

    assert (document["verdict"], document["comparison"]["a"]) == ("PASS", "old")
