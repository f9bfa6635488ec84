from __future__ import annotations

import pytest
from attrs import evolve

from cassettes.errors import BadInput
from cassettes.model import Error, Origin, Reply, Usage, Value
from replay.prices import PriceList
from replay.spending import Price, Spent, cost_of, money, priced, spent_by
from tests import factories

PRICES = {"gpt-x": Price(input=2.0, output=10.0, cached=1.0)}


def asked(reply=None, outcome=None, **options):
    return factories.interaction(
        0, outcome or Value({"status": 200}), call=factories.model_call([]), reply=reply, **options
    )


def used(**tokens):
    return Reply(usage=Usage(**tokens))


def test_tokens_times_price_cached_ones_by_theirs():
    call = asked(used(input=1_000_000, output=100_000, cached=400_000))
    assert cost_of([call], PRICES) == pytest.approx(0.6 * 2 + 0.4 * 1 + 0.1 * 10)


def test_cached_tokens_cost_as_others_unless_said():
    call = asked(used(input=1_000_000, output=0, cached=400_000))
    assert cost_of([call], {"gpt-x": Price(2.0, 10.0)}) == pytest.approx(2.0)


def test_answers_from_recordings_and_tools_cost_nothing():
    assert cost_of([asked(origin=Origin("own", "r/t#0", 1)), factories.interaction(1)], {}) == 0.0


def test_a_refused_call_and_one_that_reached_nobody_are_not_billed():
    refused = asked(Reply(error="rate limit"))
    nobody = asked(outcome=Error(ConnectionError("refused")))
    assert cost_of([refused, nobody], PRICES) == 0.0


def test_an_unknown_price_is_not_zero():
    with pytest.raises(BadInput, match="cost of model 'gpt-x' is unknown"):
        cost_of([asked(used(input=1, output=1))], {"other": Price(1, 1)})


@pytest.mark.parametrize("reply", [None, Reply(), used(input=3), used(output=3)])
def test_an_answer_that_tells_no_usage_has_no_known_cost(reply):
    with pytest.raises(BadInput, match="told no usage"):
        cost_of([asked(reply)], PRICES)


def test_a_price_that_holds_for_short_prompts_does_not_tell_that_of_a_long_one():
    prices = {"gpt-x": Price(2.0, 10.0, up_to=100)}
    assert cost_of([asked(used(input=100, output=0))], prices) == pytest.approx(2e-4)
    with pytest.raises(BadInput, match=r"up to 100 tokens, and one has 101"):
        cost_of([asked(used(input=101, output=0))], prices)


# -- costs as they are told


def cost(*calls, **own):
    return priced(spent_by(calls), PriceList({name.replace("_", "-"): price for name, price in own.items()}))


def named(model, reply, **options):
    return evolve(asked(reply, **options), call=factories.call("model", model, arguments={"messages": []}))


def of(actor, model, reply):
    return evolve(asked(reply), call=factories.call("model", model, arguments={"messages": []}, actor=actor))


def test_what_the_simulated_user_used_and_cost_is_told_apart():
    told = cost(
        of("agent", "a", used(input=1_000_000, output=10)),
        of("user", "u", used(input=500_000, output=20)),
        of("user", "a", used(input=100_000, output=0)),
        a=Price(1, 0),
        u=Price(2, 0),
    )
    assert told.amount == pytest.approx(2.1)
    assert told.line() == (
        "live model calls: 1600000 tokens in, 30 out (agent 1000000 in, 10 out, 1.0000; user 600000 in, 20 out, "
        "1.1000), cost 2.1000, by the suite's own prices"
    )
    assert told.to_dict()["by_actor"]["user"]["amount"] == pytest.approx(1.1)


def test_of_a_share_with_a_model_that_has_no_price_only_tokens_are_told():
    told = cost(of("agent", "a", used(input=10, output=1)), of("user", "u", None), a=Price(1, 0))
    assert "(agent 10 in, 1 out, 0.00001; user 1 calls), cost unknown: no price for u" in told.line()
    assert told.shares["user"].amount is None


