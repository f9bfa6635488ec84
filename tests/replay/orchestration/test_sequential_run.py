"""Evidence on two arms while their trials are made: in an order fixed before, of whole tasks only, and kept."""

from __future__ import annotations

import json
import random

import numpy as np
import pytest
from attrs import evolve
from hypothesis import given, settings
from hypothesis import strategies as st

import trialtape as tt
from cassettes.errors import CorruptCassette
from replay.analysis.gating import overall
from replay.analysis.reliability import TrialOutcome
from replay.home import Home
from replay.orchestration.ab_run import compare_arms, jobs_of, run_arms
from replay.orchestration.arms import Arm
from replay.orchestration.run_terms import RunTerms
from replay.orchestration.sequential_run import FILE, Design, Look, Looks, lines_of, refuse_impossible_design

TASKS = [tt.Task(id=f"t{number}") for number in range(30)]


def design(margin=0.2, trials=2, seed=0, ks=(1,), tasks=TASKS):
    return Design.drawn(tasks, seed, arms=("a", "b"), score="s@1", margin=margin, alpha=0.05, ks=ks, trials=trials)


def outcome(task, index, passed, ending="completed", cause=None):
    return TrialOutcome(task, index, ending, cause, passed)


def all_of(design, passes):
    """The outcomes of every trial; ``passes(arm, task, index)`` tells the verdict."""
    return {
        tt.TrialId(arm, task, index): outcome(task, index, passes(arm, task, index))
        for arm in design.arms
        for task in design.order
        for index in range(design.trials)
    }


@pytest.fixture
def looks(home):
    home.run("b").mkdir(parents=True)

    def of(made=None):
        return Looks(home, made or design())

    return of


def test_a_clear_difference_stops_before_the_last_task(looks):
    found = looks()
    assert found.look(all_of(found.design, lambda arm, task, index: arm == "b")) is True
    assert (found.verdict, len(found.looks)) == ("PASS", 5)
    assert [look.task for look in found.looks] == list(found.design.order[:5])


def test_a_worse_arm_fails(home):
    home.run("b").mkdir(parents=True)
    found = Looks(home, design(margin=0.05))
    assert found.look(all_of(found.design, lambda arm, task, index: arm == "a"))
    assert (found.verdict, len(found.looks) < 30) == ("FAIL", True)


def test_what_evidence_does_not_decide_stays_undecided(looks):
    found = looks(design(margin=0.05))
    assert found.look(all_of(found.design, lambda arm, task, index: index == 0)) is False
    assert (found.verdict, len(found.looks)) == ("UNDECIDED", 30)


def test_only_whole_tasks_are_looked_at_and_only_in_their_order(looks):
    found = looks()
    whole = all_of(found.design, lambda arm, task, index: True)
    first, second, third = found.design.order[:3]
    missing = tt.TrialId("b", first, 1)
    assert not found.look({trial: o for trial, o in whole.items() if trial != missing})
    assert found.looks == ()
    only = {trial: o for trial, o in whole.items() if trial.task in {first, third}}
    found.look(only)
    assert [look.task for look in found.looks] == [first]
    assert found.is_settled(first)
    assert not found.is_settled(second)


@settings(max_examples=30, deadline=None)
@given(st.randoms(use_true_random=False), st.integers(0, 5))
def test_in_whatever_order_trials_end_the_looks_are_the_same(tmp_path_factory, shuffle, seed):
    home = Home(tmp_path_factory.mktemp("looks"))
    home.run("b").mkdir(parents=True)
    made = design(seed=seed, margin=0.3, tasks=TASKS[:12])
    dice = random.Random(seed)
    ended = list(all_of(made, lambda arm, task, index: dice.random() < (0.9 if arm == "b" else 0.5)).items())
    at_once = Looks(home, made)
    at_once.look(dict(ended))
    (home.run("b") / FILE).unlink()

    shuffle.shuffle(ended)
    bit_by_bit, outcomes = Looks(home, made), {}
    for trial, came in ended:
        outcomes[trial] = came
        if bit_by_bit.look(outcomes):
            break
    assert bit_by_bit.looks == at_once.looks
    assert bit_by_bit.verdict == at_once.verdict


