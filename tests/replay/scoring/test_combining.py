"""A reward as a stated combination of components."""

from __future__ import annotations

import pytest

import trialtape as tt
from replay.scoring import Score, combination, rule_of, scorer
from tests.replay.recorded import read


@pytest.mark.parametrize(
    ("r_action", "r_output", "reward"), [(1.0, 1.0, 1.0), (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 0.0)]
)
def test_the_truth_table_of_tau_benchs_reward(r_action, r_output, reward):
    assert rule_of("r_action * r_output").apply({"r_action": r_action, "r_output": r_output}).value == reward


@pytest.mark.parametrize(
    ("rule", "values", "value"),
    [
        ("a*b", {"a": None, "b": 0.0}, 0.0),
        ("a*b", {"a": None, "b": 1.0}, None),
        ("a*b", {"b": 1.0}, None),
        ("a? * b?", {"b": 1.0}, 1.0),
        ("a? * b?", {"a": 0.5, "b": 1.0}, 0.5),
        ("a? * b?", {}, None),
        ("0.7*a + 0.3*b", {"a": 1.0, "b": 0.0}, 0.7),
        ("0.7*a + 0.3*b", {"a": 1.0, "b": None}, None),
        ("s@1.part", {"s@1.part": 0.25}, 0.25),
    ],
)
def test_what_is_unknown_decides_only_where_nothing_else_does(rule, values, value):
    assert rule_of(rule).apply(values).value == (None if value is None else pytest.approx(value))


def test_one_rule_has_one_version_however_it_is_written():
    assert rule_of("a*b").version == rule_of(" a  * b ").version
    assert rule_of("a*b").version != rule_of("a*c").version
    assert rule_of("0.70*a").text == "0.7 * a"


@pytest.mark.parametrize("rule", ["", "a *", "a - b", "a(b)", "a ** b", "a b", "+"])
def test_what_is_no_rule_is_refused_with_the_part_that_is_not(rule):
    with pytest.raises(tt.BadInput, match="is no rule"):
        rule_of(rule)


@scorer(version="1", blind_to=["x", "y"])
def good(view):
    return Score(1.0, evidence={"why": "good"})


@scorer(version="1", blind_to=["y", "z"])
def half(view):
    return 0.5


def test_a_combination_keeps_its_components_and_sees_what_one_of_its_parts_sees(viewed):
    made = combination("reward", "good * half", good, half)
    score = made(viewed([read()]))
    assert (score.value, score.passed) == (0.5, False)
    assert score.evidence["components"] == {"good": 1.0, "half": 0.5}
    assert score.evidence["good"] == {"why": "good"}
    assert made.blind_to == ("y",)


def test_a_part_of_another_version_makes_another_combination():
    newer = scorer(name="half", version="2")(lambda view: 0.5)
    assert combination("r", "half", half).version != combination("r", "half", newer).version


def test_a_rule_that_names_a_scorer_that_is_not_given_is_refused():
    with pytest.raises(tt.BadInput, match="names nobody"):
        combination("r", "good * nobody", good)
