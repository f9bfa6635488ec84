from __future__ import annotations

import json
from collections import Counter, OrderedDict
from decimal import Decimal
from itertools import pairwise
from typing import NamedTuple
from uuid import UUID

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from cassettes.canonical import key_of
from cassettes.codec import outcome_from, outcome_plain
from cassettes.errors import UnkeepableValue
from cassettes.model import Cancelled, Chunk, Error, Stream, Value
from cassettes.redact import Redactor, secrets_of
from cassettes.values import pack, unpack
from tests.factories import call
from tests.strategies import (
    SECRET_NAMES,
    Attrs,
    Failure,
    Model,
    Plain,
    Point,
    Slotted,
    json_like,
    secrets,
    values,
)

KEY = b"k" * 32
OPENAI = "sk-proj-abcdefghij0123456789"

plain = Redactor()
keyed = Redactor(KEY)


def cleaned(value, redactor=plain):
    return unpack(redactor.packed(pack(value))[0])


def text(value, redactor=plain):
    return redactor.text(value, Counter())


# -- by shape ---------------------------------------------------------------------------------------------------------


@given(secrets)
def test_a_secret_is_found_by_its_shape(found):
    rule, secret = found
    assert text(f"use {secret}, please") == f"use {{secret:{rule}}}, please"


@pytest.mark.parametrize(
    "wrap",
    [
        lambda s: s,
        lambda s: [s],
        lambda s: {"a": {"b": [s]}},
        lambda s: {s: 1},
        lambda s: {(1, s): 1},
        lambda s: (1, (s,)),
        lambda s: {s},
        lambda s: frozenset({(s, 1)}),
        Plain,
        lambda s: Slotted([s]),
        lambda s: Attrs({"b": s}),
        lambda s: Model(a=s),
        lambda s: Model(a=1, extra_field=s),
        lambda s: Point(s, 1),
        Failure,
        lambda s: Failure(1, detail=[s]),
        lambda s: ExceptionGroup("m", [ValueError(s)]),
        lambda s: OrderedDict(a=s),
        lambda s: s.encode(),
        lambda s: bytearray(s.encode()),
        lambda s: b"\xff\xfe" + s.encode() + b"\x00",
        lambda s: json.dumps({"reply": f"line\n{s}"}),
        lambda s: json.dumps({"reply": f"ä{s}"}),
        lambda s: json.dumps({"inner": json.dumps({"reply": f"tab\t{s}"})}),
        lambda s: f"日本語{s}日本語",
        lambda s: f"{s}\nand again {s}",
    ],
)
@given(found=secrets)
def test_a_secret_is_removed_wherever_it_stands_and_types_stay(wrap, found):
    secret = found[1]
    if found[0] == "private_key":
        secret = secret.replace("\n", " ")
    value = wrap(secret)
    result = cleaned(value, keyed)
    assert type(result) is type(value)
    assert secret.encode() not in pack(result)
    assert b"{secret:" + found[0].encode() in pack(result)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("Authorization: Bearer abcdefgh.ijklmnop-qrst==", "Authorization: Bearer {secret:bearer}"),
        ("bearer\tabcdefghijklmnopqrst", "bearer\t{secret:bearer}"),
        ("postgres://admin:hunter22@db:5432/x", "postgres://admin:{secret:url}@db:5432/x"),
        ("redis://:hunter22@db", "redis://:{secret:url}@db"),
        (r"https:\/\/admin:hunter22@db", r"https:\/\/admin:{secret:url}@db"),
        (f"postgres://{OPENAI}:hunter22@db", "postgres://{secret:openai}:{secret:url}@db"),
        ("-----BEGIN PRIVATE KEY-----\nabc", "{secret:private_key}"),
    ],
)
def test_credentials_in_the_midst_of_text_are_found(before, after):
    assert text(before) == after


@pytest.mark.parametrize(
    "harmless",
    [
        "the task-force-of-the-whole-department is risk-averse-about-everything",
        "ann@example.com",
        '{"prompt_tokens": 12, "completion_tokens": 3, "max_tokens": "4"}',
        "https://example.com:8080/path@1?x=y:z@w",
        "the bearer of this letter",
        "a secret is a secret; reset your password, please",
        "AKIA is a prefix, eyJ too, and sk-short as well",
        '{"secretary": "Ann", "passwords": 3, "token": "x", "key": "k"}',
        '{"secret": ""}',
        "",
    ],
)
def test_harmless_text_stays_as_it_is(harmless):
    assert text(harmless) is harmless
    data = pack({"text": harmless, "usage": {"prompt_tokens": 12}})
    found, counts = plain.packed(data)
    assert found is data
    assert not counts


