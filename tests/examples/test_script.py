"""Plans are read against a conversation: the place in them is found again in every request."""

import json
import random

from examples.support.moves import SKIP, call, say
from examples.support.script import Dice, Move, next_move, read_history, step

LOOK, WRITE = call("look", id=1), call("write", id=1)


def most_likely(plan, messages=()):
    return next_move(plan, messages, Dice(random.Random(0), 0.0))


def called(name, result, call_id="c1"):
    function = {"name": name, "arguments": "{}"}
    return [
        {"role": "assistant", "content": None, "tool_calls": [{"id": call_id, "function": function}]},
        {"role": "tool", "tool_call_id": call_id, "content": json.dumps(result)},
    ]


def test_steps_follow_each_other():
    plan = [step(LOOK), step(WRITE), step(say("Done."))]
    assert most_likely(plan) == LOOK
    assert most_likely(plan, called("look", {})) == WRITE
    assert most_likely(plan, called("look", {}) + called("write", {})).text == "Done."


def test_a_skipped_step_is_not_gone_back_to():
    plan = [step(LOOK, (0.6, SKIP)), step(WRITE), step(say("Done."))]
    assert most_likely(plan) == WRITE
    assert most_likely(plan, called("write", {})).text == "Done."


def test_a_slip_takes_the_place_of_its_step():
    plan = [step(LOOK, (0.1, call("peek"))), step(WRITE)]
    assert most_likely(plan, called("peek", {})) == WRITE


def test_an_extra_call_moves_nothing():
    assert most_likely([step(LOOK), step(WRITE)], called("other", {})) == LOOK


def test_a_step_that_stays_repeats():
    plan = [step(LOOK, (0.1, SKIP), stays=True), step(WRITE)]
    assert most_likely(plan, called("look", {}) * 3) == LOOK
    assert most_likely(plan, called("look", {}) + called("write", {})).text.startswith("That is all")


def test_a_condition_is_judged_at_the_moment_of_the_step():
    plan = [step(LOOK, when=lambda h: not h.did("look")), step(WRITE), step(LOOK)]
    assert most_likely(plan, called("look", {})) == WRITE


def test_texts_hold_results_and_make_up_what_is_missing():
    plan = [step(say("{look[price]:.2f} or {other[price]:.2f}"), (0.1, LOOK))]
    text = next_move([step(LOOK), *plan], called("look", {"price": 3}), Dice(random.Random(0), 0.0)).text
    assert text == "3.00 or 9.90"


def test_history_knows_what_was_said_and_found():
    messages = [*called("look", {"price": 3}), {"role": "assistant", "content": "It costs 3."}]
    now = read_history(messages)[-1]
    assert now.did("look")
    assert not now.did("look", 2)
    assert now.said("costs 3")
    assert now.result("look")["price"] == 3
    assert now.result("other") == {}
    assert now.moves[1] == Move(text="It costs 3.")


def share(temperature, drift=1.0):
    rng = random.Random(0)
    draws = [Dice(rng, temperature, drift).chance(0.2) for _ in range(4000)]
    return sum(draws) / len(draws)


def test_weights_are_probabilities_at_the_reference_temperature():
    assert 0.18 < share(0.7) < 0.22


def test_heat_evens_and_cold_sharpens():
    assert share(0.0) == 0
    assert share(0.35) < share(0.7) < share(1.4) < 0.5


def test_drift_makes_slips_likelier():
    assert share(0.7, drift=2.0) > 1.4 * share(0.7)
