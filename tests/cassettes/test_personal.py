from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cassettes.personal import PERSONAL, is_card, is_iban
from cassettes.redact import Redactor
from cassettes.shapes import PLACEHOLDER
from cassettes.values import pack, unpack

REDACTOR = Redactor(rules=PERSONAL)

FOUND = [
    ("bob@example.com", "email"),
    ("bob.smith+shop@mail.example.co.uk", "email"),
    ("o'neil@müller.de", "email"),
    ("4111111111111111", "card"),
    ("4111 1111 1111 1111", "card"),
    ("5500-0000-0000-0004", "card"),
    ("3782 822463 10005", "card"),
    ("30569309025904", "card"),
    ("DE89370400440532013000", "iban"),
    ("DE89 3704 0044 0532 0130 00", "iban"),
    ("gb82west12345698765432", "iban"),
    ("NO93 8601 1117 947", "iban"),
    ("123-45-6789", "ssn"),
    ("+49 30 1234567", "phone"),
    ("+14155552671", "phone"),
    ("+1 (415) 555-2671", "phone"),
    ("(415) 555-2671", "phone"),
    ("415-555-2671", "phone"),
    ("415.555.2671", "phone"),
    ("06 12 34 56 78", "phone"),
    ("020 7946 0958", "phone"),
    ("030/1234567", "phone"),
]

LEFT_ALONE = [
    "2024-05-20",
    "01-02-2024",
    "2024-05-20T10:00:00.123456+00:00",
    "10:20:30",
    "192.168.100.200",
    "3.14159265358979",
    "1,234,567.89",
    "1732900000123",  # milliseconds
    "W2378156",
    "#W2378156",
    "HAT123",
    "4111111111111112",  # no card: its check digit is wrong
    "4444444444444444444",
    "123e4567-e89b-12d3-a456-426614174000",
    "12345678-1234-1234-1234-123456789012",
    "call_0123456789",
    "gpt-4o-2024-08-06",
    "000-12-3456",
    "@tt.tool",
    "a @ b",
]


@pytest.mark.parametrize(("text", "rule"), FOUND)
@pytest.mark.parametrize(
    "around", ["{}", "call {} now", '{{"a": "{}"}}', "a\\n{}\\nb", "\\u00fc {}", "x={}, y", "联系{}。"]
)
def test_personal_data_is_replaced(text, rule, around):
    counts = Counter()
    assert REDACTOR.text(around.format(text), counts) == around.format(f"{{secret:{rule}}}")
    assert counts == {rule: 1}


@pytest.mark.parametrize("text", LEFT_ALONE)
def test_what_only_looks_like_it_is_left_alone(text):
    assert REDACTOR.text(f"x {text} y", Counter()) == f"x {text} y"


@pytest.mark.parametrize(("text", "rule"), FOUND)
@given(before=st.text(max_size=80), after=st.text(max_size=20))
def test_the_fast_look_finds_it_in_any_surroundings(text, rule, before, after):
    looks = [r.look for r in PERSONAL if r.name == rule]
    packed = pack({"text": before + text + after})
    assert any(look.search(packed) for look in looks)
    assert REDACTOR.suspects(packed)


@pytest.mark.parametrize(("text", "rule"), FOUND)
@pytest.mark.parametrize("length", range(0, 130, 3))
def test_the_length_of_a_packed_text_hides_nothing(text, rule, length):
    cleaned, _ = REDACTOR.packed(pack([text + " " * length]))
    assert unpack(cleaned)[0].startswith(f"{{secret:{rule}}}")


@given(st.lists(st.one_of(st.sampled_from([text for text, _ in FOUND]), st.text(max_size=5)), max_size=6))
def test_a_cleaned_text_is_a_fixed_point(parts):
    cleaned = REDACTOR.text(" ".join(parts), Counter())
    assert REDACTOR.text(cleaned, Counter()) == cleaned


@given(st.sampled_from(FOUND), st.integers(1, 20))
def test_it_is_found_over_the_pieces_of_a_stream(found, at):
    text = f"it is {found[0]} there"
    counts = Counter()
    assert "".join(REDACTOR.pieces([text[: at + 5], text[at + 5 :]], counts)) == f"it is {{secret:{found[1]}}} there"


def test_a_placeholder_of_every_rule_is_one():
    for rule in PERSONAL:
        assert PLACEHOLDER.fullmatch(f"{{secret:{rule.name}:0123abcd}}".encode())
        assert "secret" in rule.pattern.groupindex


def test_without_the_rules_nothing_is_looked_for():
    assert Redactor().text("bob@example.com", Counter()) == "bob@example.com"


@pytest.mark.parametrize("wrong", range(16))
def test_a_card_with_one_wrong_digit_is_none(wrong):
    digits = list("4111111111111111")
    digits[wrong] = str((int(digits[wrong]) + 1) % 10)
    assert is_card(b"4111111111111111")
    assert not is_card("".join(digits).encode())


def test_check_digits_of_an_iban():
    assert is_iban(b"DE89 3704 0044 0532 0130 00")
    assert not is_iban(b"DE88 3704 0044 0532 0130 00")
