from __future__ import annotations

import json

import pytest
from attrs import evolve

import trialtape as tt
from cassettes.model import Reply
from replay.analysis.nights import matching_runs, nights_of
from replay.store import Store
from tests import factories
from tests.replay.verdicts import UNANSWERED, make_run, passes


@pytest.fixture
def night(home):
    def made(number, tasks, **options):
        about = {"created": f"2026-01-{number:02}T00:00:00+00:00"}
        make_run(home, f"nightly-{number}", tasks, about=about, **options)

    return made


@pytest.fixture
def chart(home):
    def told(*patterns, **options):
        with Store(home) as store:
            store.refresh()
            return nights_of(store, matching_runs(store, patterns or ["nightly-*"]), **options)

    return told


def test_nights_stand_in_the_order_in_which_they_were_made(night, chart):
    for number in (10, 9, 2):
        night(number, {"a": passes(3, 4), "b": passes(2, 4)})
    found = chart()

    assert [one.run for one in found.nights] == ["nightly-2", "nightly-9", "nightly-10"]
    assert [point.value for point in found.trend.points] == [0.625] * 3


def test_only_tasks_that_are_the_same_in_all_nights_count(night, chart):
    night(1, {"a": passes(3, 4), "b": passes(2, 4), "c": passes(4, 4)})
    changed = {"b": {"instruction": "other", "expected": "b", "state": None}}
    night(2, {"a": passes(3, 4), "b": passes(2, 4), "d": passes(1, 4)}, digests=changed)
    found = chart()

    assert (found.tasks, found.other_tasks) == (("a",), ("b", "c", "d"))


def test_the_models_of_each_night_are_told(night, chart):
    call = factories.call("model", "m", arguments={"model": "m", "messages": []})
    for number, served in ((1, "m-1"), (2, "m-2"), (3, None)):
        asked = evolve(factories.interaction(0, call=call), reply=Reply(text="?", model=served))
        night(number, {"a": passes(1, 2)}, interactions=[asked])
    assert [one.models for one in chart().nights] == [("m-1",), ("m-2",), ("m",)]


def test_a_night_of_which_no_number_holds_is_left_out_by_name(night, chart):
    night(1, {"a": passes(3, 4)})
    night(2, {"a": [True, True, UNANSWERED, UNANSWERED]})
    found = chart()

    assert [one.run for one in found.nights] == ["nightly-1"]
    assert found.left_out[0].why == "2 of 4 trials ended unanswered"


def test_a_fall_alarms(night, chart):
    for number in range(1, 12):
        night(number, {f"t{task}": passes(3 if number < 9 else 1, 4) for task in range(12)})
    found = chart()

    assert "down" in [point.alarm for point in found.trend.points]
    json.dumps(found.to_dict(), allow_nan=False)


@pytest.mark.parametrize(
    ("options", "message"),
    [({"k": 9}, "no task is the same in all 1 run with 9 counted trials"), ({"score": "x"}, "has no score 'x'")],
)
def test_what_cannot_be_charted_is_refused(night, chart, options, message):
    night(1, {"a": passes(3, 4)})
    with pytest.raises(tt.BadInput, match=message):
        chart(**options)
    with pytest.raises(tt.BadInput, match="no run matches 'weekly-"):
        chart("weekly-*")


def test_nights_that_are_scored_differently_are_refused(night, chart):
    night(1, {"a": passes(3, 4)})
    night(2, {"a": passes(3, 4)}, scorer="s@2")
    with pytest.raises(tt.BadInput, match=r"scored differently \(s@1 in nightly-1, s@2 in nightly-2\)"):
        chart()
