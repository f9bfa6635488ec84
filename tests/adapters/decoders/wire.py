"""What decoder tests share: framing of samples, and damage done to them."""

from __future__ import annotations

import json
import struct
from zlib import crc32

from hypothesis import strategies as st

from cassettes.model import Reply


def sse(*payloads, named=False, done=False):
    """Server-sent events of JSON; ``named`` gives each the name of its type."""
    names = [f"event: {p['type']}\n" if named else "" for p in payloads]
    pieces = [f"{name}data: {json.dumps(p)}\n\n" for name, p in zip(names, payloads, strict=True)]
    return ("".join(pieces) + ("data: [DONE]\n\n" if done else "")).encode()


def frame(payload, **headers):
    """One message of an AWS event stream; header names have ``_`` for ``-``, and a colon is put before them."""
    body = payload if isinstance(payload, bytes) else json.dumps(payload).encode()
    return raw_frame({f":{k.replace('_', '-')}": (7, text(v)) for k, v in headers.items()}, body)


def raw_frame(headers, body):
    """The same of headers that are a type and the bytes of a value."""
    packed = b"".join(bytes([len(k)]) + k.encode() + bytes([kind]) + value for k, (kind, value) in headers.items())
    prelude = struct.pack(">II", 16 + len(packed) + len(body), len(packed))
    start = prelude + struct.pack(">I", crc32(prelude)) + packed + body
    return start + struct.pack(">I", crc32(start))


def text(value):
    data = value.encode()
    return struct.pack(">H", len(data)) + data


def cut(data):
    """Every beginning of a stream."""
    return (data[:end] for end in range(len(data) + 1))


def damaged(data):
    """A stream with some of its bytes replaced, left out or doubled, and perhaps cut."""
    place = st.integers(0, len(data))

    def spoil(edits, end):
        spoilt = data
        for at, length, new in edits:
            spoilt = spoilt[:at] + new + spoilt[at + length :]
        return spoilt[:end]

    edit = st.tuples(
        place, st.integers(0, 6), st.binary(max_size=4) | st.sampled_from([b"null", b"[", b"{}", b"9", b'"'])
    )
    return st.builds(spoil, st.lists(edit, max_size=4), st.none() | place)


def json_of(*names):
    """Arbitrary JSON of objects with these names."""
    return st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=4) | st.sampled_from(names),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(st.sampled_from(names) | st.text(max_size=2), inner, max_size=5)
        ),
        max_leaves=25,
    )


def names_in(*values):
    """All names and texts of some JSON, so that damaged JSON is near to it."""
    found = {"error", "message", "detail"}
    for value in values:
        if isinstance(value, dict):
            found |= value.keys() | set(names_in(*value.values()))
        elif isinstance(value, list):
            found |= set(names_in(*value))
        elif isinstance(value, str):
            found.add(value)
    return sorted(found)


def survives(decoder, data):
    """A decoder makes a reply or None of it, whatever it is, and each field has its type."""
    for reply in (decoder.reply(200, data), decoder.reply(500, data), decoder.reply_from_stream(data)):
        assert reply is None or type(reply) is Reply
        if reply is not None:
            texts = [reply.text, reply.finish, reply.model, reply.id, reply.refusal, reply.error]
            usage = reply.usage
            counts = [] if usage is None else [usage.input, usage.output, usage.cached, usage.reasoning]
            assert all(value is None or type(value) is str for value in texts)
            assert all(value is None or type(value) is int for value in counts)
            assert all(type(t.name) is type(t.arguments) is str for t in reply.tool_calls)
            assert all(t.id is None or type(t.id) is str for t in reply.tool_calls)
    assert decoder.stream_ended(data) in {True, False}


def grows(decoder, data):
    """Whatever part of a stream arrived, the reply holds a beginning of the whole one's text."""
    whole = decoder.reply_from_stream(data)
    said = ""
    for part in cut(data):
        reply = decoder.reply_from_stream(part)
        text_so_far = (reply.text if reply else None) or ""
        assert text_so_far.startswith(said)
        said = text_so_far
        if reply is not None:
            for seen, full in zip(reply.tool_calls, whole.tool_calls, strict=False):
                assert full.arguments.startswith(seen.arguments)
    assert said == (whole.text or "")
