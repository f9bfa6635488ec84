"""The pages about a step, as text."""

from __future__ import annotations

import pytest
from attrs import evolve

from cassettes.model import Cancelled, Chunk, Mark, Reply, Stream, Value
from replay.debugger.beside import Row
from replay.debugger.desk import MESSAGES, RAW, SCORES, STATE, STEP, Desk
from replay.debugger.opened import compare, home_of, surroundings
from replay.debugger.side import Side
from replay.home import Home
from replay.labelling.labels import Label, append_label
from replay.view import View, open_trial
from tests.factories import write_cassette
from tests.replay.debugger.scene import failing, frozen, model, said, scene, tool
from tests.replay.recorded import keep


def text_of(page):
    return "\n".join(line.plain for line in page.lines)


def page(view, step, tab=STEP):
    return text_of(Desk(view, at=step).page(tab))


def recorded(home, *steps, **options):
    return keep(home, "x/t#0", list(steps), **options)


def test_a_step_tells_what_was_asked_what_came_back_and_what_it_changed(home):
    told = page(scene(home), 5)
    assert "step 5 write cancel_order" in told
    assert "effect       write, tracked state" in told
    assert '"order_id": "W2"' in told
    assert "orders.W2.status\n  - before open\n  + after  cancelled" in told


def test_a_model_call_tells_whom_it_heard_what_it_said_and_what_it_asked_for(home):
    told = page(scene(home), 4)
    assert "heard\nIt is W1." in told
    assert "→ cancel_order" in told
    assert "tokens       104 in, 7 out" in told
    assert "cost         unknown: no price for shop-1" in told


def test_what_differs_is_told_leaf_by_leaf(home):
    view = scene(home)
    desk = Desk(view, at=5)
    desk.compared(compare(desk.side, Side(open_trial("r/refund#1", home))))
    told = text_of(desk.page(STEP))
    assert "differs from step 3 of r/refund#1" in told
    assert "order_id\n  - reference  W1\n  + this trial W2" in told
    assert "◆ other arguments: step 5 cancel_order" in told


def test_the_same_call_with_another_result_tells_the_results(home):
    view = keep(home, "x/t#0", [tool(0, "get", '{"status": "open", "n": 1}')])
    other = keep(home, "x/t#1", [tool(0, "get", '{"status": "shipped", "n": 1}')])
    desk = Desk(view)
    desk.compared(compare(desk.side, Side(other)))
    assert "status\n  - reference  shipped\n  + this trial open" in text_of(desk.page(STEP))


def test_what_only_the_other_trial_has_is_told_as_its(home):
    view = scene(home)
    desk = Desk(view)
    desk.compared(compare(desk.side, Side(open_trial("r/refund#1", home))))
    desk.put(next(at for at, row in enumerate(desk.rows) if row.left is None))
    assert "only in r/refund#1\n\nstep 4 write send_mail" in text_of(desk.page(STEP))
    assert "step 2: 4 messages to shop-1" in text_of(desk.page(MESSAGES))
    assert "the state after step 4" in text_of(desk.page(STATE))


def test_frozen_writes_that_were_carried_out_stand_at_the_call_that_needed_them(home):
    done = {"step": 0, "before": 1, "name": "pay", "other": None, "seconds": 0.1, "outcome": None}
    view = recorded(home, tool(0, "pay", "ok"), tool(1, "get", "7"), marks=[Mark("caught_up", 0.0, done)])
    assert "before it    frozen write pay (step 0) carried out → the same outcome" in page(view, 1)
    assert "carried out" not in page(view, 0)


def test_a_text_that_holds_json_is_laid_out_and_said_to_be_a_text(home):
    told = page(recorded(home, tool(0, "get", '{"a":{"b":1}}')), 0)
    assert '(a text that holds JSON, laid out)\n{\n  "a": {\n    "b": 1\n  }\n}' in told


def test_a_time_that_nobody_recorded_is_unknown(home):
    assert "when         unknown" in page(recorded(home, tool(0, "get", 1), began=0.0), 0)


def test_a_cancelled_call_says_so(home):
    assert "raised\ncancelled by the caller" in page(recorded(home, evolve(tool(0, "get", 1), outcome=Cancelled())), 0)


def test_a_frozen_step_tells_how_it_was_answered(home):
    view = frozen(home)
    assert "answered     exact (own) from r/refund#0 step 1" in page(view, 0)
    told = page(view, 1)
    assert "answered     missed" in told
    assert "missed, because\nUnanswered: step 1: tool get_order has no answer" in told
    assert "order W9 was never asked for" in told


def test_messages_are_told_exactly_and_begin_with_the_new_ones(home):
    odd = {"role": "tool", "tool_call_id": "c1", "content": [{"type": "text", "text": "hi"}]}
    first = said("Hello")
    view = recorded(home, model(0, first, "Hm."), model(1, [*first, odd], "Yes."))
    desk = Desk(view, at=1)
    made = desk.page(MESSAGES)
    told = text_of(made)
    assert "step 1: 3 messages to shop-1, 1 new" in told
    assert '"tool_call_id": "c1"' in told
    assert '"text": "hi"' in told
    assert '"temperature": 0.5' in told
    assert "* 2 tool new" in made.lines[made.start].plain


