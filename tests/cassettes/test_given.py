from __future__ import annotations

import re
from collections import Counter, OrderedDict
from datetime import UTC, datetime
from decimal import Decimal
from uuid import UUID

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from cassettes.canonical import key_of
from cassettes.errors import BadInput
from cassettes.given import GivenRule, RuleFailed, change_of, found_by, given_rules
from cassettes.model import Changed, Chunk, Stream, Value
from cassettes.redact import Redactor
from cassettes.values import pack, unpack
from tests.factories import call
from tests.strategies import Plain, Point, values

RULES = {
    "ssn": re.compile(r"\d{3}-\d\d-\d{4}"),
    "digit": re.compile(r"\d"),
    "bytes": re.compile(rb"[\x80-\xff]+"),
    "word": re.compile(r"\bgeheim\w*", re.IGNORECASE),
    "umlaut": re.compile("[äöüß]+"),
    "begin": re.compile(r"^.{2}"),
    "part": re.compile(r"name is (?P<secret>\w+)"),
    "literal": "secret",
    "anything": re.compile(r".+", re.DOTALL),
    "function": lambda text: re.sub(r"[A-Z][a-z]+", "[name]", text),
    "lower": str.lower,
}


def redactor(*rules, key=b"k" * 32):
    return Redactor(key, given=given_rules(dict(rules) if rules and isinstance(rules[0], tuple) else rules))


def cleaned(value, *rules):
    return unpack(redactor(*rules, key=None).packed(pack(value))[0])


def text(value, *rules):
    return redactor(*rules, key=None).text(value, Counter())


# -- a fixed point -----------------------------------------------------------------------------------------------------


@given(names=st.lists(st.sampled_from(sorted(RULES)), unique=True), value=values | st.text("aZ1ä-{}:secret ").map(str))
@example(names=["digit", "lower"], value="{secret:digit:00000000}1")
@example(names=["literal"], value="{secret:secret}")
@example(names=["begin", "anything"], value={"ab": ["cd", "{secret:"]})
def test_what_was_redacted_stays_as_it_is(names, value):
    rules = redactor(*[(name, RULES[name]) for name in names])
    once, _ = rules.packed(pack(value))
    twice, counts = rules.packed(once)
    assert (twice, counts) == (once, {})


@given(st.dictionaries(st.sampled_from("abc"), values | st.dictionaries(st.sampled_from("abc"), values)))
def test_what_was_redacted_at_a_path_stays_as_it_is(arguments):
    rules = redactor("arguments.a", "arguments.b.c", "arguments.c[*]")
    once, _ = rules.arguments(pack(arguments))
    twice, counts = rules.arguments(once)
    assert (twice, counts) == (once, {})


@given(st.lists(st.text("a1-ä"), min_size=1))
def test_a_stream_is_redacted_on_its_joined_text(pieces):
    rules = redactor(("ssn", re.compile("1-ä1")))
    after = rules.pieces(pieces, Counter())
    assert "1-ä1" not in "".join(after)
    assert len(after) == len(pieces)


# -- what a rule is ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rule", "name"),
    [
        ("arguments.customer.ssn", "arguments_customer_ssn"),
        ("arguments.items[*].card", "arguments_items_card"),
        ("result", "result"),
        ("some text", "text"),
        (re.compile("x"), "pattern"),
        (RULES["lower"], "lower"),
        (lambda t: t, "lambda"),
    ],
)
def test_a_rule_gets_a_name_that_tells_no_secret(rule, name):
    assert [made.name for made in given_rules(rule)] == [made.name for made in given_rules([rule])] == [name]
    assert given_rules({"own": rule})[0].name == "own"


@pytest.mark.parametrize(
    "given", [7, [None], {"Name": "x"}, {"a b": "x"}, {1: "x"}, "", "arguments", "arguments..x", "result."]
)
def test_what_is_no_rule_is_told(given):
    with pytest.raises(BadInput):
        given_rules(given)


def test_no_rules():
    assert given_rules(()) == given_rules({}) == ()


# -- patterns ----------------------------------------------------------------------------------------------------------


def test_a_pattern_of_text_is_one_of_letters_not_of_bytes():
    assert text("größe ä", ("umlaut", RULES["umlaut"])) == "gr{secret:umlaut}e {secret:umlaut}"
    assert list(found_by(re.compile("."), "ä\x00".encode())) == [(0, 2), (2, 3)]
    assert list(found_by(re.compile("b"), b"\xffab")) == [(2, 3)]


def test_only_the_group_secret_is_replaced_if_there_is_one():
    assert text("my name is Ada.", ("part", RULES["part"])) == "my name is {secret:part}."
    assert list(found_by(re.compile("x(?P<secret>y)?"), b"x xy")) == [(3, 4)]


def test_a_text_is_found_as_it_stands_in_json_too():
    assert text('{"a": "say \\"no\\""}', ("literal", 'say "no"')) == '{"a": "{secret:literal}"}'


