from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replay.report.html.shown import MOST_CHARACTERS, clipped, laid_out, one_line, shown


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("plain ünïcode 漢字 ✈️", "plain ünïcode 漢字 ✈️"),
        ("tab\tand\nline", "tab\tand\nline"),
        ("a\r\nb", "a\nb"),
        ("nul\x00", "nul␀"),
        ("escape\x1b[31m", "escape␛[31m"),
        ("delete\x7f", "delete␡"),
        ("c1\x9b", "c1⟦U+009B⟧"),
        ("abc\u202egnp.exe", "abc⟦U+202E⟧gnp.exe"),
        ("isolate\u2066x\u2069", "isolate⟦U+2066⟧x⟦U+2069⟧"),
        ("mark\u200f\u061c", "mark⟦U+200F⟧⟦U+061C⟧"),
        ("lone \ud800 half", "lone ⟦U+D800⟧ half"),
        ("line\u2028", "line⟦U+2028⟧"),
    ],
)
def test_what_would_not_be_seen_is_seen(text, told):
    assert shown(text) == told


@given(st.text(st.characters(codec=None), max_size=60))
def test_any_text_becomes_text_that_can_be_written(text):
    told = shown(text)
    told.encode("utf-8")
    assert "\x00" not in told
    assert shown(told) == told


def test_a_long_text_says_what_was_left_out():
    assert clipped("x" * MOST_CHARACTERS) == "x" * MOST_CHARACTERS
    assert clipped("x" * (MOST_CHARACTERS + 3)).endswith("x… (3 more characters; the cassette holds them)")


def test_one_line_has_one_line_and_a_limit():
    assert one_line("a\n  b\tc") == "a b c"
    assert one_line("ab " * 200, 10) == "ab ab ab …"
    assert len(one_line("x" * 10_000, 50)) == 50


def test_values_are_laid_out_as_json_as_far_as_json_has_them():
    loop = []
    loop.append(loop)
    assert laid_out({"a": [1, None, "ü"]}) == '{"a": [1, null, "ü"]}'
    assert laid_out("text") == "text"
    assert laid_out({(1, 2): 3}) == "{(1, 2): 3}"
    assert laid_out(loop) == "[[...]]"
