import pytest

from replay.stats import judge_quality, kappa_interval


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
