from __future__ import annotations

import json

import pytest

import trialtape as tt
from cassettes.model import Reply, Usage
from replay.analysis.lab_plan import lab_plan
from replay.store import Store
from tests import factories
from tests.replay.verdicts import make_run, passes

SUITE = {f"t{task}": passes(task % 9, 8) for task in range(18)}


@pytest.fixture
def plan(home):
    def told(*arguments, **options):
        with Store(home) as store:
            store.refresh()
            return lab_plan(store, "r", *arguments, **options)

    return told


def test_more_trials_than_k_need_fewer_in_all(home, plan):
    make_run(home, "r", SUITE)
    found = plan(0.05, k=4)

    assert [design.trials for design in found.designs] == [4, 8, 12, 16]
    assert found.designs[0].total > 1.2 * found.best.total
    assert found.designs[0].tasks > 2 * found.designs[1].tasks
    assert [design.power for design in found.designs] == sorted(design.power for design in found.designs)
    assert all(design.total == 2 * design.tasks * design.trials for design in found.designs)


def test_a_smaller_difference_or_more_power_needs_more(home, plan):
    make_run(home, "r", SUITE)
    first = plan(0.1, trials=[4]).designs[0].tasks
    assert plan(0.05, trials=[4]).designs[0].tasks > 2 * first
    assert plan(0.1, trials=[4], power=0.95).designs[0].tasks > first
    assert plan(-0.1, trials=[4]).designs[0].tasks == pytest.approx(first, rel=0.5)


def test_the_cost_is_that_of_the_recorded_trials(home, plan):
    reply = factories.model_call([{"role": "user", "content": "?"}])
    make_run(home, "r", SUITE, interactions=[factories.interaction(0, call=reply)])
    found = plan(0.1)
    assert (found.cost_per_trial, found.designs[0].cost) == (None, None)
    assert "cost unknown" in found.cost_unknown


def test_a_design_costs_its_trials_at_their_mean(home, plan):
    call = factories.model_call([{"role": "user", "content": "?"}])
    asked = factories.interaction(0, call=call, reply=Reply(usage=Usage(input=1000, output=100)))
    prices = {"gpt-x": {"input": 1.0, "output": 10.0}}  # USD per million tokens
    make_run(home, "r", SUITE, interactions=[asked], about={"prices": prices})
    found = plan(0.1, trials=[4, 8])
    assert found.cost_per_trial == pytest.approx(0.002)
    assert [design.cost for design in found.designs] == [
        pytest.approx(0.002 * design.total) for design in found.designs
    ]


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        ((0.9,), {}, r"pass\^1 can change by .* not by \+0.9"),
        ((0.0,), {}, "a difference of 0 is never found"),
        ((0.1,), {"k": 4, "trials": [2]}, "k = 4 needs at least as many trials, got 2"),
    ],
)
def test_what_cannot_be_planned_is_refused(home, plan, arguments, options, message):
    make_run(home, "r", SUITE)
    with pytest.raises(tt.BadInput, match=message):
        plan(*arguments, **options)


def test_as_data_it_is_json(home, plan):
    make_run(home, "r", SUITE)
    assert json.loads(json.dumps(plan(0.1, k=2).to_dict(), allow_nan=False))["best"]["trials"] >= 2
