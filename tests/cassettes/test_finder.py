"""Secrets in texts become placeholders: in one look over the joined text, and to a fixed point."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cassettes.finder import Finder, bytes_of, like
from cassettes.given import RuleFailed, given_rules

SECRET = "sk-proj-" + "Ab3dEf6hIj9kLm2nOp5qRs8tUv1wXy4z" + "T3BlbkFJ" + "Ab3dEf6hIj9kLm2nOp5q"


def finder(*, key=None, secrets=(), redact=()):
    return Finder(key, secrets, (), given_rules(redact))


def cleaned(text, **options):
    found = Counter()
    (result,) = finder(**options).texts([text], found)
    return result, dict(found)


def test_a_text_without_a_secret_is_the_very_same():
    texts = ["nothing", "to see"]
    assert finder().texts(texts, Counter()) is texts


def test_a_secret_that_is_cut_into_pieces_is_found_in_the_joined_text():
    pieces = [SECRET[:9], SECRET[9:30], SECRET[30:] + " and more"]
    found = Counter()
    result = finder().texts(pieces, found)
    assert len(result) == 3
    assert "".join(result) == "{secret:openai} and more"
    assert found == {"openai": 1}


def test_different_secrets_stay_different_under_a_key_and_equal_ones_equal():
    other = SECRET.replace("Ab3d", "Zb3d")
    (result,) = finder(key=b"k").texts([f"{SECRET} {other} {SECRET}"], Counter())
    first, second, third = result.split()
    assert first == third != second


def test_a_known_text_is_secret_wherever_it_stands_in_json_too():
    assert cleaned('say "hush" now', secrets=['"hush"']) == ("say {secret:environment} now", {"environment": 1})
    assert cleaned('{"a": "\\"hush\\""}', secrets=['"hush"'])[0] == '{"a": "{secret:environment}"}'


def test_a_placeholder_is_no_secret():
    once, _ = cleaned(SECRET, key=b"k")
    assert cleaned(once, key=b"k") == (once, {})


@given(st.lists(st.text(max_size=8), max_size=5), st.text("abc", min_size=2, max_size=3))
def test_the_result_is_a_fixed_point_and_holds_no_secret(pieces, secret):
    look = finder(secrets=[secret])
    once = look.texts(pieces, Counter())
    assert look.texts(once, Counter()) == once
    assert len(once) == len(pieces)
    rest = "".join(once).replace("{secret:environment}", "\0")
    assert secret not in rest


@given(st.text(max_size=20))
def test_what_is_not_suspected_is_not_changed(text):
    look = finder(secrets=["hush"], redact=["x"] if "x" in text else [])
    if not look.suspects(bytes_of(text)):
        assert look.texts([text], Counter()) == [text]


def test_a_function_that_never_comes_to_rest_is_an_error():
    with pytest.raises(RuleFailed, match="never comes to rest"):
        cleaned("a", redact=lambda text: text + "a")


def test_half_of_a_surrogate_pair_stays_what_it_is():
    assert like("", bytes_of("\ud800")) == "\ud800"
    assert like(b"", b"x") == b"x"
