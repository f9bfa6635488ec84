import numpy as np
import pytest
from scipy import stats as scipy_stats

from replay.stats import (
    feasibility,
    feasibility_of_difference,
    fixed_differences,
    gate,
    gate_difference,
    gate_difference_sequential,
    gate_sequential,
    interval,
    paired_differences,
    tasks_if_alike,
)


@pytest.mark.parametrize(("threshold", "verdict"), [(0.36, "PASS"), (0.42, "UNDECIDED"), (0.5, "FAIL")])
def test_one_sided_bounds_decide(airline, threshold, verdict):
    found = gate(airline, 4, 1, threshold, "fixed")
    bounds = interval(airline, 4, 1, "fixed", level=0.9)

    assert (found.verdict, found.low, found.high) == (verdict, bounds.low, bounds.high)


def test_the_target_matters(airline):
    assert gate(airline, 4, 1, 0.36, "fixed").verdict == "PASS"
    assert gate(airline, 4, 1, 0.36, "population").verdict == "UNDECIDED"


def test_one_task_is_undecided_for_tasks_like_it():
    found = gate([8], 8, 1, 0.5, "population")
    assert (found.verdict, found.low) == ("UNDECIDED", None)
    assert gate([8], 8, 1, 0.5, "fixed").verdict == "PASS"


@pytest.mark.parametrize("target", ["fixed", "population"])
def test_a_difference_is_held_against_a_margin(airline, target):
    better = [min(4, passed + (task % 3 == 0)) for task, passed in enumerate(airline)]
    worse = [max(0, passed - (task % 3 == 0)) for task, passed in enumerate(airline)]

    def decide(other, margin):
        kinds = {"fixed": fixed_differences, "population": paired_differences}
        found = kinds[target](airline, 4, other, 4, [1])
        row = found[0] if target == "fixed" else found.rows[0]
        return gate_difference(row, 50, margin)

    assert decide(better, 0.05).verdict == "PASS"
    assert decide(worse, 0.0).verdict in {"FAIL", "UNDECIDED"}
    assert decide([0] * 50, 0.05).verdict == "FAIL"
    assert decide(airline, 0.001).verdict == ("UNDECIDED" if target == "fixed" else "PASS")


def test_the_bounds_of_a_difference_are_one_sided():
    found = fixed_differences([2, 3, 1, 4], 4, [3, 3, 2, 4], 4, [1])[0]
    decision = gate_difference(found, 4, 0.1, alpha=0.1)
    assert decision.low == pytest.approx(found.difference - scipy_stats.norm.ppf(0.9) * found.se)

    row = paired_differences([2, 3, 1, 4], 4, [3, 3, 2, 4], 4, [1]).rows[0]
    assert gate_difference(row, 4, 0.1).low == pytest.approx(row.difference - scipy_stats.t.ppf(0.95, 3) * row.se)


def test_the_gate_wrongly_passes_at_most_as_often_as_promised():
    random = np.random.default_rng(2)
    p = random.beta(2, 1, 50)
    worse = np.maximum(p - 0.1, 0)
    margin = float((p - worse).mean())
    passed = 0
    for _ in range(400):
        found = fixed_differences(random.binomial(8, p), 8, random.binomial(8, worse), 8, [1])[0]
        passed += gate_difference(found, 50, margin).verdict == "PASS"
    assert passed / 400 < 0.08


def test_an_e_process_decides_early():
    found = gate_sequential(np.ones(50), 0.6)
    assert (found.verdict, found.tasks_used, found.low) == ("PASS", 9, None)
    assert gate_sequential(np.zeros(50), 0.6).verdict == "FAIL"
    assert gate_sequential(np.array([1.0, 0.0]), 0.6).verdict == "UNDECIDED"


def test_an_e_process_of_a_difference_is_that_of_its_halved_scores():
    differences = np.random.default_rng(0).uniform(-0.3, 0.6, 60)
    found = gate_difference_sequential(differences, 0.1)
    halved = gate_sequential((1 + differences) / 2, 0.45)

    assert (found.verdict, found.evidence, found.tasks_used) == ("PASS", halved.evidence, halved.tasks_used)
    assert found.threshold == -0.1
    assert found.estimate == pytest.approx(differences[: found.tasks_used].mean())


@pytest.mark.parametrize(("margin", "fewest", "alike"), [(0.0, 7, None), (0.05, 6, 88), (0.1, 6, 43), (0.3, 4, 13)])
def test_how_many_tasks_a_difference_needs(margin, fewest, alike):
    assert feasibility_of_difference(2, margin).tasks == fewest
    assert not feasibility_of_difference(fewest - 1, margin).possible
    assert feasibility_of_difference(fewest, margin).possible
    assert gate_difference_sequential(np.ones(fewest), margin).verdict == "PASS"
    assert gate_difference_sequential(np.ones(fewest - 1), margin).verdict == "UNDECIDED"
    assert tasks_if_alike(margin) == alike
    if alike is not None:
        assert gate_difference_sequential(np.zeros(alike), margin).tasks_used == alike
        assert gate_difference_sequential(np.zeros(alike), margin).verdict == "PASS"
        assert gate_difference_sequential(np.zeros(alike - 1), margin).verdict == "UNDECIDED"


def test_a_difference_at_the_margin_rarely_passes_however_often_one_looks():
    numbers = np.random.default_rng(3)
    wrong = 0
    for _ in range(1000):
        chances = numbers.beta(2, 1, 115) * 0.9 + 0.1
        differences = (numbers.binomial(8, chances - 0.1) - numbers.binomial(8, chances)) / 8
        wrong += gate_difference_sequential(differences, 0.1).verdict == "PASS"
    assert wrong <= 50


def test_what_cannot_pass_is_known_beforehand():
    population = feasibility(20, 8, 4, 0.9, "population")
    assert (population.possible, population.tasks) == (False, 36)
    assert gate([8] * 36, 8, 4, 0.9, "population").verdict == "PASS"
    assert gate([8] * 35, 8, 4, 0.9, "population").verdict == "UNDECIDED"

    fixed = feasibility(20, 8, 4, 0.9, "fixed")
    assert (fixed.possible, round(fixed.best, 3)) == (True, 0.928)
    assert feasibility(20, 4, 4, 0.9, "fixed").trials == 6
    assert gate([6] * 20, 6, 4, 0.9, "fixed").verdict == "PASS"

    sequential = feasibility(20, 8, 4, 0.9, "population", sequential=True)
    assert (sequential.possible, round(sequential.best, 1), sequential.tasks) == (False, 3.5, 43)


def test_some_gates_no_number_of_trials_can_pass():
    assert feasibility(3, 4, 1, 0.999999, "population").tasks is None
    assert feasibility(1, 4, 1, 0.5, "population").possible is False


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (lambda: gate([1], 4, 1, 1.0, "fixed"), "threshold"),
        (lambda: gate([1], 4, 1, 0.5, "fixed", alpha=0.5), "alpha"),
        (lambda: gate([1], 4, 5, 0.5, "fixed"), "k = 5"),
        (lambda: gate_difference(fixed_differences([1], 4, [2], 4)[0], 1, 1.0), "margin"),
        (lambda: feasibility(0, 4, 1, 0.5, "fixed"), "at least 1 task"),
        (lambda: feasibility(10, 4, 5, 0.5, "fixed"), "k = 5 trials"),
        (lambda: feasibility(10, 4, 1, 0.5, "fixed", sequential=True), "its target is the population"),
    ],
)
def test_wrong_input_is_refused(wrong, message):
    with pytest.raises(ValueError, match=message):
        wrong()
