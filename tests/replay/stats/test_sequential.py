import numpy as np
import pytest

from replay.stats import gate_evalues, tasks_to_decide
from replay.stats.sequential import sequential


def test_the_reference_values():
    found = gate_evalues([1, 1, 1, 0, 1, 1, 1, 1, 1, 1, 1, 1], 0.6)
    assert found == pytest.approx(
        [
            1.333333, 1.814444, 2.517037, 0.961604, 1.236415, 1.616448,
            2.147808, 2.898481, 3.969292, 5.510565, 7.747559, 11.019403,
        ],
        abs=5e-7,
    )  # fmt: skip


def test_against_is_for_the_mirrored():
    scores = np.array([1, 0.5, 0, 0.25, 1])
    assert gate_evalues(scores, 0.6, "below") == pytest.approx(gate_evalues(1 - scores, 0.4, "above"))


@pytest.mark.parametrize(("threshold", "tasks"), [(0.6, 9), (0.9, 43)])
def test_the_fewest_tasks_that_can_decide(threshold, tasks):
    assert tasks_to_decide(threshold) == tasks
    assert gate_evalues([1] * tasks, threshold)[-1] >= 20 > gate_evalues([1] * (tasks - 1), threshold)[-1]


def test_it_stops_where_one_side_has_enough_evidence():
    found = sequential([1] * 30, 0.6)
    assert (found.used, found.decided) == (9, "above")
    assert found.above >= 20

    down = sequential([0] * 30, 0.6)
    assert (down.decided, down.used < 30) == ("below", True)

    open_end = sequential([1, 0, 1, 1], 0.6)
    assert (open_end.used, open_end.decided) == (4, None)


def test_at_the_threshold_a_wrong_verdict_is_rare_at_any_stop():
    random = np.random.default_rng(1)
    wrong = sum(sequential(random.random(150) < 0.6, 0.6).decided == "above" for _ in range(600))
    assert wrong / 600 <= 0.05


def test_a_million_tasks_do_not_overflow():
    found = gate_evalues(np.ones(1_000_000), 0.5)
    assert np.isfinite(found).all()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([], 0.5), "there must be some"),
        (([1.5], 0.5), "task 0: a score must be from 0 to 1, got 1.5"),
        (([float("nan")], 0.5), "got nan"),
        (([1], 1.0), "threshold must be between 0 and 1"),
        (([1], 0.5, "beside"), "side must be"),
    ],
)
def test_wrong_input_is_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        gate_evalues(*arguments)


def test_wrong_alpha_is_refused():
    with pytest.raises(ValueError, match="alpha"):
        sequential([1], 0.5, 0.0)
    with pytest.raises(ValueError, match="alpha"):
        tasks_to_decide(0.5, 1.0)