def test_what_was_looked_at_is_kept_and_stays(looks, home):
    found = looks()
    found.look(all_of(found.design, lambda arm, task, index: arm == "b"))
    again = looks()
    assert (again.looks, again.verdict) == (found.looks, "PASS")
    assert {task.id for task, _ in again.places(TASKS, 2)} == {look.task for look in found.looks}
    again.look(all_of(found.design, lambda arm, task, index: arm == "a"))
    assert again.looks == found.looks
    kept = json.loads((home.run("b") / FILE).read_text())
    assert kept["verdict"] == "PASS"
    assert kept["looks"][0]["evidence"] == [pytest.approx(list(found.looks[0].evidence[0]))]


@pytest.mark.parametrize(
    ("other", "why"),
    [
        (design(margin=0.1), r"another margin \(0\.2, now 0\.1\)"),
        (design(trials=3), r"another number of trials \(2, now 3\)"),
        (design(seed=1), r"another seed \(0, now 1\)"),
        (design(ks=(2,)), r"another -k \(\(1,\), now \(2,\)\)"),
        (design(tasks=TASKS[:29]), "another order of tasks, and"),
        (evolve(design(), score="other@1"), "another score"),
    ],
)
def test_what_decides_may_not_change_after_looking(looks, other, why):
    found = looks()
    found.look(
        {trial: o for trial, o in all_of(found.design, lambda *_: True).items() if trial.task == found.design.order[0]}
    )
    with pytest.raises(tt.BadInput, match=why):
        looks(other)


@pytest.mark.parametrize("text", ["{", "{}", '{"design": {}, "looks": []}', "[]"])
def test_a_damaged_file_is_told(looks, home, text):
    (home.run("b") / FILE).write_text(text)
    with pytest.raises(CorruptCassette, match=r"sequential\.json is damaged"):
        looks()


def test_a_task_without_enough_counted_trials_is_left_out(looks):
    found = looks(design(ks=(1, 2)))
    outcomes = all_of(found.design, lambda arm, task, index: arm == "b")
    first = found.design.order[0]
    lost = tt.TrialId("b", first, 1)
    outcomes[lost] = outcome(first, 1, None, "error", "infrastructure")
    found.look(outcomes)
    assert found.looks[0].b == (1, 1)
    one, two = lines_of(found.design, found.looks)
    assert (one.decision.tasks_used, two.decision.tasks_used) == (5, 5)
    assert found.looks[0].evidence[1] == (1.0, 1.0)
    assert len(found.looks) == 6


def test_unanswered_trials_decide_nothing_whatever_they_would_have_been(looks):
    plan = design(margin=0.2)
    answered = [Look(task, (0, 2), (2, 2), (0, 0)) for task in plan.order]
    holes = [evolve(look, b=(1, 1), unanswered=(0, 1)) for look in answered]
    assert lines_of(plan, answered)[0].decision.tasks_used < lines_of(plan, holes)[0].decision.tasks_used
    assert lines_of(plan, holes)[0].decision.verdict == "PASS"
    both = [evolve(look, a=(0, 1), b=(0, 1), unanswered=(1, 1)) for look in answered]
    assert lines_of(plan, both)[0].decision.verdict == "UNDECIDED"


@pytest.mark.parametrize("difference", [0.0, -0.2], ids=["no difference and no margin", "worse by exactly the margin"])
def test_a_wrong_pass_is_rare_however_often_one_looks(difference):
    """Ville: at most alpha. 1,000 pairs of runs of 60 tasks, each stopped as soon as it is decided."""
    numbers = np.random.default_rng(7)
    margin = -difference
    plan = design(margin=margin, trials=4, tasks=[tt.Task(id=f"t{n}") for n in range(60)])
    wrong = 0
    for _ in range(1000):
        chances = numbers.beta(2, 1, 60) * (1 - margin) + margin
        a, b = numbers.binomial(4, chances), numbers.binomial(4, chances + difference)
        found = [Look(t, (i, 4), (j, 4), (0, 0)) for t, i, j in zip(plan.order, a.tolist(), b.tolist(), strict=True)]
        wrong += overall(lines_of(plan, found)) == "PASS"
    assert wrong <= 50


def test_a_wrong_fail_is_rare_too():
    numbers = np.random.default_rng(8)
    plan = design(margin=0.1, trials=4)
    wrong = 0
    for _ in range(1000):
        chances = numbers.beta(2, 1, 30) * 0.9 + 0.1
        a, b = numbers.binomial(4, chances), numbers.binomial(4, chances - 0.1)
        found = [Look(t, (i, 4), (j, 4), (0, 0)) for t, i, j in zip(plan.order, a.tolist(), b.tolist(), strict=True)]
        wrong += overall(lines_of(plan, found)) == "FAIL"
    assert wrong <= 50


