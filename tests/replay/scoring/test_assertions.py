"""Assertions on the final state; one that raises is an error of the assertion."""

from __future__ import annotations

import pytest

import trialtape as tt
from replay.scoring import state_assertions
from tests.replay.recorded import read


def connected(state):
    return state["line"] == "connected"


def paid(state):
    return state["bill"]["paid"]


def test_all_must_hold(stated):
    by = state_assertions(connected, paid)
    assert by(stated({"line": "connected", "bill": {"paid": True}})).passed is True
    score = by(stated({"line": "down", "bill": {"paid": True}}))
    assert (score.passed, score.evidence) == (False, {"assertions": 2, "failed": ["connected"]})


def test_one_that_raises_leaves_the_trial_unscored_and_is_told(stated):
    score = state_assertions(connected, paid)(stated({"line": "connected"}))
    assert score.passed is None
    assert score.evidence["assertion errors"] == ["paid: KeyError: 'bill'"]
    assert "error" not in score.evidence  # the scorer itself did its work


def test_another_that_fails_decides_though_one_raises(stated):
    assert state_assertions(connected, paid)(stated({"line": "down"})).passed is False


def test_what_one_assertion_changes_the_next_one_does_not_see(stated):
    def breaks(state):
        state.clear()
        return True

    assert state_assertions(breaks, connected)(stated({"line": "connected"})).passed is True


def test_without_a_state_it_is_unscored_and_without_assertions_it_is_refused(viewed):
    assert state_assertions(connected)(viewed([read()])).passed is None
    with pytest.raises(tt.BadInput, match="at least one"):
        state_assertions()
