from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cassettes import frames
from cassettes.frames import FOOTER, HEAD_SIZE, RESTART, STEPS, decode, encode, footer_offset, format_of, head, trailer

frame_parts = st.tuples(st.sampled_from([STEPS, FOOTER]), st.sampled_from([0, RESTART]), st.binary(max_size=50))


def file_of(parts):
    data = head()
    for kind, flags, payload in parts:
        data += encode(len(data), kind, flags, payload, len(payload))
    return data


@given(st.lists(frame_parts, max_size=5))
def test_frames_come_back_in_order(parts):
    data = file_of(parts)
    found = list(frames.frames(data))
    assert [(frame.type, frame.flags, frame.payload) for frame in found] == parts
    assert [frame.restart for frame in found] == [flags == RESTART for _, flags, _ in parts]
    assert (found[-1].end if found else HEAD_SIZE) == len(data)


@given(st.lists(frame_parts, min_size=1, max_size=3), st.data())
def test_any_flipped_bit_ends_the_valid_frames_before_it(parts, data):
    whole = bytearray(file_of(parts))
    place = data.draw(st.integers(HEAD_SIZE, len(whole) - 1))
    whole[place] ^= 1 << data.draw(st.integers(0, 7))
    found = list(frames.frames(bytes(whole)))
    assert all(frame.end <= place for frame in found)
    assert [(f.type, f.flags, f.payload) for f in found] == parts[: len(found)]


@given(st.lists(frame_parts, min_size=1, max_size=3), st.data())
def test_a_cut_file_gives_the_frames_before_the_cut(parts, data):
    whole = file_of(parts)
    cut = data.draw(st.integers(HEAD_SIZE, len(whole)))
    found = list(frames.frames(whole[:cut]))
    assert all(frame.end <= cut for frame in found)
    assert len(found) == sum(frame.end <= cut for frame in frames.frames(whole))


def test_a_frame_that_stands_elsewhere_than_written_does_not_pass():
    frame = encode(100, STEPS, 0, b"content", 7)
    assert decode(frame, 0, 100) is not None
    assert decode(frame, 0, 101) is None


def test_an_impossible_length_is_refused_before_anything_is_read():
    frame = bytearray(encode(16, STEPS, 0, b"content", 7))
    frame[0:4] = b"\xff\xff\xff\xff"
    assert decode(bytes(frame), 0, 16) is None


@pytest.mark.parametrize(
    "data", [b"", b"TRIALTAP", b"x" * 16, head()[:-1], head()[:15] + b"\x01", b"TRIALTAP" + b"\xff" * 8]
)
def test_other_files_have_no_format(data):
    assert format_of(data) is None


def test_the_head_and_the_trailer_say_what_they_are():
    assert format_of(head()) == frames.FORMAT
    assert len(head()) == HEAD_SIZE
    assert footer_offset(b"..." + trailer(2**63)) == 2**63
    assert footer_offset(b"short") is None
    assert footer_offset(bytes(16)) is None
