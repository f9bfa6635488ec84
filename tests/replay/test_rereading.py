"""What reads replies is found by entry point."""

from __future__ import annotations

import json

import pytest

from cassettes.errors import BadInput
from cassettes.model import Call, Value
from replay import rereading

CALL = Call("model", "m", {}, endpoint="openai-chat /v1/chat/completions")
ANSWER = Value({"status": 200, "body": json.dumps({"choices": [{"message": {"content": "hi"}}]})})


@pytest.fixture(autouse=True)
def _found_anew():
    rereading._readers.cache_clear()
    yield
    rereading._readers.cache_clear()


def test_the_adapters_read_their_protocols():
    assert rereading.reread(CALL, ANSWER).text == "hi"


def test_nobody_knows_a_strange_protocol():
    assert rereading.reread(Call("model", "m", {}, endpoint="strange /"), ANSWER) is None


def test_a_reader_that_cannot_be_loaded_is_told(monkeypatch):
    class Broken:
        name = "broken"

        def load(self):
            raise ImportError("no such module")

    monkeypatch.setattr(rereading, "entry_points", lambda group: [Broken()])
    with pytest.raises(BadInput, match="what reads replies cannot be loaded: no such module"):
        rereading.reread(CALL, ANSWER)
