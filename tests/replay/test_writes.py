from __future__ import annotations

import pytest
from attrs import evolve

from cassettes.errors import BadInput
from cassettes.model import Call, Error
from replay.leaves import ABSENT, LeafChange
from replay.writes import first_divergent_write, first_divergent_write_from_expected, matched_steps
from tests.replay.recorded import asks, keep, read, steps, undeclared, write


@pytest.fixture
def parting(home):
    """The first divergent write of two trials, told as lists of calls."""

    def compare(left, right, **header):
        return first_divergent_write(keep(home, "r/t#0", left, **header), keep(home, "r/t#1", right))

    return compare


def test_other_reads_and_other_words_are_no_divergence(parting):
    left = [asks("hello"), read("get", id=1), write(id=7)]
    right = [asks("good day"), read("search"), read("get", id=2), write(id=7)]
    assert parting(left, right) is None


def test_an_extra_write(parting):
    found = parting([write(id=1), read(), write("cancel", order="W2")], [write(id=1)])
    assert (found.kind, found.left.number, found.right) == ("extra", 2, None)
    assert found.line() == 'extra write: step 2 cancel(order="W2")'


def test_a_missing_write(parting):
    found = parting([write(id=1)], [write(id=1), write("refund", amount=5)])
    assert (found.kind, found.left, found.right.number) == ("missing", None, 1)
    assert found.line() == "missing write: refund(amount=5)"


def test_the_same_tool_with_other_arguments(parting):
    left = write("book", flights=["A", "B"], cabin="economy", insurance="no")
    right = write("book", flights=["A", "C"], cabin="business", seat=4)
    found = parting([left], [right])
    assert found.kind == "arguments"
    assert found.changes == (
        LeafChange("flights[1]", "B", "C"),
        LeafChange("cabin", "economy", "business"),
        LeafChange("insurance", "no", ABSENT),
        LeafChange("seat", ABSENT, 4),
    )
    assert found.line() == (
        "other arguments: step 0 book: flights[1] is 'B', not 'C'; cabin is 'economy', not 'business'; "
        "insurance is 'no', not absent; and 1 more"
    )


def test_another_tool(parting):
    found = parting([write("cancel", id=1)], [write("change", id=1)])
    assert found.kind == "other tool"
    assert found.line() == "other tool: step 0 cancel(id=1) instead of change(id=1)"


def test_the_first_of_several_is_told(parting):
    found = parting([write(id=1), write(id=2), write(id=3)], [write(id=1), write(id=9), write(id=8)])
    assert found.left.number == 1


def test_ignored_arguments_do_not_count(home, parting):
    config = {"config": {"ignore": ["tool:put:request"]}}
    assert parting([write(id=1, request="a")], [write(id=1, request="b")], **config) is None
    again = keep(home, "r/t#2", [write(id=1, request="a")], **config)
    found = first_divergent_write(again, keep(home, "r/t#3", [write(id=2, request="b")]))
    assert [change.path for change in found.changes] == ["id"]


def test_http_that_writes_is_a_write(parting):
    post = Call("http", "POST shop/orders", {"body": {"id": 1}}, effect="write")
    assert parting([post], [evolve(post, arguments={"body": {"id": 2}})]).changes == (LeafChange("body.id", 1, 2),)


def test_http_inside_a_tool_is_not_told_besides_the_tool(home):
    outer = steps([write(id=1)])
    inner = evolve(steps([write(), Call("http", "POST shop/orders", {}, effect="write")])[1], parent=0)
    with_http = keep(home, "r/t#0", [*outer, inner])
    assert first_divergent_write(with_http, keep(home, "r/t#1", [write(id=1)])) is None
    assert [step.number for step in matched_steps(with_http)] == [0]


def test_declared_writes_decide_before_calls_of_unknown_effect(parting):
    left = [undeclared("guess"), write(id=1)]
    found = parting(left, [write(id=2)])
    assert (found.kind, found.left.call.name, found.declared) == ("arguments", "put", True)


def test_where_declared_writes_are_identical_calls_of_unknown_effect_are_told_as_such(parting):
    found = parting([write(id=1), undeclared("do", n=1)], [write(id=1), undeclared("do", n=2)])
    assert (found.kind, found.declared) == ("arguments", False)
    assert found.line() == "other arguments: step 1 do: n is 1, not 2 (no effect is declared: it may be a read)"


def test_a_write_that_failed_is_told_as_failed(home):
    failed = evolve(steps([write(id=1)])[0], outcome=Error(ValueError("no")))
    found = first_divergent_write(keep(home, "r/t#0", [failed]), keep(home, "r/t#1", [read()]))
    assert found.line() == "extra write: step 0 put(id=1) (it failed)"


def test_as_data_both_sides_and_the_changes_are_there(parting):
    assert parting([write(id=1)], [write(id=2)]).to_dict() == {
        "kind": "arguments",
        "line": "other arguments: step 0 put: id is 1, not 2",
        "declared": True,
        "left": {"step": 0, "name": "put", "effect": "write", "arguments": {"id": 1}},
        "right": {"step": 0, "name": "put", "effect": "write", "arguments": {"id": 2}},
        "changes": [{"path": "id", "left": 1, "right": 2}],
    }


# -- what the task expects ---------------------------------------------------------------------------------------------


def test_expected_actions_are_compared_by_their_writes(home):
    view = keep(home, "r/t#0", [read("get", id=3), write("cancel", id=3)])
    reads_otherwise = [{"name": "get", "kwargs": {"id": 9}}, {"name": "cancel", "kwargs": {"id": 3}}]
    assert first_divergent_write_from_expected(view, reads_otherwise) is None
    found = first_divergent_write_from_expected(view, [{"name": "cancel", "kwargs": {"id": 4}}])
    assert found.line() == "other arguments: step 1 cancel: id is 3, not 4"


def test_an_expected_write_that_never_came_is_missing(home):
    view = keep(home, "r/t#0", [read()])
    expected = [{"name": "cancel_reservation", "kwargs": {"reservation_id": "Z"}}]
    found = first_divergent_write_from_expected(view, expected)
    assert (found.kind, found.declared) == ("missing", True)  # the benchmark's tools are known


def test_expected_actions_of_another_form_are_refused(home):
    view = keep(home, "r/t#0", [read()])
    with pytest.raises(BadInput, match="expected action 0 of the task is 'cancel'"):
        first_divergent_write_from_expected(view, ["cancel"])
