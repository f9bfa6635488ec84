from __future__ import annotations

import pytest

import trialtape as tt
from cassettes.model import Reply, Usage, Value
from replay.orchestration.budget import Budget
from tests.factories import interaction, model_call

PRICES = {"gpt-x": tt.Price(input=0.0, output=1e6)}  # an answer of n tokens costs n


def answer(tokens):
    return interaction(0, Value({}), call=model_call([]), reply=Reply(usage=Usage(input=1, output=tokens)))


def test_the_money_is_spent_when_the_limit_is_reached():
    budget = Budget(["r"], 10.0, PRICES, [])
    budget.spend([answer(4), answer(5)])
    with pytest.raises(tt.BudgetReached, match=r"run 'r': 10\.0000 of 10\.0000 is spent"):
        budget.spend([answer(1)])
    assert budget.cost == 10.0


def test_what_earlier_sessions_spent_counts_but_is_not_of_this_one():
    budget = Budget(["r"], 10.0, PRICES, [[answer(4)], [answer(6)]])
    with pytest.raises(tt.BudgetReached):
        budget.spend([])
    assert budget.cost == 0.0


def test_without_a_limit_costs_are_only_told():
    budget = Budget(["r"], None, PRICES, [])
    budget.spend([answer(1000)])
    assert budget.cost == 1000.0


def test_without_prices_nothing_is_told():
    budget = Budget(["r"], None, {}, [])
    budget.spend([answer(1)])
    assert budget.cost is None
