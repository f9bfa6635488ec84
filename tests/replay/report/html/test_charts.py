from __future__ import annotations

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from replay.report.html.charts import (
    Bar,
    KPoint,
    Label,
    bar_chart,
    bounds_points,
    curve_chart,
    fixed_points,
    population_points,
)
from replay.stats import summary

AIRLINE = summary([4] * 10 + [3] * 4 + [2] * 10 + [1] * 12 + [0] * 14, 4, resamples=10)


def assert_clean(chart):
    """No text meets another, and nothing leaves the drawing."""
    for a, b in itertools.combinations(chart.labels, 2):
        assert not a.meets(b), (a, b)
    for label in chart.labels:
        left, top, right, bottom = label.box
        assert left >= 0, label
        assert top >= 0, label
        assert right <= chart.width, label
        assert bottom <= chart.height, label


def texts(chart, name):
    return [label.text for label in sorted(chart.labels, key=lambda label: label.x) if label.name == name]


def test_every_value_is_labelled_and_the_line_goes_through_them():
    chart = curve_chart(fixed_points(AIRLINE.rows))
    assert texts(chart, "hat") == [f"{row.pass_hat_k:.3f}" for row in AIRLINE.rows]
    assert texts(chart, "at") == [f"{row.pass_at_k:.3f}" for row in AIRLINE.rows[1:]]
    assert chart.hat == " ".join(f"{mark.x:g},{mark.y:g}" for mark in chart.hats)
    assert len(chart.band.split()) == 8


def test_higher_values_stand_higher():
    chart = curve_chart(fixed_points(AIRLINE.rows))
    heights = [mark.y for mark in chart.hats]
    assert heights == sorted(heights)
    assert chart.hats[0].y > chart.grid[-1]


def test_the_two_questions_have_their_own_bands():
    assert curve_chart(fixed_points(AIRLINE.rows)).band != curve_chart(population_points(AIRLINE.rows)).band


def test_the_drawing_is_told_in_words():
    told = curve_chart(fixed_points(AIRLINE.rows)).desc
    first = AIRLINE.rows[0]
    assert told.startswith(f"pass^1 {first.pass_hat_k:.3f}, between {first.fixed.low:.3f} and {first.fixed.high:.3f}")


def test_an_undefined_interval_has_no_band():
    chart = curve_chart(population_points(summary([3], 4, resamples=10).rows))
    assert chart.band == ""
    assert len(chart.hats) == 4


def test_bounds_have_a_band_and_no_line():
    chart = curve_chart(bounds_points([(1, 0.5, 0.9), (2, 0.3, 0.8)]))
    assert (chart.hat, chart.at, chart.hats) == ("", "", ())
    assert chart.band
    assert sorted(texts(chart, "hat")) == ["0.300", "0.500", "0.800", "0.900"]
    assert chart.desc == "pass^1 between 0.500 and 0.900. pass^2 between 0.300 and 0.800."


def test_one_k_alone_is_drawn_in_the_middle_with_a_band():
    chart = curve_chart([KPoint(1, 0.5, 0.5, 0.4, 0.6)])
    assert len(chart.band.split()) == 4
    assert_clean(chart)


def test_many_k_are_lines_with_some_labels():
    rows = summary([30] * 9 + [64] * 5 + [0] * 3, 64, resamples=10).rows
    chart = curve_chart(fixed_points(rows))
    assert chart.hats == ()
    assert len(chart.hat.split()) == 64
    assert [text for text in texts(chart, "axis") if text.isdigit()] == ["1", "20", "40", "60", "64"]
    assert f"{rows[-1].pass_hat_k:.3f}" in texts(chart, "hat")
    assert_clean(chart)


share = st.floats(0, 1)


@settings(max_examples=200)
@given(st.lists(st.tuples(share, share, share, share), min_size=1, max_size=40))
def test_no_text_overlaps_another_or_is_cut_off_whatever_the_values(values):
    points = [KPoint(k, hat, at, min(low, high), max(low, high)) for k, (hat, at, low, high) in enumerate(values, 1)]
    assert_clean(curve_chart(points))
    assert_clean(curve_chart(bounds_points([(p.k, p.low, p.high) for p in points])))


@pytest.mark.parametrize("value", [0.0, 1.0])
def test_the_ends_of_the_scale_have_room_for_their_labels(value):
    chart = curve_chart([KPoint(k, value, value, value, value) for k in range(1, 9)])
    assert_clean(chart)
    assert len(texts(chart, "hat")) == 8


def test_bars_are_as_long_as_their_values():
    chart = bar_chart([Bar("before step 4", 0.5, 0.2, 0.8), Bar("a very long label " * 9, 1.0)])
    assert chart.bars[0].width * 2 == chart.bars[1].width
    assert chart.bars[0].whisker is not None
    assert chart.bars[1].whisker is None
    assert_clean(chart)


def test_labels_know_where_they_meet():
    assert Label(10, 10, "0.500").meets(Label(20, 12, "0.400"))
    assert not Label(10, 10, "0.500").meets(Label(10, 30, "0.400"))
