"""What the user and the agent said, in order, and between which steps."""

from __future__ import annotations

import trialtape as tt
from cassettes.model import Mark, Reply
from replay.conversation import Turn, turns_of, unreplied
from tests import factories
from tests.replay.recorded import needs_airline


def said(role, content, step):
    return Mark("message", 0.0, {"role": role, "content": content, "step": step})


def replies(*turns):
    return [
        factories.interaction(n, call=factories.call("model", "m", actor=actor), reply=Reply(text=text))
        for n, (actor, text) in enumerate(turns)
    ]


def test_messages_that_were_marked_stand_before_the_step_that_came_next():
    turns = turns_of([said("user", "hello", 0), said("assistant", "hi", 1), said("user", "yes", 1)], [])
    assert turns == [Turn("user", "hello", 0), Turn("agent", "hi", 1), Turn("user", "yes", 1)]


def test_of_a_side_that_marked_nothing_the_replies_of_its_model_count():
    turns = turns_of([said("user", "yes", 1)], replies(("agent", "shall I?"), ("agent", "done")))
    assert turns == [Turn("agent", "shall I?", 1), Turn("user", "yes", 1), Turn("agent", "done", 2)]


def test_a_simulated_user_speaks_through_its_model_and_others_say_nothing():
    turns = turns_of([], replies(("user", "order 7"), ("agent", "done"), ("judge", "good"), ("agent", "")))
    assert turns == [Turn("user", "order 7", 1), Turn("agent", "done", 2)]


def test_a_message_that_says_what_a_model_just_replied_for_that_side_is_shown_at_its_step_alone():
    marks = [
        said("assistant", "Hi", 0),
        said("user", "order 7", 1),
        said("assistant", "done", 2),
        said("user", "bye", 2),
    ]
    apart = unreplied(marks, replies(("user", "order 7"), ("agent", "done")))
    assert [mark.data["content"] for mark in apart] == ["Hi", "bye"]


def test_what_is_said_again_without_a_model_is_shown_again():
    marks = [said("user", "yes", 1), said("user", "yes", 1)]
    assert len(unreplied(marks, replies(("user", "yes")))) == 1


def test_where_the_agent_marked_messages_its_models_replies_are_no_second_ones():
    turns = turns_of([said("assistant", "done", 1)], replies(("agent", "thinking: done")))
    assert turns == [Turn("agent", "done", 1)]


def test_other_roles_and_empty_messages_are_no_turns():
    assert turns_of([said("system", "rules", 0), said("user", None, 0), Mark("state", 0.0, {"digest": "x"})], []) == []


@needs_airline
def test_both_sides_of_a_recorded_conversation_take_turns(airline_home):
    turns = tt.open("airline/1#1", home=airline_home.root).conversation
    assert [turn.who for turn in turns[:4]] == ["user", "agent", "user", "agent"]
    assert [turn.before for turn in turns] == sorted(turn.before for turn in turns)
    assert "###STOP###" in turns[-1].text
