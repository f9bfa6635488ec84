from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replay.debugger.inert import inert, laid_out, on_one_line

_any = st.text(alphabet=st.characters(codec=None, categories=["C", "L", "Z", "S", "P", "M", "N"]), max_size=60)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[31mred\x1b[0m", "␛[31mred␛[0m"),
        ("\x1b]0;title\x07", "␛]0;title␇"),
        ("a\rb", "a␍b"),
        ("\x7f\x9b2J", "␡\\x9b2J"),
        ("\u202egnp.exe", "\\u202egnp.exe"),
        ("zero\u200bwidth", "zero\\u200bwidth"),
        ("\ud800", "\\ud800"),
        ("\U000e0041", "\\U000e0041"),
        ("tab\tline\nend", "tab    line\nend"),
        ("[red]markup[/]", "[red]markup[/]"),
        ("Grüße 日本 🙂", "Grüße 日本 🙂"),
    ],
)
def test_what_would_act_on_the_terminal_is_shown_instead(text, shown):
    assert inert(text) == shown


@given(_any)
def test_nothing_active_is_left(text):
    for letter in inert(text):
        assert letter == "\n" or unicodedata.category(letter) not in {"Cc", "Cs", "Zl", "Zp"}
    assert inert(inert(text)) == inert(text)
    inert(text).encode("utf-8")


@given(_any, st.integers(1, 80))
def test_one_line_is_one_line(text, width):
    assert "\n" not in on_one_line(text, width)


def test_values_are_laid_out_and_texts_left_as_they_are():
    assert laid_out("{}") == "{}"
    assert laid_out({"a": [1, None]}) == '{\n  "a": [\n    1,\n    null\n  ]\n}'
    assert '"$type": "bytes"' in laid_out({"a": b"x"})
