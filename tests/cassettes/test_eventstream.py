from __future__ import annotations

import struct
import uuid
from itertools import pairwise
from zlib import crc32

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cassettes.eventstream import Message, Parser, messages
from tests.adapters.decoders.wire import damaged, frame, raw_frame, text

STREAM = frame({"a": "Grüße"}, event_type="x") + frame(b"") + frame(b"\0" * 300, message_type="event", content_type="b")
EXPECTED = [
    Message({":event-type": "x"}, b'{"a": "Gr\\u00fc\\u00dfe"}'),
    Message({}, b""),
    Message({":message-type": "event", ":content-type": "b"}, b"\0" * 300),
]


def test_a_whole_stream():
    assert messages(STREAM) == EXPECTED


def test_one_byte_at_a_time():
    parser = Parser()
    assert [m for i in range(len(STREAM)) for m in parser.feed(STREAM[i : i + 1])] == EXPECTED
    assert not parser.damaged


@given(st.lists(st.integers(0, len(STREAM)), max_size=12))
def test_cutting_the_bytes_anywhere_changes_nothing(cuts):
    parser = Parser()
    places = [0, *sorted(cuts), len(STREAM)]
    assert [m for a, b in pairwise(places) for m in parser.feed(STREAM[a:b])] == EXPECTED


def test_headers_of_every_type():
    key = uuid.UUID(int=7)
    data = raw_frame(
        {
            "yes": (0, b""),
            "no": (1, b""),
            "byte": (2, b"\xff"),
            "short": (3, struct.pack(">h", -2)),
            "int": (4, struct.pack(">i", -3)),
            "long": (5, struct.pack(">q", 1 << 40)),
            "bytes": (6, b"\0\2\0\1"),
            "text": (7, text("ß")),
            "time": (8, struct.pack(">q", 1000)),
            "id": (9, key.bytes),
        },
        b"p",
    )
    assert messages(data) == [
        Message(
            {
                "yes": True,
                "no": False,
                "byte": -1,
                "short": -2,
                "int": -3,
                "long": 1 << 40,
                "bytes": b"\0\1",
                "text": "ß",
                "time": 1000,
                "id": key,
            },
            b"p",
        )
    ]


def test_the_same_as_botocore():
    eventstream = pytest.importorskip("botocore.eventstream")
    buffer = eventstream.EventStreamBuffer()
    buffer.add_data(STREAM)
    assert [Message(m.headers, m.payload) for m in buffer] == EXPECTED


@pytest.mark.parametrize("place", range(len(frame(b"abc", event_type="x"))))
def test_a_changed_byte_is_noticed_wherever_it_is(place):
    data = frame(b"abc", event_type="x")
    parser = Parser()
    spoilt = data[:place] + bytes([data[place] ^ 0x10]) + data[place + 1 :]
    assert parser.feed(frame(b"good") + spoilt + frame(b"lost"))[1:] == []
    assert parser.damaged
    assert parser.feed(frame(b"lost")) == []


@pytest.mark.parametrize(
    "headers",
    [
        {"a": (10, b"")},  # no such type
        {"a": (7, b"\0\5ab")},  # ends early
        {"a": (7, b"\0\1\xff")},  # no UTF-8
        {"a": (4, b"\0")},
        {"a": (9, b"\0")},
        {"a": (7, b"")},
    ],
)
def test_damaged_headers(headers):
    parser = Parser()
    assert parser.feed(raw_frame(headers, b"")) == []
    assert parser.damaged


def test_lengths_that_cannot_be():
    for total, headers in ((12, 0), (16, 1), (1 << 31, 0), (1 << 20, 1 << 19)):
        prelude = struct.pack(">II", total, headers)
        parser = Parser()
        assert parser.feed(prelude + struct.pack(">I", crc32(prelude))) == []
        assert parser.damaged


@given(damaged(STREAM) | st.binary())
def test_nothing_makes_it_raise(data):
    assert all(type(message) is Message for message in messages(data))
