"""What counts as success, what as failure, and what is left out by name."""

from __future__ import annotations

import pytest

import trialtape as tt
from replay.analysis.reliability import TrialOutcome, count


def outcome(ending="completed", cause=None, passed=None, task="t", index=0):
    return TrialOutcome(task, index, ending, cause, passed)


@pytest.mark.parametrize(
    ("ending", "cause", "passed", "verdict", "reason"),
    [
        ("completed", None, True, 1, None),
        ("completed", None, False, 0, None),
        ("completed", None, None, None, "unscored"),
        ("capped", None, True, 0, None),
        ("capped", None, None, 0, None),
        ("error", "agent", None, 0, None),
        ("error", "infrastructure", None, None, "error (infrastructure)"),
        ("error", "recording", None, None, "error (recording)"),
        ("error", None, None, None, "error (unknown cause)"),
        ("unanswered", None, None, None, "unanswered"),
        ("cancelled", None, None, None, "cancelled"),
        ("incomplete", None, None, None, "incomplete"),
    ],
)
def test_a_trial_counts_by_its_ending_then_by_its_verdict(ending, cause, passed, verdict, reason):
    counted = count([outcome(ending, cause, passed)])
    if verdict is None:
        assert (counted.tasks, counted.empty, counted.left_out) == ((), ("t",), {reason: 1})
    else:
        assert (counted.successes, counted.trials, counted.left_out) == ((verdict,), (1,), {})
    failing = count([outcome(ending, cause, passed)], errors="fail")
    assert (failing.successes, failing.trials) == ((verdict or 0,), (1,))
    assert failing.failed_by_convention == (verdict is None)


@pytest.mark.parametrize(
    ("ending", "cause", "passed", "verdict", "reason"),
    [
        ("completed", None, False, 0, None),
        ("capped", None, True, 1, None),  # the harm was done before the cap
        ("capped", None, False, 0, None),
        ("capped", None, None, None, "unscored"),
        ("error", "agent", None, None, "error (agent)"),
        ("unanswered", None, None, None, "unanswered"),
    ],
)
def test_what_ended_early_is_no_harm_averted(ending, cause, passed, verdict, reason):
    trial = TrialOutcome("t", 0, ending, cause, passed, harm=True)
    counted = count([trial])
    assert counted.left_out == ({} if reason is None else {reason: 1})
    assert counted.successes == (() if verdict is None else (verdict,))
    assert (counted.capped, counted.capped_by_verdict) == (0, int(ending == "capped" and verdict is not None))
    with pytest.raises(tt.BadInput, match="harm averted"):
        count([trial], errors="fail")


def test_what_was_counted_how_is_told():
    counted = count([
        outcome(passed=True, index=0),
        outcome("capped", index=1),
        outcome("error", "agent", index=2),
        outcome("unanswered", index=3),
        outcome("error", "infrastructure", index=4),
    ])  # fmt: skip
    assert (counted.capped, counted.agent_errors, counted.unanswered, counted.total) == (1, 1, 1, 5)
    assert (counted.successes, counted.trials) == ((1,), (3,))
    assert counted.left_out == {"error (infrastructure)": 1, "unanswered": 1}


def test_numbered_tasks_stand_in_order():
    assert count([outcome(passed=True, task=task) for task in ("10", "2", "b", "a")]).tasks == ("2", "10", "a", "b")


def test_nothing_counts_to_nothing():
    counted = count([])
    assert (counted.tasks, counted.total) == ((), 0)
