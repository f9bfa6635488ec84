"""At which steps a trial is forked, and what lies between them."""

from __future__ import annotations

import pytest

import trialtape as tt
from cassettes.model import Reply, ToolRequest, Value
from replay.branching.fork_points import Stretch, points_of, stretches
from tests.factories import call, interaction, model_call, write_cassette


def said(step, *asked, actor="agent", **times):
    made = model_call([{"role": "user", "content": str(step)}])
    reply = Reply(text=None if asked else "ok", tool_calls=tuple(ToolRequest(None, name, "{}") for name in asked))
    return interaction(step, Value({"status": 200, "body": ""}), call=made, reply=reply, **times)


def did(step, name, effect="read", **options):
    return interaction(step, Value(1), call=call(name=name, effect=effect, arguments={"id": step}), **options)


@pytest.fixture
def view(tmp_path):
    def make(*steps):
        return tt.open(write_cassette(tmp_path / "x.cassette", steps))

    return make


@pytest.fixture
def shop(view):
    return view(
        said(0, "get_order"),
        did(1, "get_order"),
        said(2, "cancel"),
        did(3, "cancel", "write"),
        said(4),
        said(5, "refund", "note"),
        did(6, "refund", "write", started=12, ended=15),
        did(7, "note", "write", started=13, ended=14),
        said(8, started=16, ended=17),
    )


def test_each_write_is_forked_where_it_was_decided_and_after_the_last(shop):
    assert points_of("each-write", shop) == [2, 5, 8]


def test_each_step_is_forked_before_it_and_after_the_last(shop):
    assert points_of("each-step", shop) == [*range(9), 9]


@pytest.mark.parametrize(("text", "expected"), [("4", [4]), ("7,3", [3, 7]), ("3, 3,7", [3, 7]), ("-1", [-1])])
def test_numbers_are_taken_as_they_are(shop, text, expected):
    assert points_of(text, shop) == expected


@pytest.mark.parametrize("text", ["", "each", "3;4", "1.5", "3,"])
def test_what_is_no_place(shop, text):
    with pytest.raises(tt.BadInput, match="no place to fork at"):
        points_of(text, shop)


def test_a_trial_without_a_write(view):
    with pytest.raises(tt.BadInput, match="has no write"):
        points_of("each-write", view(said(0), did(1, "get")))


def test_writes_that_no_model_decided_are_forked_before_themselves(view):
    assert points_of("each-write", view(did(0, "get"), did(1, "put", "write"), did(2, "put", "write"))) == [1, 2, 3]


def test_a_simulated_user_decides_nothing(view):
    user = interaction(2, Value({}), call=call("model", "u", actor="user", arguments={"messages": []}))
    assert points_of("each-write", view(said(0, "put"), did(1, "get"), user, did(3, "put", "write"))) == [0, 4]


def test_where_no_effect_is_declared_all_that_may_write_counts(view):
    shown = view(said(0, "do"), did(1, "do", "unknown"), did(2, "get"))
    assert points_of("each-write", shown) == [0, 2]


def test_with_a_declared_write_the_undeclared_do_not_count(view):
    shown = view(said(0, "do"), did(1, "do", "unknown"), said(2, "put"), did(3, "put", "write"))
    assert points_of("each-write", shown) == [2, 4]
    assert [s.steps for s in stretches([0, 2, 4], shown)] == [(0, 1), (3,), ()]


def test_parts_of_a_live_tool_are_no_points(view):
    part = interaction(2, Value({}), call=call("http", "GET x/", effect="read"), parent=1, started=3, ended=4)
    shown = view(said(0, "get"), did(1, "get", started=2, ended=5), part, said(3))
    assert points_of("each-step", shown) == [0, 1, 3, 4]


def test_a_stretch_is_named_after_its_writes(shop):
    assert stretches([2, 5, 8], shop) == [
        Stretch(2, "cancel(id=3)", (3,)),
        Stretch(5, "refund(id=6), note(id=7)", (6, 7)),
        Stretch(8, "the model answers", (8,)),
    ]


def test_a_stretch_without_a_write_is_named_after_its_first_step(shop):
    assert stretches([0, 1, 2], shop)[:2] == [
        Stretch(0, "the model asks for get_order", (0,)),
        Stretch(1, "get_order(id=1)", (1,)),
    ]
    assert stretches([0, 9], shop)[1] == Stretch(9, "the end")
    assert stretches([0, 2], shop)[0] == Stretch(0, "the model asks for get_order and 1 more", (0, 1))