def test_keys_are_texts_too_but_for_the_parts_of_an_http_answer():
    value = {"status": 200, "Ada": {"status": "Ada"}}
    assert cleaned(value, ("a", re.compile("Ada|status"))) == {"status": 200, "{secret:a}": {"status": "{secret:a}"}}


def test_numbers_and_times_are_no_texts():
    value = [12, 2**70, Decimal("1.50"), datetime(2024, 1, 1, tzinfo=UTC), UUID(int=1), 1.5]
    assert cleaned(value, ("digit", RULES["digit"]), ("anything", RULES["anything"])) == value


def test_texts_inside_objects_are_found_and_their_class_stays():
    found = cleaned([Point(1, "tests"), OrderedDict(a="tests"), {"tests"}], ("word", "tests"))
    assert isinstance(found[0], Point)
    assert "tests" not in repr(found).replace("tests.", "")


def test_equal_secrets_have_equal_placeholders_and_the_key_is_that_of_the_recorded_call():
    rules = redactor(("ssn", RULES["ssn"]))
    one, other = (call(arguments={"a": f"x {ssn}"}) for ssn in ("078-05-1120", "078-05-1121"))
    assert key_of(rules.call(one)) == key_of(rules.call(rules.call(one))) != key_of(rules.call(other))
    request = call("http", name="GET host/078-05-1120")
    assert rules.call(request).name.startswith("GET host/{secret:ssn:")
    assert rules.call(call("tool", name="078-05-1120")).name == "078-05-1120"


# -- functions ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("before", "after", "change"),
    [
        ("abc", "abc", None),
        ("abc", "aXc", (1, 2, b"X")),
        ("aa", "a", (1, 2, b"")),
        ("", "x", None),
        ("ä", "ö", (1, 2, b"\xb6")),
    ],
)
def test_a_function_changes_one_span(before, after, change):
    assert change_of(GivenRule("f", function=lambda _: after), before.encode()) == change


def test_binary_data_is_not_given_to_a_function():
    assert cleaned([b"\xff\xfe", b"Ada"], ("function", RULES["function"])) == [b"\xff\xfe", b"[name]"]


def test_a_function_that_fails_says_so_without_the_text():
    def fails(told):
        raise ValueError(told)

    with pytest.raises(RuleFailed, match="'fails' raised ValueError") as caught:
        text("Ada", fails)
    assert "Ada" not in str(caught.value)
    with pytest.raises(RuleFailed, match="never comes to rest"):
        text("Ada", lambda told: told + "a")
    with pytest.raises(RuleFailed, match="gave a int"):
        text("Ada", len)


# -- paths -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "left"),
    [
        ("arguments.a", {"a": "{secret:p}", "b": {"c": "s"}, "d": [{"e": "s"}, {"e": "t"}]}),
        ("arguments.b.c", {"a": "s", "b": {"c": "{secret:p}"}, "d": [{"e": "s"}, {"e": "t"}]}),
        ("arguments.b", {"a": "s", "b": "{secret:p}", "d": [{"e": "s"}, {"e": "t"}]}),
        ("arguments.d[*].e", {"a": "s", "b": {"c": "s"}, "d": [{"e": "{secret:p}"}, {"e": "{secret:p}"}]}),
        ("arguments.d[1].e", {"a": "s", "b": {"c": "s"}, "d": [{"e": "s"}, {"e": "{secret:p}"}]}),
        ("arguments.no.such", {"a": "s", "b": {"c": "s"}, "d": [{"e": "s"}, {"e": "t"}]}),
    ],
)
def test_a_path(path, left):
    arguments = {"a": "s", "b": {"c": "s"}, "d": [{"e": "s"}, {"e": "t"}]}
    rules = redactor(("p", path), key=None)
    assert unpack(rules.arguments(pack(arguments))[0]) == left
    assert dict(rules.call(call(arguments=arguments)).arguments) == left


@pytest.mark.parametrize(
    "result",
    [
        {"a": "s"},
        Plain("s"),
        OrderedDict(a="s"),
        '{"a":"s"}',
    ],
)
def test_a_path_leads_into_objects_and_json_text(result):
    outcome = redactor(("p", "result.a"), key=None).outcome(Value(result), Counter()).result
    assert "{secret:p}" in repr(outcome)
    assert type(outcome) is type(result)


def test_a_path_of_a_result_holds_where_a_tool_changed_its_arguments_too():
    outcome = redactor(("p", "result[0]"), key=None).outcome(Value(Changed(("s", "t"), {"into": []})), Counter())
    assert outcome == Value(Changed(("{secret:p}", "t"), {"into": []}))


def test_what_is_empty_stays():
    assert unpack(redactor("arguments.a", "arguments.b").arguments(pack({"a": None, "b": ""}))[0]) == {
        "a": None,
        "b": "",
    }


def test_a_whole_list_of_messages_cannot_be_taken():
    with pytest.raises(RuleFailed, match="name what is inside"):
        redactor("arguments.messages").items("messages", [pack("a")])


def test_a_stream_has_no_path():
    stream = Stream({}, (Chunk(0.0, b"s"),), complete=True)
    assert redactor("result.x").outcome(stream, Counter()) == stream
