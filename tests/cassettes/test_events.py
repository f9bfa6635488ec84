from __future__ import annotations

import json

import pytest

from cassettes.events import change_texts


def sse(*events):
    return b"".join(b"data: " + json.dumps(event).encode() + b"\n\n" for event in events)


def upper_joined(pieces):
    """Changes pieces whose joined text holds ``ab``."""
    return [piece.upper() for piece in pieces] if "ab" in "".join(pieces) else pieces


def applied(stream, change=upper_joined):
    result = bytearray(stream)
    for start, stop, new in reversed(change_texts(stream, change)):
        result[start:stop] = new
    return [json.loads(line[6:]) for line in bytes(result).splitlines() if line.startswith(b"data: {")]


def test_the_pieces_of_one_field_are_seen_together_over_all_events():
    seen = []
    stream = sse({"d": [{"t": "x"}]}, {"d": [{"t": "y"}], "id": "1"}, {"d": []}, {"d": [{"t": "z"}], "id": "2"})
    assert change_texts(stream, lambda pieces: seen.append(pieces) or pieces) == []
    assert seen == [["x", "y", "z"], ["1", "2"]]


def test_only_the_events_that_change_are_written_anew():
    events = [{"t": "a", "n": 1}, {"t": "b", "n": [True, None, 1.5]}, {"t": "3"}, {"u": "a"}]
    stream = b"event: x\n" + sse(*events) + b"data: [DONE]\n\n"
    assert len(change_texts(stream, upper_joined)) == 2
    assert applied(stream) == [{"t": "A", "n": 1}, {"t": "B", "n": [True, None, 1.5]}, {"t": "3"}, {"u": "a"}]


@pytest.mark.parametrize(
    "stream",
    [
        b"",
        b"ab",
        b"data: {broken\n\ndata: {broken}\n\n",
        b"data: 5\n\n",
        b"data: [[[" + b"[" * 5000 + b"]\n",
        b'data: {"t": "\xff"}\n',
    ],
)
def test_what_is_no_event_with_json_is_left_alone(stream):
    assert change_texts(stream, upper_joined) == []


def test_lines_may_end_as_in_http():
    assert applied(b'data:{"t":"a"}\r\n\r\ndata: {"t":"b"} \r\n\r\n') == [{"t": "B"}]
