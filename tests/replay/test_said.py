"""What users said, in the shapes of the protocols, each at the step at which it reached the agent."""

from __future__ import annotations

import pytest

from cassettes.model import Mark, Reply
from cassettes.reader import Cassette
from replay.said import said_before
from tests import factories


@pytest.fixture
def said(tmp_path):
    def tell(*interactions, marks=()):
        path = factories.write_cassette(tmp_path / "0.cassette", interactions, marks=marks)
        cassette = Cassette(path)
        return said_before(cassette, list(cassette), cassette.marks())

    return tell


def user(content, key="content"):
    return {"role": "user", key: content}


@pytest.mark.parametrize(
    ("message", "text"),
    [
        (user("hello"), "hello"),
        (user([{"type": "text", "text": "hello"}, {"type": "text", "text": "there"}]), "hello there"),
        (user([{"type": "input_text", "text": "hello"}]), "hello"),
        (user([{"text": "hello"}], "parts"), "hello"),
        (user([{"type": "tool_result", "content": [{"type": "text", "text": "found"}]}]), "found"),
        (user([{"type": "tool_result", "content": "found"}]), "found"),
    ],
)
def test_the_texts_of_the_users_messages_are_read_in_every_protocol(said, message, text):
    assert said(factories.interaction(0, call=factories.model_call([message]))) == {0: text}


@pytest.mark.parametrize(
    "message",
    [
        user([{"type": "image_url", "image_url": {"url": "data:xyz"}}]),
        user(None),
        user(""),
        {"role": "system", "content": "rules"},
        {"role": "assistant", "content": "I"},
        "no map",
    ],
)
def test_what_no_user_said_and_what_is_no_text_is_left_out(said, message):
    assert said(factories.interaction(0, call=factories.model_call([message]))) == {}


def test_a_message_counts_where_it_is_new(said):
    first, second = user("one"), user("two")
    calls = [factories.model_call(m) for m in ([first], [first, second], [first, second])]
    assert said(*(factories.interaction(n, call=call) for n, call in enumerate(calls))) == {0: "one", 1: "two"}


def test_a_prompt_that_is_a_plain_text_is_one_message(said):
    call = factories.call("model", "m", arguments={"input": "hello"}, history="input")
    assert said(factories.interaction(0, call=call)) == {0: "hello"}


def test_what_was_marked_and_sent_counts_once_and_replies_stand_at_their_own_step(said):
    marks = [
        Mark("message", 0.0, {"role": "user", "content": "hello", "step": 0}),
        Mark("message", 0.0, {"role": "assistant", "content": "well", "step": 2}),
        Mark("message", 0.0, {"role": "user", "content": "bye", "step": 9}),
    ]
    asked = factories.interaction(0, call=factories.model_call([user("hello")]), reply=Reply(text="well"))
    assert said(asked, factories.interaction(1), marks=marks) == {0: "hello", 1: "bye"}


def test_a_trial_of_messages_only_has_no_step_for_them(said):
    assert said(marks=[Mark("message", 0.0, {"role": "user", "content": "hello", "step": 0})]) == {}
