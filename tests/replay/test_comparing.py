from __future__ import annotations

import pytest
from attrs import evolve

import trialtape as tt
from cassettes.errors import BadInput
from cassettes.model import Cancelled, Chunk, Error, Reply, Stream, ToolRequest, Value
from replay.comparing import compared, compared_with_expected, state_changes
from replay.leaves import ABSENT, LeafChange
from replay.view import open_trial
from tests.replay.recorded import asks, keep, read, steps, write


def pair(home, left, right, **options):
    return compared(keep(home, "r/t#0", left), keep(home, "q/t#1", right), **options)


def answered(call, outcome, **options):
    return evolve(steps([call])[0], outcome=outcome, **options)


def results(home, left, right):
    call = read(id=1)
    return pair(home, [answered(call, left)], [answered(call, right)]).rows[0].results


def test_equal_trials_are_equal_whatever_the_run(home):
    found = pair(home, [read(id=1), write(id=2)], [read(id=1), write(id=2)])
    assert (found.equal, found.first_write, found.first_other) == (True, None, None)


def test_a_same_call_with_another_result_is_not_equal(home):
    call = read(id=1)
    found = pair(home, [answered(call, Value({"n": 1}))], [answered(call, Value({"n": 2}))])
    assert [row.kind for row in found.rows] == ["same"]
    assert not found.equal
    assert found.first_other.results == (LeafChange("n", 1, 2),)


def test_texts_that_hold_json_are_compared_leaf_by_leaf(home):
    assert results(home, Value('{"a": [1, 2]}'), Value('{"a": [1, 3]}')) == (LeafChange("a[1]", 2, 3),)


def test_texts_that_only_look_like_json_are_compared_as_texts(home):
    assert results(home, Value("{half"), Value("{hal")) == (LeafChange("", "{half", "{hal"),)


def test_errors_and_cancelled_calls_are_results(home):
    assert results(home, Error(ValueError("no")), Error(ValueError("never"))) == (
        LeafChange("raised", "ValueError: no", "ValueError: never"),
    )


def test_a_cancelled_call_has_another_result_than_an_answered_one(home):
    assert [change.path for change in results(home, Cancelled(), Value({"a": 1}))] == ["cancelled", "a"]


def test_how_a_stream_was_cut_does_not_count(home):
    cut = Stream(None, (Chunk(0.0, "ab"), Chunk(0.5, "c")))
    whole = Stream(None, (Chunk(0.0, "abc"),))
    assert results(home, cut, whole) == ()


def test_arguments_that_differ_are_told_with_the_rest(home):
    found = pair(home, [read("a"), write(id=1, x=1)], [read("a"), write(id=1, x=2)])
    assert [row.kind for row in found.rows] == ["same", "arguments"]
    assert found.rows[1].arguments == found.first_write.changes == (LeafChange("x", 1, 2),)


def test_only_writes_can_be_compared(home):
    found = pair(home, [read(id=1), write(id=1)], [read(id=2), write(id=1)], part="writes")
    assert found.equal
    assert len(found.rows) == 1


def test_model_calls_are_compared_on_demand_by_what_was_asked_and_answered(home):
    def said(text):
        return Reply(text, (ToolRequest("1", "get", '{"id": 1}'),))

    left = answered(asks("hello"), Value({}), reply=said("yes"))
    right = answered(asks("hi"), Value({}), reply=said("no"))
    a, b = keep(home, "r/t#0", [left]), keep(home, "r/t#1", [right])
    assert compared(a, b).equal
    row = compared(a, b, "all").rows[0]
    assert row.arguments == (LeafChange("messages[0].content", "hello", "hi"),)
    assert row.results == (LeafChange("text", "yes", "no"),)


def test_of_expected_actions_no_result_is_compared(home):
    view = keep(home, "r/t#0", [write("cancel", id=1)])
    found = compared_with_expected(view, [{"name": "cancel", "kwargs": {"id": 1}}])
    assert (found.equal, [row.kind for row in found.rows]) == (True, ["same"])


def test_as_data_values_are_json(home):
    found = pair(home, [answered(read(), Value({"b": b"x"}))], [answered(read(), Value({"b": None}))])
    assert found.to_dict()["rows"][0]["results"] == [
        {"path": "b", "left": {"$type": "bytes", "base64": "eA=="}, "right": None}
    ]


@tt.tool(effect="write", external=False, ignore=["db"])
def rename(db: dict, key: str, name: str) -> str:
    db["names"][key] = name
    return "done"


def test_final_states_are_compared_leaf_by_leaf(home):
    for index, name in enumerate(["b", "c"]):
        with tt.trial(run="r", task="t", index=index, home=home.root) as trial:
            db = {"names": {"x": "a", "y": "a"}}
            trial.track(db)
            rename(db, "x", name)
            rename(db, name, "new")
    a, b = (open_trial(f"r/t#{index}", home) for index in (0, 1))
    assert state_changes(a, b) == (
        LeafChange("names.x", "b", "c"),
        LeafChange("names.b", "new", ABSENT),
        LeafChange("names.c", ABSENT, "new"),
    )
    assert state_changes(a, a) == ()


def test_without_a_tracked_state_there_is_none_to_compare(home):
    view = keep(home, "r/t#0", [read()])
    with pytest.raises(BadInput, match="tracked no state"):
        state_changes(view, view)