@given(values)
def test_unchanged_data_is_the_same_object(value):
    data = pack(value)
    found, counts = keyed.packed(data)
    assert (found is data) == (not counts)


# -- by name ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", SECRET_NAMES)
@pytest.mark.parametrize(
    "secret", ["hunter2", "1", 4711, 2**80, 1.5, b"raw", UUID(int=1), Decimal("7.5"), bytearray(b"x")], ids=repr
)
def test_a_field_with_a_secret_name_keeps_nothing_of_its_value(name, secret):
    for value in ({name: secret}, {"a": [{name: secret}]}, OrderedDict({name: secret}), {name.encode(): secret}):
        result = cleaned(value)
        assert type(result) is type(value)
        assert b"{secret:field}" in pack(result)
        assert pack(secret) not in pack(result)


@pytest.mark.parametrize("value", [None, True, False, "", 0])
def test_a_secret_named_field_that_is_empty_or_a_flag_stays(value):
    assert cleaned({"password": value}) == {"password": value}


def test_lists_and_tuples_under_a_secret_name_are_secret_throughout():
    mark = "{secret:field}"
    assert cleaned({"api_key": ["a", ("b", 3)], "x": "a"}) == {"api_key": [mark, (mark, mark)], "x": "a"}


class Login(NamedTuple):
    user: str
    password: str


def test_secret_names_count_in_objects_too():
    error = Failure(1)
    error.api_key = "short"
    assert cleaned(error).api_key == "{secret:field}"
    assert cleaned(Model(a=1, password="short")).password == "{secret:field}"
    assert cleaned(Login("ann", "short")) == Login("ann", "{secret:field}")


@pytest.mark.parametrize("secret", ["hunter2", 'with "quotes" in it', "back\\slash\\", "it's", "ü\n\t", "a, b: c"])
@pytest.mark.parametrize("name", SECRET_NAMES)
def test_a_secret_named_field_is_found_in_json_text_and_the_text_stays_json(name, secret):
    before = {"user": "ann", name: secret, "more": ["x", {"note": "y"}]}
    once = text(json.dumps(before))
    assert json.loads(once) == {**before, name: "{secret:field}"}
    twice = text(json.dumps({"body": json.dumps(before)}))
    assert json.loads(json.loads(twice)["body"]) == {**before, name: "{secret:field}"}
    thrice = text(json.dumps([json.dumps([json.dumps(before)])]))
    assert json.loads(json.loads(json.loads(thrice)[0])[0]) == {**before, name: "{secret:field}"}


def test_a_secret_named_field_is_found_in_the_text_of_a_python_dict():
    assert text(repr({"password": "hunter2", "a": 1})) == repr({"password": "{secret:field}", "a": 1})


@pytest.mark.parametrize("name", SECRET_NAMES)
@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("https://x.test/a?%s=hunter2", "https://x.test/a?%s={}"),
        ("https://x.test/a?b=1&%s=hunter2&c=2#d", "https://x.test/a?b=1&%s={}&c=2#d"),
        ("%s=hunter2&user=ann", "%s={}&user=ann"),
        ('{"body": "%s=hunter2&a=1"}', '{"body": "%s={}&a=1"}'),
        ("grant=x&%s=hun%%20ter2", "grant=x&%s={}"),
        ('see "https://x.test?%s=hunter2", please', 'see "https://x.test?%s={}", please'),
        (r"{\"url\": \"https://x.test?%s=hunter2\", \"n\": 1}", r"{\"url\": \"https://x.test?%s={}\", \"n\": 1}"),
    ],
)
def test_a_secret_named_pair_is_found_in_a_query_and_in_a_form(name, before, after):
    found = text(before % name)
    assert found == (after % name).replace("={}", "={secret:field}")
    assert text(found) is found


@pytest.mark.parametrize(
    "harmless",
    [
        "f(x, password=y)",
        "https://x.test?password=&a=1",
        "?token=1&key=2",
        "a=b&c=d",
        "https://x.test?api_key={key}&secret=${SECRET}",
    ],
)
def test_other_pairs_stay(harmless):
    assert text(harmless) is harmless


def test_the_whole_value_of_a_secret_field_goes_not_only_what_has_a_shape():
    assert text(json.dumps({"password": f"my {OPENAI} key"})) == '{"password": "{secret:field}"}'


# -- by environment ---------------------------------------------------------------------------------------------------


def test_only_long_values_of_secret_named_variables_count():
    environ = {
        "DB_PASSWORD": "postgres",
        "MY_API_KEY": "0123456789abcdef",
        "LONGER_TOKEN": "0123456789abcdef-and-more",
        "HOME": "/home/somebody/with/a/long/name",
    }
    assert secrets_of(environ) == ("0123456789abcdef-and-more", "0123456789abcdef")


