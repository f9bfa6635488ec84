from __future__ import annotations

import time
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.sse import Event, Parser, events

STREAM = "data: Grüße\r\n\r\n: a comment\nevent: ping\nid: 7\ndata: a\ndata: b\n\ndata:☃\r\rdata: [DONE]\n\n".encode()
EXPECTED = [
    Event("Grüße"),
    Event("a\nb", "ping", "7"),
    Event("☃", None, "7"),
    Event("[DONE]", None, "7"),
]


def test_line_ends_comments_and_joined_lines():
    assert events(STREAM) == EXPECTED


@given(st.lists(st.integers(0, len(STREAM)), max_size=12))
def test_cutting_the_bytes_anywhere_changes_nothing(cuts):
    places = [0, *sorted(cuts), len(STREAM)]
    parser = Parser()
    found = [e for a, b in pairwise(places) for e in parser.feed(STREAM[a:b])]
    assert found + parser.finish() == EXPECTED


def test_one_byte_at_a_time():
    parser = Parser()
    assert [e for i in range(len(STREAM)) for e in parser.feed(STREAM[i : i + 1])] + parser.finish() == EXPECTED


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"", []),
        (b"data: unfinished", [Event("unfinished")]),
        (b"event: only a name\n\n", []),
        (b"data\n\n", [Event("")]),
        (b"data:  two\n\n", [Event(" two")]),
        (b"\xef\xbb\xbfdata: after a mark\n\n", [Event("after a mark")]),
        (b"data: \xff\n\n", [Event("�")]),
        (b"id: a\0b\ndata: x\n\n", [Event("x")]),
        (b"retry: 10\nunknown: y\ndata: x\n\n", [Event("x")]),
    ],
)
def test_odd_streams(data, expected):
    assert events(data) == expected


def test_a_long_line_in_small_pieces_is_joined_once():
    parser = Parser()
    pieces = [b"data: ", *[b"x" * 100] * 50_000, b"\r", b"", b"\n\r\n"]
    began = time.process_time()
    found = [event for piece in pieces for event in parser.feed(piece)]
    assert time.process_time() - began < 2  # joined at every piece it takes a minute
    assert found == [Event("x" * 5_000_000)]
