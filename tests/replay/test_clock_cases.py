"""Case 19: everything is frozen, and the agent asks the clock."""

from __future__ import annotations

import time

import pytest

import trialtape as tt


@tt.tool(effect="read")
def note(at: float) -> str:
    return "noted"


def test_19_a_recorded_clock_is_frozen_with_everything(trial):
    with trial(run="a", ambient="clock"):
        note(time.time())
    with trial(run="b", replay="a/t#0"):
        assert note(time.time()) == "noted"


def test_19_without_it_the_divergence_names_the_clock(trial):
    with trial(run="a"):
        note(time.time())
    with pytest.raises(tt.Divergence, match=r"--ambient clock") as raised, trial(run="b", replay="a/t#0"):
        note(time.time())
    assert (raised.value.report["source"], raised.value.report["source_recorded"]) == ("clock", False)
