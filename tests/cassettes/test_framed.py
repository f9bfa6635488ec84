"""What is replaced inside the messages of an AWS event stream leaves a stream that its readers can read."""

from __future__ import annotations

import base64
import json
import struct
from collections import Counter
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cassettes.codec import outcome_plain
from cassettes.eventstream import PRELUDE, Header, begins, framed, frames, messages, outline
from cassettes.framed import clean_frames
from cassettes.given import given_rules
from cassettes.model import Chunk, Stream
from cassettes.redact import Redactor
from cassettes.values import pack, unpack
from tests.adapters.decoders.wire import frame, raw_frame, text
from tests.strategies import secrets

OPENAI = "sk-proj-abcdefghij0123456789"
GITHUB = "ghp_0123456789abcdefghijABCDEFGHIJ"
keyed = Redactor(b"k" * 32)


def delta(words, **more):
    event = {"contentBlockIndex": 0, "delta": {"text": words}, **more}
    return frame(event, event_type="contentBlockDelta", message_type="event")


def invoked(words):
    """What a model says that was invoked with a response stream."""
    inner = json.dumps({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": words}})
    return frame({"bytes": base64.b64encode(inner.encode()).decode(), "p": "abcdefgh"}, event_type="chunk")


def said(stream):
    """The texts of a stream, put together."""
    return "".join(told(message)["delta"]["text"] for message in messages(stream))


def told(message):
    event = json.loads(message.payload)
    return json.loads(base64.b64decode(event["bytes"])) if "bytes" in event else event


def clean(*pieces, redactor=keyed):
    counts = Counter()
    made = redactor.pieces([*pieces], counts)
    assert redactor.pieces(made, Counter()) is made
    return made, counts


def in_pieces(whole, cuts):
    places = sorted({0, len(whole), *(min(cut, len(whole)) for cut in cuts)})
    return [whole[a:b] for a, b in pairwise(places)]


@pytest.mark.parametrize("way", [delta, invoked])
@given(
    found=secrets, cuts=st.lists(st.integers(0, 100), max_size=8), chunks=st.lists(st.integers(0, 2000), max_size=20)
)
def test_a_secret_over_any_frames_and_pieces_is_gone_and_every_frame_can_be_read(way, found, cuts, chunks):
    whole = f"the key is {found[1]}, ü"
    stream = b"".join(way(part) for part in in_pieces(whole, cuts))
    pieces = in_pieces(stream, chunks)
    made, _ = clean(*pieces)
    result = b"".join(made)
    assert len(made) == len(pieces)
    assert len(messages(result)) == len(messages(stream))
    assert said(result) == keyed.text(whole, Counter())
    assert [m.headers for m in messages(result)] == [m.headers for m in messages(stream)]


def test_the_same_as_botocore_reads():
    eventstream = pytest.importorskip("botocore.eventstream")
    (made,), counts = clean(delta("my key is sk-proj-") + invoked("and") + delta("abcdefghij0123456789 ok"))
    buffer = eventstream.EventStreamBuffer()
    buffer.add_data(made)
    assert [told(message)["delta"]["text"] for message in buffer][1:] == ["and", " ok"]
    assert counts == {"openai": 1}


def test_cuts_stay_between_the_same_frames_and_bytes():
    one, two, three = delta("hello "), delta(OPENAI), delta(" bye")
    pieces = [one[:3], one[3:] + two[:PRELUDE], two[PRELUDE:-2], two[-2:] + three, b""]
    made, _ = clean(*pieces)
    assert made[0] == one[:3]
    assert len(made[1]) == len(pieces[1])
    assert made[1].startswith(one[3:])
    assert len(made[3]) == len(pieces[3])
    assert made[3].endswith(three)
    assert made[4] == b""


def test_a_frame_that_came_byte_by_byte_stays_in_as_many_pieces():
    stream = delta(f"key {OPENAI}!")
    made, _ = clean(*(stream[i : i + 1] for i in range(len(stream))))
    assert len(made) == len(stream)
    assert said(b"".join(made)).startswith("key {secret:openai:")
    assert all(len(piece) == 1 for piece in made[:PRELUDE] + made[-4:])


def test_a_stream_without_secrets_is_the_same_object():
    pieces = [delta("task-force-of-the-whole-department"), invoked("x")[:30], invoked("x")[30:]]
    made, counts = clean(*pieces)
    assert made is not pieces
    assert keyed.pieces(pieces, Counter()) is pieces
    assert not counts


def test_a_word_cut_by_the_network_is_no_secret():
    stream = delta("the ta" + "sk-abcdefghij0123456789x")
    at = stream.index(b"sk-")
    outcome = Stream(None, (Chunk(0.0, stream[:at]), Chunk(0.1, stream[at:])))
    packed = pack(outcome_plain(keyed.outcome(outcome, Counter())))
    assert keyed.packed_outcome(packed)[0] == packed


def test_what_was_cleaned_is_not_changed_again_when_it_is_kept():
    stream = delta(OPENAI[:9]) + delta(OPENAI[9:]) + invoked('{"password": "hun') + invoked('ter2"}')
    outcome = Stream(None, tuple(Chunk(i / 10, stream[i : i + 7]) for i in range(0, len(stream), 7)))
    cleaned = keyed.outcome(outcome, Counter())
    packed = pack(outcome_plain(cleaned))
    assert keyed.packed_outcome(packed)[0] == packed
    assert [chunk.at for chunk in cleaned.chunks] == [chunk.at for chunk in outcome.chunks]


def test_a_kept_stream_is_cleaned_by_a_later_redactor():
    stream = delta("a word of the house")
    late = Redactor(b"k" * 32, secrets=["word of the house"])
    packed = pack([3, None, [[1, stream[:20]], [2, stream[20:]]], True, None])
    cleaned, counts = late.packed_outcome(packed)
    pieces = [piece for _, piece in unpack(cleaned)[2]]
    assert said(b"".join(pieces)).startswith("a {secret:environment:")
    assert counts == {"environment": 1}


def test_fields_with_a_telling_name_and_names_themselves():
    (made,), _ = clean(frame({"toolUse": {"input": {"password": "hunter2", GITHUB: 1}}}, event_type="x"))
    tool = json.loads(messages(made)[0].payload)["toolUse"]["input"]
    assert tool["password"].startswith("{secret:field:")
    assert not any(GITHUB in name for name in tool)
    (made,), _ = clean(frame({"bytes": base64.b64encode(b'{"a": 1}').decode(), "api_key": "hunter2"}))
    assert json.loads(messages(made)[0].payload)["api_key"].startswith("{secret:field:")


def test_spelled_as_unicode_escapes():
    event = b'{"p\\u0061ssword": "hunter2", "b": "\\u0073k-proj-abcdefghij0123456789"}'
    (made,), _ = clean(frame(event, event_type="x"))
    assert set(json.loads(messages(made)[0].payload).values()) & {"hunter2", OPENAI} == set()


def test_payloads_that_are_no_json_are_joined_by_type():
    records = [b"a,b\n1,sk-proj-", b"abcdefghij0123456789\n", b"\xff\xfe " + GITHUB.encode()]
    stream = b"".join(frame(record, event_type="Records") for record in records) + frame(b"", event_type="End")
    (made,), counts = clean(stream)
    payloads = [message.payload for message in messages(made)]
    assert payloads[0].startswith(b"a,b\n1,{secret:openai:")
    assert payloads[1] == b"\n"
    assert payloads[2].startswith(b"\xff\xfe {secret:github:")
    assert counts == {"openai": 1, "github": 1}


@pytest.mark.parametrize("inside", [f"the key is {OPENAI}", json.dumps([OPENAI]), json.dumps({"a": {"b": OPENAI}})])
def test_text_in_base64(inside):
    (made,), _ = clean(frame({"bytes": base64.b64encode(inside.encode()).decode()}, event_type="chunk"))
    decoded = base64.b64decode(json.loads(messages(made)[0].payload)["bytes"]).decode()
    assert decoded.startswith(inside.partition(OPENAI)[0] if inside.startswith("the") else inside[:2].strip())
    assert "{secret:openai:" in decoded


@pytest.mark.parametrize("coded", ["no base64: " + OPENAI, "AKIAIOSFODNN7EXAMPLE", 7, None, {"a": OPENAI}])
def test_a_field_called_bytes_that_is_no_base64_of_text(coded):
    (made,), _ = clean(frame({"bytes": coded, "b": GITHUB}, event_type="chunk"))
    kept = messages(made)[0].payload
    assert not any(secret.encode() in kept for secret in (OPENAI, "AKIAIOSFODNN7EXAMPLE", GITHUB))
    assert json.loads(kept)["b"].startswith("{secret:github:")


def test_headers_with_text_are_looked_through_and_the_others_stay():
    headers = {
        ":error-message": (7, text(f"bad key {OPENAI}")),
        "raw": (6, text(GITHUB)),
        "number": (4, struct.pack(">i", 7)),
        "yes": (0, b""),
    }
    (made,), _ = clean(raw_frame(headers, b"{}"))
    (message,) = messages(made)
    assert message.headers[":error-message"].startswith("bad key {secret:openai:")
    assert message.headers["raw"].startswith(b"{secret:github:")
    assert (message.headers["number"], message.headers["yes"]) == (7, True)


def test_nested_too_deeply_is_text():
    deep = b'{"a":' * 500 + json.dumps(OPENAI).encode() + b"}" * 500
    (made,), _ = clean(frame(deep, event_type="x"))
    assert OPENAI.encode() not in made
    assert len(messages(made)) == 1


def test_rules_of_the_user_hold():
    rules = Redactor(b"k" * 32, given=given_rules({"name": lambda told: told.replace("Ada Lovelace", "[name]")}))
    made = rules.pieces([delta("I am Ada ") + delta("Lovelace.") + invoked("Ada Love") + invoked("lace")], Counter())
    assert b"Lovelace" not in made[0]
    assert said(made[0]) == "I am [name].[name]"
    assert rules.pieces(made, Counter()) is made


# -- streams that are not whole ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("way", [delta, invoked])
@pytest.mark.parametrize("split", [0, 4, 12, 20])
def test_of_an_unfinished_frame_that_may_hold_a_secret_only_the_lengths_stay(way, split):
    whole = way(OPENAI[:split])
    last = way(OPENAI[split:] + " and more")
    kept = set()
    for end in range(len(last)):
        (result,), _ = clean(whole + last[:end])
        assert len(messages(result)) == 1
        rest = result[frames(result)[0].stop :]
        assert rest in (last[:end], last[:PRELUDE])
        payload = rest[outline(last, 0)[0] :]
        coded = payload.partition(b'"bytes": "')[2]
        visible = base64.b64decode(coded[: len(coded) // 4 * 4]) if coded else payload
        joined = OPENAI[:split] + visible.partition(b'"text": "')[2].decode()
        assert keyed.text(joined, Counter()) == joined or split == 20
        kept.add(len(visible) > 0)
    assert kept == ({True, False} if split < 16 else {False})


def test_an_unfinished_frame_without_secrets_stays():
    pieces = [delta("hello"), delta("you all")[:-9]]
    assert keyed.pieces(pieces, Counter()) is pieces
    assert outline(pieces[1], 0)[1] > len(pieces[1])


def test_behind_damage_secrets_are_replaced_and_the_damage_stays():
    spoilt = bytearray(delta(OPENAI))
    spoilt[-1] ^= 1
    made, counts = clean(delta("good") + bytes(spoilt) + delta("lost"))
    assert said(made[0]) == "good"
    assert OPENAI.encode() not in made[0]
    assert counts == {"openai": 1}


@given(st.binary(max_size=80))
def test_what_is_no_event_stream_is_left_to_others(data):
    assert (keyed.pieces([data], Counter())[0] is data) or not begins(data)
    if not begins(data):
        assert clean_frames([data], keyed._cleaning(Counter())) is None


def test_a_header_value_cannot_grow_too_long_for_its_length():
    secret = "s3"
    redactor = Redactor(b"k" * 32, secrets=[secret])
    data = framed([Header(b"long", 7, b"s3 " * 20_000)], b"")
    (made,), _ = clean(data, redactor=redactor)
    assert len(messages(made)) == 1
