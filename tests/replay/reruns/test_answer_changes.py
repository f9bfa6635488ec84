from __future__ import annotations

import json

import pytest
from pydantic import BaseModel

from cassettes.model import Call, Cancelled, Chunk, Error, Stream, Value
from replay.plain import plain
from replay.reruns.answer_changes import answer_changes, fields_of_changes, flat

TOOL, HTTP = Call("tool", "get_user", {}), Call("http", "GET h/a", {})


def fields(then, now, call=TOOL, ignore=()):
    return fields_of_changes(answer_changes(call, then, now, ignore))


def test_a_field_that_was_renamed_changed_came_or_is_gone_is_told_by_its_path():
    then = {"address": {"province": "NY", "zip": 1}, "age": 3, "old": True}
    now = {"address": {"state": "NY", "zip": 2}, "age": 3, "new": False}
    told = ["address.province renamed to address.state", "address.zip changed", "old is gone", "new came"]
    assert sorted(fields(Value(then), Value(now))) == sorted(told)


def test_texts_of_json_are_read_and_places_in_lists_are_told_once():
    then = json.dumps({"items": [{"price": 1}, {"price": 2}]})
    now = json.dumps({"items": [{"price": 3}, {"price": 4}]})
    assert fields(Value(then), Value(now)) == ["items[*].price changed"]
    assert fields(Value(then), Value(json.dumps(json.loads(then), indent=2))) == []


@pytest.mark.parametrize(
    ("then", "now", "told"),
    [
        (Value(1), Value(2), ["the answer changed"]),
        (Value(1), Value(1.0), ["the answer changed"]),
        (Value(None), Value(None), []),
        (Error(ValueError("a")), Error(ValueError("a")), []),
        (Error(ValueError("a")), Error(KeyError("a")), ["raised changed", "message changed"]),
        (Value("x"), Error(ValueError("a")), ["the answer changed"]),
        (Cancelled(), Cancelled(), []),
        (Stream({}, (Chunk(0.1, b"ab"),)), Stream({}, (Chunk(0.2, b"a"), Chunk(0.3, b"b"))), []),
    ],
)
def test_whatever_came_is_compared(then, now, told):
    assert fields(then, now) == told


def test_of_http_status_and_body_count_and_headers_do_not():
    then = {"status": 200, "headers": [["date", "today"]], "body": '{"a": 1}'}
    assert fields(Value(then), Value({**then, "headers": []}), HTTP) == []
    assert fields(Value(then), Value({**then, "status": 404, "body": '{"a": 2}'}), HTTP) == [
        "status changed",
        "body.a changed",
    ]


def test_what_is_ignored_does_not_count():
    then, now = Value({"at": 1, "x": 1}), Value({"at": 2, "x": 2})
    assert fields(then, now, ignore=["tool:get_user:at"]) == ["x changed"]
    assert fields(then, now, ignore=["tool:other:at"]) == ["at changed", "x changed"]


class Mail(BaseModel):
    to: set[str]
    at: int = 0


def test_an_object_is_compared_field_by_field_and_a_set_in_any_order():
    one, other = Mail(to={"a", "b", "c"}, at=1), Mail(to={"c", "b", "a"}, at=1)
    assert fields(Value({"result": one}), Value({"result": other})) == []
    assert fields(Value({"result": one}), Value({"result": Mail(to={"a", "b", "c"}, at=2)})) == ["result.at changed"]
    assert fields(Value({"result": one}), Value({"result": Mail(to=one.to)}), ignore=["result.at"]) == []


def test_which_fields_of_a_model_were_given_is_no_part_of_what_it_says():
    assert flat(plain(Mail(to=set()))) == flat(plain(Mail(to=set(), at=0)))


def test_an_item_of_a_list_that_moved_is_no_field_that_was_renamed():
    assert fields(Value({"who": ["a", "b"]}), Value({"who": ["b", "a"]})) == ["who[*] in another place"]
