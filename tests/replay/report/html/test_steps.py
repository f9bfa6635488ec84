from __future__ import annotations

import json

import pytest

from cassettes.model import Cancelled, Chunk, Error, Mark, Origin, Patch, Stream
from cassettes.values import pack
from replay.report.html.steps import call_line, changes_of, steps_of
from replay.view import View
from tests import factories
from tests.reports import HOSTILE, conversation, hostile, model, patch, tool


@pytest.fixture
def view(tmp_path):
    return lambda steps: View(factories.write_cassette(tmp_path / "0.cassette", steps))


def test_a_conversation_is_told_step_by_step(view):
    steps, after = steps_of(view(conversation(origin=Origin("own", "base/a#0", 1))))
    assert [(step["n"], step["kind"], step["name"]) for step in steps] == [
        (0, "model", "gpt-x"),
        (1, "tool", "get_order"),
        (2, "model", "gpt-x"),
        (3, "model", "gpt-x"),
        (4, "tool", "issue_refund"),
        (5, "model", "gpt-x"),
    ]
    assert steps[4]["changes"] == [["orders.W1.refunded", "0.0", "16.0"]]
    assert steps[1]["origin"] == "own"
    assert steps[1]["from"] == "base/a#0 step 1"
    assert steps[0]["tokens"] == "100 tokens in, 10 out"
    assert steps[1]["time"] == "+1.00 s, took 250 ms"
    assert after == []


def test_frozen_writes_that_were_carried_out_stand_at_the_call_that_needed_them(tmp_path):
    done = {"step": 0, "before": 1, "name": "pay", "other": None, "seconds": 0.1, "outcome": None}
    marks = [Mark("caught_up", 0.0, done), Mark("caught_up", 0.0, {**done, "name": "<b>", "other": "9 instead of 7"})]
    path = factories.write_cassette(tmp_path / "0.cassette", conversation(), marks=marks)
    steps, _ = steps_of(View(path))
    assert [step.get("carried") for step in steps[:3]] == [
        None,
        [
            ["pay (step 0) carried out → the same outcome", False],
            ["<b> (step 0) carried out → another outcome: 9 instead of 7", True],
        ],
        None,
    ]


def test_arguments_are_not_said_twice(view):
    steps, _ = steps_of(view(conversation()))
    assert steps[0]["calls"] == [["get_order"]]
    assert json.loads(steps[1]["args"]) == {"order_id": "W1"}


def test_arguments_of_a_call_that_was_not_made_are_kept(view):
    steps, _ = steps_of(view([model(0, [], asks=[("gone", '{"a": 1}'), ("torn", '{"a": ')])]))
    assert steps[0]["calls"] == [["gone", '{"a": 1}'], ["torn", '{"a": ']]


def test_what_came_back_is_told_whatever_it_was(view):
    chunks = (Chunk(0.0, b"data: one\n"), Chunk(0.1, "two"))
    steps, _ = steps_of(
        view(
            [
                tool(0, "fails", "read", {}, Error(ValueError("no <b>"))),
                tool(1, "empty", "read", {}, ""),
                tool(2, "missed", "read", {}, Error(ValueError("x")), origin=Origin("missed")),
                factories.interaction(3, Cancelled(), call=factories.call()),
                factories.interaction(4, Stream({}, chunks, complete=False), call=factories.call()),
            ]
        )
    )
    assert [(step.get("result"), step.get("failed", False)) for step in steps] == [
        ("ValueError: no <b>", True),
        ("", False),
        ("no recorded answer", True),
        ("cancelled by the caller", True),
        ("data: one\ntwo\n(stream of 2 chunks, cut short by the consumer)", False),
    ]


def test_hostile_text_stays_text_and_becomes_visible(view):
    steps, _ = steps_of(view(hostile()))
    results = [step["result"] for step in steps[: len(HOSTILE)]]
    assert results[0] == HOSTILE["script"]
    assert "⟦U+202E⟧" in "".join(results)
    assert "␀" in "".join(results)
    json.dumps(steps, ensure_ascii=False).encode("utf-8")


def test_a_patch_is_told_leaf_by_leaf():
    assert changes_of(patch({"a": 1, "b": [1, 2]}, {"a": 1, "b": [1, 3]})) == [["orders.W1.b[1]", "2", "3"]]
    assert changes_of(Patch(((("notes", "n1"), None, pack("hello")),))) == [["notes.n1", "", '"hello"']]
    assert changes_of(Patch(((("notes",), pack(1), None),))) == [["notes", "1", ""]]


def test_very_many_changes_are_cut_and_that_is_told():
    found = changes_of(patch({}, {str(i): i for i in range(100)}))
    assert len(found) == 61
    assert found[-1] == ["and 40 more", "", ""]


def test_a_call_on_one_line(view):
    first, second, third, *_ = view(conversation()).steps
    assert call_line(first) == "→ get_order(…)"
    assert call_line(second) == 'get_order(order_id="W1")'
    assert call_line(third) == "Refund?"