def test_before_the_first_model_call_there_are_no_messages(home):
    assert "no model was asked before this step" in page(recorded(home, tool(0, "get", 1)), 0, MESSAGES)


def test_raw_http_is_told_as_it_went_over_the_wire(home):
    told = page(scene(home), 0, RAW)
    assert "POST https://models.example/v1/chat/completions\ncontent-type: application/json" in told
    assert '"content": "Please cancel my order."' in told
    assert "HTTP/1.1 200\nx-request-id: r0" in told
    assert '{"choices": [{"message"' in told


def test_raw_http_of_a_tool_is_what_happened_inside(home):
    told = page(scene(home), 1, RAW)
    assert "step 2: sent\nGET https://warehouse.example/orders/W1\naccept: application/json" in told
    assert '{"status": "open"}' in told


def test_a_stream_is_told_piece_by_piece_with_its_times(home):
    pieces = (Chunk(0.0123, b"data: {}\n\n"), Chunk(0.5, b"data: [DONE]\n\n"))
    head = {"status": 200, "headers": [], "encoding": None, "http_version": "HTTP/1.1"}
    streamed = evolve(model(0, said("x"), "y"), outcome=Stream(head, pieces, complete=False))
    told = page(recorded(home, streamed), 0, RAW)
    assert "+0.0123 s    data: {}" in told
    assert "+0.5000 s    data: [DONE]" in told
    assert "stream of 2 chunks, cut short by the consumer" in told


def test_a_model_call_that_was_not_read_is_told_by_its_outcome(home):
    unread = evolve(model(0, said("x"), "y"), reply=None, outcome=Value({"status": 500, "body": "busy"}))
    assert "busy" in page(recorded(home, unread), 0)


def test_the_state_is_the_one_after_the_step(home):
    view = scene(home)
    assert '"W2": {\n      "status": "open"' in page(view, 4, STATE)
    assert "nothing in the tracked state" in page(view, 4, STATE)
    assert '"W2": {\n      "status": "cancelled"' in page(view, 5, STATE)


def test_a_state_that_was_not_tracked_is_unknown(home):
    told = page(recorded(home, tool(0, "get", 1)), 0, STATE)
    assert "unknown: the trial tracked no state; trial.track(state) does, while recording" in told


def test_a_state_whose_beginning_is_gone_is_told_as_such(home):
    view = scene(home)
    for kept in (home.root / "states").iterdir():
        kept.unlink()
    assert "the initial state" in page(view, 5, STATE)


def test_a_long_state_is_cut_with_the_number_of_lines_left_out(home, monkeypatch):
    monkeypatch.setattr("replay.debugger.documents._MOST_STATE", 3)
    assert "... and 7 more lines" in page(scene(home), 5, STATE)


def test_scores_are_told_with_labels_and_costs(home):
    view = scene(home)
    append_label(home, Label(trial=str(view.id), author="Ada", fault="agent", type="wrong-order", step=5, note="W2"))
    told = page(view, 0, SCORES)
    assert "failed  s@1" in told
    assert "step 5: agent (wrong-order)\n  W2 (Ada" in told
    assert "live model calls: 310 tokens in, 21 out" in told


def test_what_cannot_be_read_of_the_home_is_told_and_stops_nothing(home):
    view = scene(home)
    (home.run("r") / "run.json").write_text("{")
    (home.run("r") / "labels.jsonl").write_text("{\n")
    around = surroundings(view)
    assert around.passed is None
    assert len(around.troubles) == 2
    assert all(trouble in page(view, 0, SCORES) for trouble in around.troubles)


def test_the_home_of_a_trial_is_known_from_its_path(home, tmp_path):
    assert home_of(scene(home)) == Home(home.root.resolve())
    assert home_of(View(write_cassette(tmp_path / "a.cassette", failing()))) is None


def test_a_cost_is_told_for_live_model_calls_alone(home):
    around = surroundings(scene(home))
    live = model(0, said("x"), "y")
    assert around.cost_of(live) == "unknown: no price for shop-1"
    assert around.cost_of(tool(0, "get", 1)) is None
    replayed = evolve(live, origin=evolve(live.origin, verdict="own"))
    assert around.cost_of(replayed) == "nothing: answered from a recording"
    refused = evolve(live, outcome=Value({"status": 429, "body": "{}"}), reply=Reply(error="slow down"))
    assert around.cost_of(refused) == "nothing: refused, or reached nobody"


def test_folding_hides_and_a_jump_unfolds(home):
    view = keep(home, "x/t#0", failing())
    desk = Desk(view)
    desk.compared(compare(desk.side, Side(keep(home, "x/t#1", failing()))))
    desk.fold(folding=True)
    assert desk.shown == [Row("=", 0, 0, hidden=7)]
    desk.put(3)
    assert not desk.folding
    assert desk.shown_place == 3


@pytest.mark.parametrize("tab", [STEP, MESSAGES, RAW, STATE])
def test_a_trial_without_steps_has_empty_pages(home, tab):
    assert text_of(Desk(keep(home, "x/t#0")).page(tab)) == "the trial has no steps"