# -- before the first trial --------------------------------------------------------------------------------------------


def test_an_impossible_design_is_refused_with_what_is_needed():
    with pytest.raises(
        tt.BadInput,
        match=r"a margin of 0\.05 cannot be decided with 3 tasks: .* evidence is 4\.21 and not 20; needed: 6 or more; "
        "an arm that is just as good as the other needs 88",
    ):
        refuse_impossible_design(3, 8, 0.05, 0.05, (1,))
    with pytest.raises(tt.BadInput, match="k = 8 needs as many trials of every task, and 4 are planned"):
        refuse_impossible_design(50, 4, 0.05, 0.05, (1, 8))


def test_a_possible_design_tells_how_many_tasks_show_that_nothing_changed():
    assert refuse_impossible_design(6, 8, 0.05, 0.05, (1, 8)) == 88
    assert refuse_impossible_design(7, 8, 0.0, 0.05, (1,)) is None
    level = [Look(f"t{n}", (4, 8), (4, 8), (0, 0)) for n in range(88)]
    plan = design(margin=0.05, trials=8, tasks=[tt.Task(id=f"t{n}") for n in range(88)])
    assert lines_of(plan, level)[0].decision.tasks_used == 88
    assert lines_of(plan, level)[0].decision.verdict == "PASS"
    assert lines_of(plan, level[:87])[0].decision.verdict == "UNDECIDED"


# -- with real trials --------------------------------------------------------------------------------------------------


@tt.tool(effect="read", external=False)
def look(passes: bool) -> bool:
    made.append(1)
    return passes


made: list[int] = []


def agent(trial):
    look(trial.settings["passes"])


@pytest.fixture
def pair(tmp_path):
    made.clear()
    arms = []
    for name, passes in (("a", "false"), ("b", "true")):
        (tmp_path / f"{name}.toml").write_text(f"[settings]\npasses = {passes}\n")
        arms.append(Arm.read(tmp_path / f"{name}.toml"))
    suite = tt.Suite(TASKS, agent, [lambda view: view.steps[0].outcome.value], settings={"passes": True})

    def run(concurrency=1, **more):
        jobs = jobs_of(suite, arms, RunTerms(trials=2, concurrency=concurrency))
        looks = Looks(Home(tmp_path), evolve(design(), score=suite.scorers[0].id, **more))
        return run_arms(jobs, tmp_path, None, looks), looks, arms

    return run


@pytest.mark.parametrize("concurrency", [1, 2, 5])
def test_no_trial_is_begun_once_it_is_decided_but_pairs_are_completed(pair, tmp_path, concurrency):
    (one, two), looks, arms = pair(concurrency)
    assert (looks.verdict, len(looks.looks)) == ("PASS", 5)
    assert one.trials == two.trials
    assert 10 <= one.trials <= 10 + concurrency
    assert {(t.task, t.index) for t, _ in Home(tmp_path).trials("a")} == {
        (t.task, t.index) for t, _ in Home(tmp_path).trials("b")
    }
    found = compare_arms(Home(tmp_path), arms, only=[look.task for look in looks.looks])
    assert (found.trials_a, found.trials_b, found.paired.rows[0].difference) == (10, 10, 1.0)


def test_a_pair_that_was_stopped_stays_decided(pair):
    pair()
    before = len(made)
    (one, two), looks, _ = pair()
    assert len(made) == before
    assert (looks.verdict, one.resumed, two.resumed, one.trials) == ("PASS", 10, 10, 10)


def test_an_interrupted_pair_goes_on_to_the_same_decision(pair, tmp_path, monkeypatch):
    whole = pair()[1].looks
    for run in "ab":
        for _, path in Home(tmp_path).trials(run):
            path.unlink()
    (Home(tmp_path).run("b") / FILE).unlink()
    stop_after(monkeypatch, 7)
    with pytest.raises(KeyboardInterrupt):
        pair()
    monkeypatch.undo()
    assert pair()[1].looks == whole


def stop_after(monkeypatch, number):
    from replay.orchestration import interleaving

    real = interleaving.wait
    counted = []

    def wait(running, **options):
        counted.append(1)
        if len(counted) > number:
            raise KeyboardInterrupt
        return real(running, **options)

    monkeypatch.setattr(interleaving, "wait", wait)
