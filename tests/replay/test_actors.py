# ruff: noqa: PT012  # what leaves a trial's block of several calls is what is tested

from __future__ import annotations

import pytest

import trialtape as tt


@tt.tool(effect="read")
def give(name: str):
    return 1


def test_calls_of_the_simulated_user_are_kept_apart(tmp_path, trial):
    with trial(run="r"):
        give("one")
        with tt.acting_as("user"):
            give("one")
        give("one")
    assert [step.call.actor for step in tt.open("r/t#0", home=tmp_path).steps] == ["agent", "user", "agent"]
    with pytest.raises(tt.Divergence), trial(run="again", replay="r/t#0"):
        give("one")
        give("one")


def test_an_unknown_actor_is_refused():
    with pytest.raises(tt.BadInput, match="'usr' is no actor"), tt.acting_as("usr"):
        pass
