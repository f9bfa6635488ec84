"""The demo's noise: the outside's share, frozen in recorded worlds, beside the true one."""

from __future__ import annotations

import pytest

from benchmarks import outside_share
from benchmarks.outside_share import measured, true_share
from examples.support.shop import Shop


@pytest.mark.parametrize("zip_code", ["55122", "28203", "89073", "54290"])
def test_the_chance_of_a_dear_quote_is_that_of_the_shops_own_draws(zip_code):
    seeds = range(2000)
    dear = sum(Shop({}, seed=seed).shipping_quote(zip_code)["price"] > outside_share.LIMIT for seed in seeds)
    assert dear / len(seeds) == pytest.approx(outside_share._chance("shipping_quote", zip_code), abs=0.04)


def test_the_chance_of_being_sold_out_is_that_of_the_shops_own_draws():
    seeds = range(2000)
    shop = {"products": {"MUG": {}}}
    empty = sum(Shop(shop, seed=seed).stock_check("MUG")["available"] == 0 for seed in seeds)
    assert empty / len(seeds) == pytest.approx(outside_share.SOLD_OUT, abs=0.04)


@pytest.fixture(scope="module")
def truth():
    return true_share(trials=400)


@pytest.mark.slow
def test_the_true_share_lies_within_the_interval_of_four_worlds_of_six_trials(truth):
    found = measured(worlds=4, trials=6, jobs=1)
    assert (found.noise.tasks, found.noise.worlds, found.noise.trials) == (25, 100, 600)
    assert found.noise.share.low <= truth <= found.noise.share.high
    assert found.coverage.whole == found.coverage.trials
    exact = sum(found.coverage.verdicts.get(name, 0) for name in ("own", "borrowed", "repeated"))
    assert exact >= 0.95 * sum(found.coverage.verdicts.values())


@pytest.mark.slow
def test_where_the_outside_stands_still_the_share_is_zero():
    found = measured(worlds=4, trials=6, drift=False, jobs=1)
    assert found.noise.share.low <= 0 <= found.noise.share.high
