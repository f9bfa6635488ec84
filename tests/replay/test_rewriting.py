from __future__ import annotations

from collections import Counter

import pytest

from cassettes.errors import CassetteError
from cassettes.model import Call, Ending, Mark, Stream, Value
from cassettes.model import Chunk as Piece
from cassettes.reader import Cassette
from cassettes.redact import Redactor
from replay.rewriting import redact_file, secrets_in
from tests.factories import call, interaction, write_cassette

SECRET = "sk-0123456789abcdef0123456789"


def ignored(old, new):
    """Nobody keeps scores here."""


class Careless(Redactor):
    """What another tool, or an older version, would have kept."""

    def packed(self, data):
        return data, Counter()

    def packed_outcome(self, data):
        return data, Counter()

    def pieces(self, pieces, counts):
        return pieces

    def suspects(self, data):
        return False


@pytest.fixture
def cassette(tmp_path):
    path = tmp_path / "0.cassette"
    write_cassette(
        path,
        [
            interaction(step=0, call=call(arguments={"key": SECRET}), outcome=Value({"text": f"use {SECRET}"})),
            interaction(
                step=1,
                call=Call("model", "m", {"messages": [{"role": "user", "content": SECRET}]}, history="messages"),
                outcome=Stream({"status": 200}, (Piece(0.1, b"sk-0123456789abc"), Piece(0.2, b"def0123456789 "))),
            ),
        ],
        redactor=Careless(b"key"),
        ending=Ending("completed"),
    )
    assert SECRET in repr(Cassette(path).step(0))
    return path


def test_a_scan_counts_what_it_finds_by_rule_and_changes_nothing(cassette):
    before = cassette.read_bytes()
    assert secrets_in(cassette, Redactor(b"key")) == {"openai": 4}
    assert cassette.read_bytes() == before


def test_redacting_removes_all_of_it_and_keeps_the_rest(cassette):
    old = Cassette(cassette)
    assert redact_file(cassette, Redactor(b"key"), ignored) == {"openai": 4}
    new = Cassette(cassette)
    assert secrets_in(cassette, Redactor(b"key")) == {}
    shown = "".join(repr(step) for step in new)
    assert SECRET not in shown
    assert b"sk-0123456789abc" not in b"".join(piece.data for piece in new.step(1).outcome.chunks)
    assert (new.header, new.ending, len(new)) == (old.header, old.ending, len(old))
    assert [(s.started, s.ended, s.call.name) for s in new] == [(s.started, s.ended, s.call.name) for s in old]
    assert list(cassette.parent.iterdir()) == [cassette]


def test_a_clean_cassette_is_left_byte_for_byte_as_it_is(tmp_path):
    path = tmp_path / "0.cassette"
    write_cassette(path, [interaction(step=0)], marks=[Mark("message", 0.0, {"role": "user", "content": "hi"})])
    before = path.read_bytes()
    assert redact_file(path, Redactor(b"key"), ignored) == {}
    assert path.read_bytes() == before


def test_a_damaged_cassette_is_refused_and_left_as_it_is(cassette):
    data = bytearray(cassette.read_bytes())
    data[len(data) // 2] ^= 1
    cassette.write_bytes(data)
    with pytest.raises(CassetteError):
        redact_file(cassette, Redactor(b"key"), ignored)
    assert cassette.read_bytes() == data
    assert list(cassette.parent.iterdir()) == [cassette]