def test_values_of_the_environment_are_secret_wherever_they_stand():
    redactor = Redactor(secrets=["0123456789abcdef", "0123456789abcdef-and-more", 'quote"and\nline and \u00e4', ""])
    assert text("x 0123456789abcdef-and-more, 0123456789abcdef", redactor) == (
        "x {secret:environment}, {secret:environment}"
    )
    escaped = json.dumps({"a": 'see quote"and\nline and \u00e4!'})
    assert json.loads(text(escaped, redactor)) == {"a": "see {secret:environment}!"}
    assert cleaned({"a": b"0123456789abcdef"}, redactor) == {"a": b"{secret:environment}"}
    assert text("the postgres database", redactor) == "the postgres database"


def test_an_environment_that_is_not_valid_text_is_no_problem():
    redactor = Redactor(secrets=["broken \udcff value 12345"])
    assert cleaned(["broken \udcff value 12345"], redactor) == ["{secret:environment}"]


def test_a_variable_that_looks_like_a_placeholder_does_not_loop():
    redactor = Redactor(secrets=["secret:environment", "{secret:environment}"])
    assert text("a secret:environment b", redactor) == "a {secret:environment} b"


# -- placeholders -----------------------------------------------------------------------------------------------------


def test_different_secrets_stay_different_and_equal_ones_equal_under_a_key():
    def key(password, redactor=keyed):
        return key_of(redactor.call(call(name="login", arguments={"user": "u", "password": password})))

    assert key("right") == key("right")
    assert key("right") != key("wrong")
    assert key("right", plain) == key("wrong", plain)
    assert key("right") != key("right", Redactor(b"other key"))


def test_the_same_secret_has_one_placeholder_in_text_and_in_bytes():
    assert text(f"x {OPENAI}", keyed).encode() == cleaned(f"x {OPENAI}".encode(), keyed)


def test_a_call_without_secrets_is_the_same_object():
    harmless = call()
    assert keyed.call(harmless) is harmless
    assert keyed.call(call(arguments={"a": OPENAI})).arguments["a"].startswith("{secret:openai:")


def test_counts_say_how_many_each_rule_replaced():
    _, counts = plain.packed(pack({"a": f"{OPENAI} and {OPENAI}", "password": "x"}))
    assert counts == {"openai": 2, "field": 1}


_awkward = st.lists(
    st.one_of(
        secrets.map(lambda found: found[1]),
        st.sampled_from(SECRET_NAMES),
        st.sampled_from(
            ['"', "'", '\\"', "\\", ": ", "=", " ", "\n", "{secret:openai}", "{secret:field:01234567}", "{secret:", "}"]
        ),
        st.sampled_from(["://", ":", "@", "user", "Bearer ", "AKIA", "sk-", "environment-secret-1", "-----BEGIN "]),
        st.text(max_size=5),
    ),
    max_size=12,
).map("".join)


@given(_awkward)
@example('"password": "{secret:openai}x"')
@example("environment-secret-1AKIA0123456789ABCDEF")
@example("://sk-0123456789abcdefgh:pw12@")
def test_redacting_twice_changes_nothing_more(before):
    redactor = Redactor(KEY, ["environment-secret-1"])
    once = text(before, redactor)
    assert text(once, redactor) is once


@given(json_like, _awkward)
def test_redacting_packed_values_twice_changes_nothing_more(value, before):
    data = pack({"a": value, "b": [before, (before,), {before: before}]})
    once, _ = keyed.packed(data)
    assert keyed.packed(once)[0] is once


@given(_awkward)
def test_the_fast_look_never_misses_what_a_rule_would_find(before):
    data = before.encode("utf-8", "surrogatepass")
    found = any(pattern.search(data) for _, pattern in plain._finder._rules)
    assert plain.suspects(data) or not found


@pytest.mark.parametrize("name", SECRET_NAMES)
def test_the_fast_look_finds_every_secret_name(name):
    assert plain.suspects(pack({name: "x"}))


# -- streams ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [str, bytes])
@given(found=secrets, cuts=st.lists(st.integers(0, 200), max_size=5))
def test_a_secret_split_over_pieces_at_any_position_is_removed(kind, found, cuts):
    whole = f"ä the key: {found[1]}, ü"
    if kind is bytes:
        whole = whole.encode()
    places = sorted({0, len(whole), *(min(cut, len(whole)) for cut in cuts)})
    pieces = [whole[a:b] for a, b in pairwise(places)]
    counts: Counter[str] = Counter()
    result = keyed.pieces(pieces, counts)
    assert len(result) == len(pieces)
    assert {type(piece) for piece in result} == {kind}
    joined = type(whole)().join(result)
    assert joined == (text(whole, keyed) if kind is str else cleaned(whole, keyed))
    assert counts == {found[0]: 1}


