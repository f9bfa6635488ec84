import math
from itertools import product

import numpy as np
import pytest

from replay.stats import f1, judge_quality, kappa_interval, kappa_of_table, proportion


def test_the_reference_value_of_kappa():
    assert kappa_interval(40, 10, 5, 45) == pytest.approx((0.7, 0.560732, 0.839268), abs=5e-7)


def test_quality_of_a_judge():
    found = judge_quality(40, 10, 5, 45)

    assert found.precision.estimate == 0.8
    assert found.recall.estimate == pytest.approx(40 / 45)
    assert found.specificity.estimate == pytest.approx(45 / 55)
    assert found.precision.low < 0.8 < found.precision.high
    # Wilson 1927, as in every table: 40 of 50 gives [0.670, 0.888]
    assert (found.precision.low, found.precision.high) == pytest.approx((0.6696, 0.8876), abs=5e-5)


def test_what_was_not_seen_is_undefined():
    found = judge_quality(4, 0, 0, 0)
    assert (found.specificity.estimate, found.kappa) == (None, None)
    assert found.recall.high == 1.0


@pytest.mark.parametrize(("counts", "message"), [((0, 0, 0, 0), "not only zeros"), ((-1, 1, 0, 0), "at least 0")])
def test_wrong_input_is_refused(counts, message):
    with pytest.raises(ValueError, match=message):
        judge_quality(*counts)


DIAGNOSES = [[75, 1, 4], [5, 4, 1], [0, 0, 10]]  # Fleiss, Statistical Methods for Rates and Proportions


def _kappa(shares):
    chance = shares.sum(axis=1) @ shares.sum(axis=0)
    return (np.trace(shares) - chance) / (1 - chance)


def test_the_interval_of_kappa_is_that_of_its_variance_by_the_delta_method():
    shares = np.array(DIAGNOSES) / 100
    slopes = np.zeros((3, 3))
    for place in product(range(3), repeat=2):
        moved = [shares.copy(), shares.copy()]
        moved[0][place] += 1e-6
        moved[1][place] -= 1e-6
        slopes[place] = (_kappa(moved[0]) - _kappa(moved[1])) / 2e-6
    half = 1.959964 * math.sqrt(((shares * slopes**2).sum() - (shares * slopes).sum() ** 2) / 100)
    assert kappa_of_table(DIAGNOSES) == pytest.approx((0.676471, 0.676471 - half, 0.676471 + half), abs=1e-5)


def test_kappa_of_two_labels_is_that_of_two_verdicts():
    assert kappa_of_table([[40, 10], [5, 45]]) == kappa_interval(40, 10, 5, 45)
    assert kappa_of_table([[3, 0], [0, 0]]) is None


@pytest.mark.parametrize("table", [[], [[1, 2]], [[0, 0], [0, 0]], [[1, -1], [0, 1]]])
def test_what_is_no_square_table_of_counts_has_no_kappa(table):
    with pytest.raises(ValueError, match="square table"):
        kappa_of_table(table)


def test_a_proportion_has_wilsons_interval_and_nothing_of_nothing_has_none():
    found = proportion(40, 50)
    assert (found.low, found.high) == pytest.approx((0.6696, 0.8876), abs=5e-5)
    assert proportion(0, 0).estimate is None
    with pytest.raises(ValueError, match="at most"):
        proportion(3, 2)


@pytest.mark.parametrize(
    ("precision", "recall", "expected"),
    [(0.753, 0.731, 0.7418), (0.787, 0.788, 0.7875), (1.0, 0.0, 0.0), (0.0, 0.0, 0.0)],
    ids=["ToolEmu's evaluator", "people", "finds nothing", "finds nothing right"],
)
def test_f1_of_published_evaluators(precision, recall, expected):
    assert f1(precision, recall) == pytest.approx(expected, abs=5e-5)


def test_f1_is_told_where_precision_and_recall_are():
    assert judge_quality(40, 10, 5, 45).f1 == pytest.approx(2 * 40 / (2 * 40 + 10 + 5))
    assert judge_quality(0, 0, 0, 4).f1 is None
    with pytest.raises(ValueError, match="between 0 and 1"):
        f1(1.2, 0.5)


def test_six_of_seven_reproduced_failures_leave_much_open():
    """ToolEmu: of 7 failures that an emulator showed, 6 came again on a real machine."""
    found = proportion(6, 7)
    assert found.estimate == pytest.approx(0.857, abs=5e-4)
    assert (found.low, found.high) == pytest.approx((0.487, 0.974), abs=5e-4)
