"""The language of `trialtape search`: words, beginnings and phrases, and nothing that SQLite could stumble over."""

from __future__ import annotations

import sqlite3
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cassettes.errors import BadInput
from replay.query import parsed


@pytest.mark.parametrize(
    ("text", "match"),
    [
        ("cancel refund", '"cancel" AND "refund"'),
        ("cancel*", '"cancel"*'),
        ('"not found"', '"not found"'),
        ('"not fo"*', '"not fo"*'),
        ('a"b c"d', '"a" AND "b c" AND "d"'),
        ("order:17 re-book", '"order:17" AND "re-book"'),
        ("cancel AND", '"cancel" AND "AND"'),
        ("NOT (a OR b) NEAR/2", '"NOT" AND "(a" AND "OR" AND "b)" AND "NEAR/2"'),
        ("a : - 'b'", '"a" AND "\'b\'"'),
        ("ein\0wort", '"ein" AND "wort"'),
        ("a\ud800b", '"a" AND "b"'),
        ('"" x ""*', '"x"'),
    ],
)
def test_what_is_typed_becomes_quoted_words(text, match):
    assert parsed(text).match == match


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('a "b', "a quote is not closed"),
        ('"', "a quote is not closed"),
        ("*", "no letter and no digit"),
        ("", "no letter and no digit"),
        (":-/ ''", "no letter and no digit"),
        ("*cancel", r"a \* stands at the end of a word"),
        ("can*cel", r"a \* stands at the end of a word"),
        ("cancel**", r"a \* stands at the end of a word"),
        ("e " * 2000, "has 4000 characters"),
    ],
)
def test_what_cannot_be_searched_for_is_told(text, told):
    with pytest.raises(BadInput, match=told):
        parsed(text)


@pytest.mark.parametrize(
    ("text", "literals"),
    [("cancel_*", ("cancel_",)), ("cancel*", ()), ('"order:"*', ("order:",)), ("x-* y_", ("x-",)), ("_*  a", ())],
)
def test_signs_before_a_star_are_kept_as_they_are(text, literals):
    assert parsed(text).literals == literals


@pytest.fixture(scope="module")
def fts():
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE VIRTUAL TABLE t USING fts5(x, tokenize='unicode61 remove_diacritics 2')")
    connection.execute("INSERT INTO t VALUES ('cancel_order 17, not found AND more')")
    yield connection
    connection.close()


queries = st.one_of(
    st.text(st.characters(), max_size=60),
    st.text("ab *\"'():-^+{},.;\\\0\n\ud800é17_ANDORNEAR", max_size=60),
    st.lists(st.sampled_from(['"', "*", "AND", "OR", "NOT", "NEAR(", "x:", "-", "^", "a", "order:17", " "])).map(
        "".join
    ),
)


@given(queries)
def test_no_text_gives_anything_but_a_query_that_sqlite_takes_or_bad_input(fts, text):
    try:
        query = parsed(text)
    except BadInput:
        return
    fts.execute("SELECT rowid FROM t WHERE t MATCH ?", [query.match]).fetchall()
    fts.execute("SELECT instr('x', ?)", list(query.literals[:1]) or [""]).fetchall()


@given(st.lists(st.text("abcé1", min_size=1, max_size=3), min_size=1, max_size=4), st.data())
def test_a_text_is_found_by_its_words_their_beginnings_and_their_order(fts, words, data):
    fts.execute("DELETE FROM t")
    fts.execute("INSERT INTO t VALUES (?)", [" ".join(words)])

    def found(text):
        return bool(fts.execute("SELECT rowid FROM t WHERE t MATCH ?", [parsed(text).match]).fetchall())

    other = data.draw(st.lists(st.text("abcé1", min_size=1, max_size=3), min_size=1, max_size=3))
    plain, asked = [_plain(w) for w in words], [_plain(w) for w in other]
    assert found(" ".join(other)) == ({*asked} <= {*plain})
    assert found(f"{other[0]}*") == any(word.startswith(asked[0]) for word in plain)
    phrase = any(plain[i : i + len(asked)] == asked for i in range(len(plain)))
    assert found(f'"{" ".join(other)}"') == phrase


def _plain(word):
    return "".join(c for c in unicodedata.normalize("NFD", word) if not unicodedata.combining(c))
