from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cassettes.shapes import FIELD, LOOK, PLACEHOLDER, RULES
from tests.strategies import SECRET_NAMES, SECRETS, secrets


@pytest.mark.parametrize("name", SECRET_NAMES)
def test_names_of_secrets_are_known(name):
    assert FIELD.fullmatch(name.encode())


@pytest.mark.parametrize(
    "name",
    ["prompt_tokens", "max_tokens", "token", "key", "user", "secretary", "passport", "keyboard", "author", "pass"],
)
def test_names_of_other_fields_are_not(name):
    assert FIELD.fullmatch(name.encode()) is None


@pytest.mark.parametrize("rule", sorted({name for name, _ in RULES}))
def test_a_placeholder_of_every_rule_is_one(rule):
    assert PLACEHOLDER.fullmatch(f"{{secret:{rule}}}".encode())
    assert PLACEHOLDER.fullmatch(f"{{secret:{rule}:0123abcd}}".encode())


def test_every_rule_marks_what_is_secret():
    for name, pattern in RULES:
        assert "secret" in re.compile(pattern).groupindex, name


@given(secrets, st.binary(max_size=10), st.binary(max_size=10))
def test_the_fast_look_finds_every_shape_in_any_surroundings(found, before, after):
    assert LOOK.search(before + found[1].encode() + after)


@given(st.sampled_from(sorted(SECRETS.keys() - {"private_key"})), st.data())
def test_a_shape_inside_a_word_is_no_secret(rule, data):
    secret = data.draw(SECRETS[rule]).encode()
    patterns = [pattern for name, pattern in RULES if name == rule]
    assert any(re.search(pattern, b"x " + secret) for pattern in patterns)
    assert not any(re.match(rb"x" + pattern, b"x" + secret) for pattern in patterns)


@pytest.mark.parametrize(
    "text", ["a risk-averse task force", "prompt_tokens", '"completion_tokens":12', "token", "monkey"]
)
def test_the_fast_look_passes_common_text(text):
    assert LOOK.search(text.encode()) is None
