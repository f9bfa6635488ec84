from __future__ import annotations

from cassettes.model import Patch
from replay.misses import misfit_report, miss_report
from replay.worlds import Missing, World
from tests.factories import call


def test_a_miss_is_told_in_words_and_as_data():
    asked = call(arguments={"order_id": "W2"})
    report = miss_report(3, asked, Missing("missed", "not recorded", None), World([]))
    assert report["message"].splitlines()[0].startswith("step 3: tool get_order has no answer in the world of ")
    assert "W2" in report["message"]
    assert {key: report[key] for key in ("step", "call", "verdict", "why")} == {
        "step": 3,
        "call": "agent/tool:get_order",
        "verdict": "missed",
        "why": "not recorded",
    }
    assert "nearest" not in report


def test_a_change_that_does_not_fit_names_its_place_and_its_recording():
    why, report = misfit_report(2, call(name="put"), Patch(((("a", 1), None, b"x"),)), "r/t#0")
    assert why.startswith("step 2: put has a recorded change of ")
    assert (report["verdict"], report["trial"]) == ("stale", "r/t#0")
