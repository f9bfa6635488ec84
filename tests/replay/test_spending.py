from __future__ import annotations

import pytest

from cassettes.errors import BadInput
from cassettes.model import Error, Origin, Reply, Usage, Value
from replay.spending import Price, cost_of
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
