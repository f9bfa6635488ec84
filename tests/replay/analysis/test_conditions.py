import pytest

import trialtape as tt
from replay.analysis.conditions import Condition, planned, scores_of, task_scores


@pytest.mark.parametrize(
    ("text", "condition"),
    [
        ("pass^4 >= 0.6", Condition("pass^k", 4, 0.6)),
        ("pass^1>=.85", Condition("pass^k", 1, 0.85)),
        (" pass@8 >= 90% ", Condition("pass@k", 8, 0.9)),
    ],
)
def test_a_condition_is_read(text, condition):
    assert Condition.parse(text) == condition
    assert Condition.parse(str(condition)) == condition


@pytest.mark.parametrize(
    "text", ["pass^4 > 0.6", "pass^k >= 0.6", "pass^4 >= 6", "pass^4 >= 0", "pass^0 >= 0.5", "", "x"]
)
def test_anything_else_is_refused(text):
    with pytest.raises(tt.BadInput, match=r"condition|between 0 and 1"):
        Condition.parse(text)


def test_a_plan_that_cannot_pass_is_refused_with_what_is_needed():
    condition = Condition("pass^k", 4, 0.9)
    with pytest.raises(
        tt.BadInput, match=r"even if all of them pass, the lower bound is 0.828 and not 0.9; needed: 36"
    ):
        planned([condition], 20, 8, "population", 0.05, sequential=False)
    with pytest.raises(tt.BadInput, match=r"the evidence is 3.48 and not 20; needed: 43 tasks of 8 trials"):
        planned([condition], 20, 8, "population", 0.05, sequential=True)
    with pytest.raises(tt.BadInput, match="needed: 29 tasks of 4 trials or 6 trials of 20 tasks"):
        planned([condition], 20, 4, "fixed", 0.05, sequential=False)
    with pytest.raises(tt.BadInput, match="needs at least 4 trials of every task, and there are 3"):
        planned([condition], 20, 3, "fixed", 0.05, sequential=False)
    assert planned([condition], 20, 8, "fixed", 0.05, sequential=False)[0].possible


def test_scores_of_tasks():
    assert task_scores([(2, 4), (4, 8)], 2).tolist() == [1 / 6, 6 / 28]
    assert scores_of([(2, 4)], Condition("pass@k", 2, 0.5)).tolist() == [pytest.approx(0.8333333)]