def test_a_cost_tells_its_tokens_and_the_date_of_its_prices():
    told = cost(*[named("gpt-4o", used(input=1_000, output=100, cached=400))] * 2)
    assert told.amount == told.at_least == pytest.approx(2 * (600 * 2.5 + 400 * 1.25 + 100 * 10) / 1e6)
    date = PriceList().find("gpt-4o").date
    assert told.line() == f"live model calls: 2000 tokens in, 200 out, cost 0.006 USD, prices of {date}"
    assert told.to_dict() == {
        "amount": told.amount,
        "at_least": told.amount,
        "currency": "USD",
        "prices_date": date,
        "own_prices": False,
        "unknown": {},
        "calls": 2,
        "input_tokens": 2000,
        "output_tokens": 200,
        "by_actor": {},
    }


def test_of_several_dates_the_oldest_is_told():
    both = [named("gpt-4o", used(input=1, output=1)), named("claude-haiku-4-5", used(input=1, output=1))]
    dates = [PriceList().find(call.call.name).date for call in both]
    assert dates[0] < dates[1]
    assert cost(*both).date == cost(*reversed(both)).date == dates[0]


def test_a_suites_own_prices_are_said_to_be():
    assert str(cost(asked(used(input=10_000, output=0)), gpt_x=Price(5.0, 5.0))) == (
        "cost 0.0500, by the suite's own prices"
    )
    mixed = cost(asked(used(input=1, output=0)), named("gpt-4o", used(input=1, output=0)), gpt_x=Price(5.0, 5.0))
    assert str(mixed).endswith(f"prices of {mixed.date} and the suite's own")


def test_an_unknown_cost_is_no_number():
    told = cost(asked(used(input=5, output=5)))
    assert (told.amount, told.at_least) == (None, None)
    assert str(told) == "cost unknown: no price for gpt-x"
    assert told.line() == "live model calls: 5 tokens in, 5 out, cost unknown: no price for gpt-x"


def test_models_without_a_price_are_named_together():
    told = cost(named("a", used(input=5, output=5)), named("gpt-4o", None), named("b", used(input=5, output=5)))
    assert str(told) == "cost unknown: no price for a, b; a call of gpt-4o told no usage"
    assert told.unknown == {"a": "no price for a", "gpt-4o": "a call of gpt-4o told no usage", "b": "no price for b"}


def test_what_is_known_of_an_unknown_cost_is_told():
    told = cost(asked(used(input=5, output=5)), named("gpt-4o", used(input=4_000, output=0)))
    assert (told.amount, told.at_least) == (None, pytest.approx(0.01))
    assert str(told).startswith("cost unknown: no price for gpt-x; at least 0.0100 USD, prices of ")


def test_calls_that_told_no_usage_and_long_prompts_make_a_cost_unknown():
    some = cost(named("gpt-4o", None), named("gpt-4o", used(input=4_000, output=0)))
    assert str(some).startswith("cost unknown: 1 of 2 calls of gpt-4o told no usage; at least 0.0100 USD")
    assert str(cost(named("gpt-4o", None))) == "cost unknown: a call of gpt-4o told no usage"
    long = cost(named("gemini-2.5-pro", used(input=200_001, output=1)))
    assert str(long) == "cost unknown: no price for gemini-2.5-pro with prompts of more than 200000 tokens"


def test_frozen_calls_and_refused_ones_cost_nothing():
    told = cost(asked(origin=Origin("own", "r/t#0", 1)), asked(Reply(error="rate limit")), factories.interaction(1))
    assert (told.amount, told.calls) == (0.0, 0)
    assert told.line() == "live model calls: none, so cost 0"


@pytest.mark.parametrize(
    ("amount", "text"), [(0, "0.0000"), (12.5, "12.5000"), (0.0123456, "0.0123"), (0.0000123456, "0.0000123")]
)
def test_a_small_amount_is_not_rounded_to_nothing(amount, text):
    assert money(amount) == text


def test_what_was_written_to_a_cache_has_no_cost_without_a_price_of_its_own():
    spent = Spent("m", calls=1, input=1000, output=100, cached=200, written=500)
    assert priced([spent], PriceList({"m": Price(1.0, 2.0)})).amount is None
    cost = priced([spent], PriceList({"m": Price(1.0, 2.0, cached=0.1, written=1.25)}))
    assert cost.amount == pytest.approx((300 * 1.0 + 200 * 0.1 + 500 * 1.25 + 100 * 2.0) / 1e6)