@given(st.integers(0, len(OPENAI)))
def test_the_placeholder_stands_in_the_piece_where_the_secret_began(cut):
    first, second = keyed.pieces(["a " + OPENAI[:cut], OPENAI[cut:] + " b"], Counter())
    assert (first == "a ") == (cut == 0)
    assert second.endswith(" b")


def sse(*texts: str) -> list[bytes]:
    events = [{"choices": [{"delta": {"content": text}, "index": 0}], "id": "chatcmpl-1"} for text in texts]
    return [b"data: " + json.dumps(event).encode() + b"\n\n" for event in events]


@pytest.mark.parametrize("kind", [str, bytes])
@given(found=secrets, cuts=st.lists(st.integers(0, 100), min_size=1, max_size=8), at=st.integers(0, 500))
def test_a_secret_that_a_model_writes_over_several_events_is_removed(kind, found, cuts, at):
    whole = f"the key is {found[1]}, ü"
    places = sorted({0, len(whole), *(min(cut, len(whole)) for cut in cuts)})
    stream = b"".join(sse(*(whole[a:b] for a, b in pairwise(places)))) + b"data: [DONE]\n\n"
    pieces = [stream[:at], stream[at:]]  # the network cuts where it likes
    if kind is str:
        pieces = [piece.decode() for piece in pieces]
    cleaned_pieces = keyed.pieces(pieces, Counter())
    result = kind().join(cleaned_pieces)
    events = [line[6:] for line in result.splitlines() if line.startswith("data: {" if kind is str else b"data: {")]
    joined = "".join(json.loads(event)["choices"][0]["delta"]["content"] for event in events)
    assert joined == text(whole, keyed)
    assert keyed.pieces(cleaned_pieces, Counter()) is cleaned_pieces


def test_an_argument_with_a_secret_name_is_removed_over_several_events():
    pieces = sse('{"user": "ann", "pass', 'word": "hun', "ter2", '", "x": 1}')
    joined = b"".join(keyed.pieces(pieces, Counter())).decode()
    events = [json.loads(line[6:]) for line in joined.splitlines() if line]
    arguments = json.loads("".join(event["choices"][0]["delta"]["content"] for event in events))
    assert arguments == {"user": "ann", "password": cleaned({"password": "hunter2"}, keyed)["password"], "x": 1}


def test_pieces_without_secrets_are_the_same_object():
    pieces = ["a", "b"]
    assert keyed.pieces(pieces, Counter()) is pieces


@pytest.mark.parametrize("kind", [str, bytes])
def test_a_word_that_the_network_cut_is_not_taken_for_a_secret(kind):
    pieces = ["the ta", "sk-force-of-the-whole-department ", OPENAI]
    pieces = [piece.encode() if kind is bytes else piece for piece in pieces]
    outcome = Stream(None, tuple(Chunk(i / 10, piece) for i, piece in enumerate(pieces)))
    counts = Counter()
    packed, found = plain.packed_outcome(pack(outcome_plain(plain.outcome(outcome, counts))))
    kept = outcome_from(unpack(packed))
    assert [chunk.data for chunk in kept.chunks][:2] == pieces[:2]
    assert kept.chunks[2].data == ("{secret:openai}" if kind is str else b"{secret:openai}")
    assert counts == {"openai": 1}
    assert not found


def test_an_outcome_of_any_kind_is_looked_through():
    for outcome in (
        Value({"a": OPENAI}),
        Error(ValueError(OPENAI)),
        Stream({"head": OPENAI}, (Chunk(0.0, {"a": OPENAI}), Chunk(0.1, "text")), False, ValueError(OPENAI)),
    ):
        packed, counts = plain.packed_outcome(pack(outcome_plain(outcome)))
        assert OPENAI.encode() not in packed
        assert type(outcome_from(unpack(packed))) is type(outcome)
        assert set(counts) == {"openai"}
    assert plain.packed_outcome(pack(outcome_plain(Cancelled()))) == (pack([2]), Counter())


def test_a_stream_of_other_data_is_left_to_the_walk():
    outcome = Stream(None, (Chunk(0.0, {"a": 1}), Chunk(0.1, "text")))
    assert keyed.outcome(outcome, Counter()) is outcome
    assert keyed.outcome(Value(OPENAI), Counter()) == Value(OPENAI)


def test_what_is_nested_too_deeply_to_be_looked_through_is_refused():
    deep = OPENAI
    for _ in range(900):
        deep = [deep]
    with pytest.raises(UnkeepableValue, match="nested too deeply"):
        keyed.packed(pack(deep))
