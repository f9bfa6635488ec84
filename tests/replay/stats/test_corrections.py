import math

import numpy as np
import pytest

from replay.stats import (
    corrected_by_labels,
    corrected_pass_hat_k,
    judge_quality,
    labels_needed,
    pass_hat_k,
    ppi,
    rogan_gladen,
)

LABELS, JUDGED = [1, 0, 1, 1, 0, 1, 0, 1], [1, 0, 1, 0, 0, 1, 1, 1]
OTHERS = [1, 1, 0, 1, 0, 1, 1, 0, 1, 1, 0, 1]


def test_the_reference_values(airline):
    assert rogan_gladen(0.55, 0.9, 0.95) == pytest.approx(0.588235, abs=5e-7)
    corrected = [corrected_pass_hat_k(airline, 4, k, 0.95, 0.95) for k in (1, 2, 3, 4)]
    assert corrected == pytest.approx([0.411111, 0.288683, 0.249691, 0.243707], abs=5e-7)
    found = ppi(LABELS, JUDGED, OTHERS)
    assert (found.estimate, found.low) == (pytest.approx(0.666667, abs=5e-7), pytest.approx(0.203201, abs=5e-7))
    assert found.estimate + 1.959964 * found.se == pytest.approx(1.130132, abs=5e-6)
    assert found.high == 1.0


def test_correction_recovers_what_people_would_judge():
    random = np.random.default_rng(0)
    p = random.beta(0.5, 0.5, 20_000)
    truly = random.random((20_000, 8)) < p[:, None]
    seen = np.where(truly, random.random(truly.shape) < 0.9, random.random(truly.shape) < 0.05).sum(axis=1)
    truth = pass_hat_k(truly.sum(axis=1), 8, 4)

    assert pass_hat_k(seen, 8, 4) < truth - 0.05
    assert corrected_pass_hat_k(seen, 8, 4, 0.9, 0.95) == pytest.approx(truth, abs=0.012)


def test_error_rates_from_labels_make_an_interval():
    found = corrected_by_labels([6, 8, 2, 0, 7] * 10, 8, 4, judge_quality(90, 5, 10, 95))
    assert found.estimate == pytest.approx(corrected_pass_hat_k([6, 8, 2, 0, 7] * 10, 8, 4, 0.9, 0.95))
    assert found.low < found.estimate < found.high < found.low + 0.5
    assert found == corrected_by_labels([6, 8, 2, 0, 7] * 10, 8, 4, judge_quality(90, 5, 10, 95))


@pytest.mark.parametrize("counts", [(43, 13, 1, 2), (5, 0, 0, 0), (2, 3, 3, 2), (1, 0, 0, 1)])
def test_labels_that_tell_too_little_correct_nothing(counts):
    assert corrected_by_labels([6, 8, 2, 0, 7], 8, 4, judge_quality(*counts)) is None


def test_a_judge_that_misses_a_tenth_cuts_a_perfect_agent():
    assert corrected_pass_hat_k([0, 0], 4, 4, 0.9, 1.0) == 0.0


@pytest.mark.parametrize("tuned", [False, True])
def test_prediction_powered_intervals_cover_and_a_naive_rate_does_not(tuned):
    random = np.random.default_rng(1)
    covered = naive = 0
    for _ in range(300):
        y = random.random(900) < 0.6
        f = np.where(y, random.random(900) < 0.731, random.random(900) < 0.25)
        found = ppi(y[:100], f[:100], f[100:], tuned=tuned)
        covered += found.low <= 0.6 <= found.high
        rate = f.mean()
        naive += abs(rate - 0.6) < 1.96 * math.sqrt(rate * (1 - rate) / 900)
    assert covered / 300 > 0.9
    assert naive / 300 < 0.2


def test_tuning_narrows_where_the_judge_is_poor():
    random = np.random.default_rng(2)
    y = random.random(900) < 0.6
    f = np.where(y, random.random(900) < 0.6, random.random(900) < 0.5)
    assert ppi(y[:100], f[:100], f[100:], tuned=True).se < ppi(y[:100], f[:100], f[100:]).se


def test_trials_of_a_task_are_not_independent():
    labels, judged = [1, 1, 1, 1, 0, 0, 0, 0] * 4, [1, 1, 1, 1, 1, 1, 1, 1] * 4
    tasks = [str(i // 4) for i in range(32)]
    others = ([1] * 16, [str(i) for i in range(16)])
    alone = ppi(labels, judged, others[0])
    clustered = ppi(labels, judged, others[0], clusters=(tasks, others[1]))

    assert clustered.estimate == alone.estimate
    assert clustered.se == pytest.approx(alone.se * 2, rel=0.1)


def test_labels_do_not_shrink_what_the_other_trials_leave_open():
    few, many = [1, 0] * 10, [1, 0] * 2000
    assert labels_needed(LABELS, JUDGED, 0.1, unlabelled=few) is None
    assert labels_needed(LABELS, JUDGED, 0.1, unlabelled=many) > labels_needed(LABELS, JUDGED, 0.1)


def test_labels_of_trials_that_are_alike_tell_less():
    tasks = ([str(i // 4) for i in range(32)], [str(i) for i in range(4000)])
    given = {"unlabelled": [1, 0] * 2000, "half_width": 0.1}
    labels, judged = [1, 1, 1, 1, 0, 0, 0, 0] * 4, [1] * 32
    assert labels_needed(labels, judged, clusters=tasks, **given) > 2 * labels_needed(labels, judged, **given)


@pytest.mark.parametrize("fp", [0, 7, 15])
def test_a_corrected_pass_k_never_rises_with_k(fp):
    quality = judge_quality(41, fp, 0, 19 - fp)
    found = [corrected_by_labels([8, 7, 6, 4, 2, 1, 0, 3], 8, k, quality) for k in range(1, 9)]
    told = [one for one in found if one is not None]
    assert len(told) >= 2
    for part in ("estimate", "low", "high"):
        ends = [getattr(one, part) for one in told]
        assert ends == sorted(ends, reverse=True)


def test_a_judge_that_never_errs_needs_few_labels_but_not_none():
    assert labels_needed([1, 0] * 20, [1, 0] * 20, 0.05) > 40
    assert labels_needed(LABELS, JUDGED, 0.1) == 110
    assert labels_needed(LABELS, JUDGED, 0.2) < 40


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (lambda: ppi([1], [1], [1, 0]), "at least 2 labelled"),
        (lambda: ppi([1, float("nan")], [1, 0], [1, 0]), "labels must hold"),
        (lambda: ppi([1, 0], [1, 0], [1, 0], clusters=(["a"], ["a", "b"])), "clusters name 1 tasks for 2 trials"),
        (lambda: rogan_gladen(0.5, 0.4, 0.6), "no better than chance"),
        (lambda: corrected_pass_hat_k([1], 4, 2, 0.5, 0.5), "no better than chance"),
        (lambda: labels_needed([1, 0], [1, 0], 0.0), "half-width"),
    ],
)
def test_wrong_input_is_refused(wrong, message):
    with pytest.raises(ValueError, match=message):
        wrong()
