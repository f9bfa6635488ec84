import numpy as np
import pytest

from replay.stats import trend


def nights(random, number, between, inside=0.03, level=0.6):
    return level + random.normal(0, between, number) + random.normal(0, inside, number)


def test_the_first_nights_only_tell_how_nights_differ():
    found = trend([0.6, 0.62, 0.58, 0.61, 0.6, 0.59, 0.6], [0.03] * 7)

    assert [point.low is None for point in found.points] == [True] * 5 + [False] * 2
    assert found.points[5].low < 0.6 < found.points[5].high
    assert not any(point.alarm for point in found.points)


def test_the_variance_between_nights_is_what_trials_do_not_explain():
    random = np.random.default_rng(0)
    assert trend(nights(random, 400, 0.05), [0.03] * 400, apart=1e12).between_sd == pytest.approx(0.05, abs=0.006)
    assert trend(nights(random, 400, 0.0), [0.03] * 400, apart=1e12).between_sd < 0.02


@pytest.mark.parametrize("between", [0.0, 0.03])
def test_false_alarms_are_rare_however_often_one_looks(between):
    random = np.random.default_rng(1)
    alarms = sum(
        point.alarm is not None for _ in range(30) for point in trend(nights(random, 365, between), [0.03] * 365).points
    )
    assert alarms / 30 < 2 * 365 / 1_000  # two sides; looking at a 95% band every night would alarm 18 times


@pytest.mark.parametrize(("shift", "alarm"), [(-0.15, "down"), (0.15, "up")])
def test_a_shift_is_found_and_the_chart_begins_anew(shift, alarm):
    values = nights(np.random.default_rng(2), 40, 0.02)
    values[20:] += shift
    found = trend(values, [0.03] * 40)
    at = [night for night, point in enumerate(found.points) if point.alarm]

    assert at
    assert found.points[at[0]].alarm == alarm
    assert 20 <= at[0] <= 26
    assert found.points[at[0] + 1].low is None
    assert found.mean == pytest.approx(0.6 + shift, abs=0.03)


def test_nights_that_are_all_alike_do_not_alarm():
    found = trend([1.0] * 20, [0.0] * 20)
    assert not any(point.alarm for point in found.points)
    assert found.between_sd == 0.0


def test_one_night_is_a_night():
    found = trend([0.5], [0.1])
    assert (found.mean, found.between_sd, found.points[0].alarm) == (0.5, None, None)


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        (([], []), {}, "one value and one error"),
        (([0.5], [0.1, 0.1]), {}, "got 1 and 2"),
        (([float("nan")], [0.1]), {}, "finite"),
        (([0.5], [-0.1]), {}, "at least 0"),
        (([0.5], [0.1]), {"apart": 1.0}, "apart"),
        (([0.5], [0.1]), {"reference": 2}, "reference"),
    ],
)
def test_wrong_input_is_refused(arguments, options, message):
    with pytest.raises(ValueError, match=message):
        trend(*arguments, **options)
