"""How a trial ended, and what it took."""

from __future__ import annotations

import pytest
from attrs import evolve

import trialtape as tt
from cassettes.model import Ending, Interaction, Reply, Usage, Value
from replay.scoring import calls_within, cost_within, ended_by, not_capped, seconds_within, tokens_within
from tests.replay.recorded import asks, read, write


def model_calls(*usages, actor="agent"):
    return [
        Interaction(
            step=n,
            call=evolve(asks("hi"), actor=actor),
            outcome=Value("x"),
            started=2 * n,
            ended=2 * n + 1,
            at=float(n),
            duration=0.5,
            reply=Reply(text="x", usage=usage),
        )
        for n, usage in enumerate(usages)
    ]


CAPPED = Ending("capped", "30 steps")
STOPPED = Ending("completed", "user_stop")


def test_a_cap_is_no_end_of_its_own(viewed):
    assert not_capped(viewed([read()])).passed is True
    assert not_capped(viewed([read()], ending=CAPPED)).evidence == {"ending": "capped", "reason": "30 steps"}


def test_a_trial_ends_by_one_of_the_wanted_terminations(viewed):
    assert ended_by("user_stop", "agent_stop")(viewed([read()], ending=STOPPED)).passed is True
    assert ended_by("agent_stop")(viewed([read()], ending=STOPPED)).passed is False
    assert ended_by("30 steps")(viewed([read()], ending=CAPPED)).passed is False
    with pytest.raises(tt.BadInput, match="needs a reason"):
        ended_by()


def test_calls_of_the_agent_are_counted(viewed):
    view = viewed([read(), write(), asks("hi")])
    assert calls_within(3)(view).passed is True
    assert calls_within(2)(view).evidence == {"calls": 3, "most": 2}
    assert calls_within(2, kinds=["tool"])(view).passed is True


def test_tokens_are_those_that_calls_tell(viewed):
    view = viewed(model_calls(Usage(10, 5), Usage(20, 5)))
    assert tokens_within(40)(view).passed is True
    assert tokens_within(39)(view).passed is False
    assert tokens_within(39, actor="user")(view).passed is True


def test_what_is_not_told_leaves_it_unscored_unless_the_rest_is_too_much(viewed):
    view = viewed(model_calls(Usage(10, 5), None))
    assert tokens_within(40)(view).passed is None
    assert tokens_within(14)(view).passed is False


def test_seconds_go_from_the_first_start_to_the_last_end(viewed):
    view = viewed(model_calls(None, None))
    assert seconds_within(1.5)(view).evidence == {"seconds": 1.5, "most": 1.5}
    assert seconds_within(1.4)(view).passed is False
    assert seconds_within(1)(viewed([read()])).passed is None  # imported recordings hold no times


def test_the_cost_is_by_the_prices_that_are_given(viewed):
    prices = {"m": tt.Price(input=1.0, output=2.0)}
    view = viewed(model_calls(Usage(1_000_000, 500_000)))
    assert cost_within(2.0, prices)(view).evidence == {"cost": 2.0, "most": 2.0, "calls": 1}
    assert cost_within(1.99, prices)(view).passed is False
    assert cost_within(2.0)(view).passed is None
    assert "m" in cost_within(2.0)(view).evidence["unknown"]
    assert cost_within(0.0)(viewed([read()])).passed is True
